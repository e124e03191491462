/** The table of rules in CONTRIBUTING.md names folders, tests, scenarios and mutants that are there, and no rule is missing. */
import { existsSync, globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, it } from 'vitest';
import { sources } from '../architecture/sources.ts';
import { ROOT } from './documents.ts';

const rows = readFileSync(join(ROOT, 'CONTRIBUTING.md'), 'utf8')
  .split('\n')
  .filter(line => line.includes('| `functions/'))
  .map(line => line.split(' | ').map(cell => [...cell.matchAll(/`([^`]+)`/g)].map(([, code = '']) => code)));

it('each rule of a concern has a row', () => {
  const folders = rows.flatMap(([, own = []]) => own);
  const rules = sources.filter(file => /^functions\/.*\/decide\.ts$/.test(file)).map(dirname);
  expect(folders.toSorted()).toEqual(rules.toSorted());
});

it.each(rows.map(([, folders, , ...proofs]) => [folders, ...proofs]))(
  'row %#: %j has tests, scenarios and mutants',
  (_, tests, scenarios, mutants) => {
    const found = (folder: string, patterns: readonly string[] = []): readonly string[] =>
      patterns.filter(pattern => globSync(pattern, { cwd: join(ROOT, folder) }).length === 0);
    expect(tests?.filter(folder => !existsSync(join(ROOT, 'test/functions', folder)))).toEqual([]);
    expect(
      found(
        'examples/scenarios',
        scenarios?.map(name => `${name}.yaml`),
      ),
    ).toEqual([]);
    expect(mutants).not.toEqual([]);
    expect(found('test/mutants', mutants)).toEqual([]);
  },
);
