/** Each row of docs/internals/readiness.md says what shows it, or that it is open; what it names is there. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { z } from 'zod';
import { ROOT } from './documents.ts';
import { documentOf } from './observability.ts';

const { text } = documentOf('docs/internals/readiness.md');
const rows = text
  .split('\n')
  .filter(line => line.startsWith('| ') && !line.startsWith('| asked'))
  .map(line => line.slice(2, -2).split(' | '));

it('each row has a command, a page or a reason', () => {
  expect(rows.length).toBeGreaterThan(25);
  const bare = rows.filter(([, shown = '']) => !/`|\]\(|[Oo]pen:|^two: |^none /.test(shown));
  expect(bare).toEqual([]);
});

it('each test and script that it names is there', () => {
  const tests = [...text.matchAll(/`(?:npx vitest run )?((?:test\/[\w./-]+ ?)+)`/g)].flatMap(([, files = '']) =>
    files.trim().split(' '),
  );
  const scripts = [...text.matchAll(/`(\.ci\/[\w-]+|renovate\.json)`/g)].map(([, file = '']) => file);
  expect(tests.length).toBeGreaterThan(15);
  expect([...tests, ...scripts].filter(file => !existsSync(join(ROOT, file)))).toEqual([]);
  const known = z
    .object({ scripts: z.record(z.string(), z.string()) })
    .parse(JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'))).scripts;
  const run = [...text.matchAll(/npm run ([\w:-]+)/g)].map(([, name = '']) => name);
  expect(run.filter(name => !(name in known))).toEqual([]);
});
