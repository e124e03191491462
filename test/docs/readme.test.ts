/** The README: what a reader gets before the first command, and that its statements about versions and others are those of the repository. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { ON_NEWEST, ON_NEWEST_ALONE, ON_OLDEST } from '../../vitest.control-plane.config.ts';
import { blocks, ROOT } from './documents.ts';
import { documentOf, rowsOf } from './observability.ts';

const readme = documentOf('README.md');
const read = (file: string): string => readFileSync(join(ROOT, file), 'utf8');
/** The release that a file of Go modules pins for a module. */
const pinned = (file: string, module: string): string =>
  new RegExp(`${module.replaceAll('/', '\\/')} v(\\S+)`).exec(read(file))?.[1] ?? 'not found';

describe('README.md', () => {
  it('has its first command within one screen, below the picture, and the two that the gate runs', () => {
    const lines = readme.text.split('\n');
    const first = lines.findIndex(line => line.startsWith('```'));
    expect(first).toBeLessThan(35);
    expect(lines.slice(0, first).join('\n')).toContain('<picture>');
    const commands = blocks(readme).flatMap(block => block.lines);
    expect(commands.slice(0, 3)).toEqual([
      'npm ci && npm start',
      'npm start -- --serve',
      'npx curfew simulate examples/scenarios/bad-day.yaml --html day.html',
    ]);
    expect(commands).toContain('npm ci && npm test');
  });

  it('names the releases that the tests pin', () => {
    const status = new Map(rowsOf(readme, 'Status').map(([what = '', value = '']) => [what, value]));
    const [oldest = '', main = '', newest = ''] = ['oldest/', '', 'newest/'].map(folder =>
      pinned(`test/control-plane/${folder}go.mod`, 'k8s.io/kubernetes'),
    );
    expect(status.get('Kubernetes')).toContain(`${oldest}, ${main} and ${newest}`);
    expect(status.get('Karpenter')).toContain(pinned('test/control-plane/karpenter/go.mod', 'sigs.k8s.io/karpenter'));
    const { version } = JSON.parse(read('package.json')) as { readonly version: string };
    expect(status.get('maturity')).toContain(`${version},`);
  });

  it('and docs/deploying.md which suites run on each', () => {
    const rows = rowsOf(documentOf('docs/deploying.md'), 'What you need');
    const suitesOn = (folder: string): readonly string[] => {
      const version = pinned(`test/control-plane/${folder}go.mod`, 'k8s.io/kubernetes');
      const row = rows.find(([release]) => release === version);
      return [...(row?.[1] ?? '').replace(/;.*/, '').matchAll(/`([^`]+)`/g)].map(([, name = '']) => name);
    };
    expect(suitesOn('oldest/').toSorted()).toEqual(ON_OLDEST.toSorted());
    expect([...suitesOn('oldest/'), ...suitesOn('newest/')].toSorted()).toEqual(ON_NEWEST.toSorted());
    const allBut = `all but ${ON_NEWEST_ALONE.map(name => `\`${name}\``).join(', ')}`;
    expect(ON_NEWEST).toEqual(expect.arrayContaining(ON_NEWEST_ALONE));
    expect(rows).toContainEqual([pinned('test/control-plane/go.mod', 'k8s.io/kubernetes'), allBut]);
  });

  it('compares with six others, each with its source, in a row each', () => {
    const [own = [], ...others] = rowsOf(readme, 'Compared with others');
    expect(own[0]).toBe('**Curfew**');
    expect(others).toHaveLength(6);
    expect(others.filter(([name = '']) => !/\]\(https:\/\//.test(name))).toEqual([]);
  });
});
