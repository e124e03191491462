/** What Go's own text/template answers, we answer: output byte for byte, errors word for word. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { difference, type Vector } from '../vectors/run.ts';

const fixture = (name: string): string => path.join(import.meta.dirname, 'fixtures', name);
const read = (name: string): Vector[] =>
  (JSON.parse(readFileSync(fixture(name), 'utf8')) as { vectors: Vector[] }).vectors;

const FILES = [
  { file: 'go-template-vectors.json', count: 1256 },
  { file: 'go-template-random-vectors.json', count: 758 },
  { file: 'go-template-found-vectors.json', count: 19 },
];

describe.each(FILES)('$file', ({ file, count }) => {
  const vectors = read(file);
  const features = Map.groupBy(vectors, vector => vector.id.slice(0, vector.id.indexOf('/')));

  it('has all its vectors', () => {
    expect(vectors.length).toBe(count);
  });

  it.each([...features.keys()])('%s', feature => {
    const differences = (features.get(feature) ?? []).flatMap(vector => {
      const found = difference(vector);
      return found ? [{ id: vector.id, ...found }] : [];
    });
    expect(differences).toEqual([]);
  });
});

describe('gotemplate:vectors', () => {
  const main = path.join(import.meta.dirname, '../vectors/main.ts');
  const run = (...files: string[]): { status: number | null; stdout: string; stderr: string } =>
    spawnSync(process.execPath, [main, ...files], { encoding: 'utf8' });
  const folder = mkdtempSync(path.join(tmpdir(), 'curfew-vectors-'));
  afterAll(() => rmSync(folder, { recursive: true }));
  const file = (content: string): string => {
    const name = path.join(mkdtempSync(path.join(folder, 'one-')), 'vectors.json');
    writeFileSync(name, content);
    return name;
  };
  const holding = { id: 'a/holds', template: '{{1}}', output: '1' };

  it('exits 0 when all hold, over several files', () => {
    const one = file(JSON.stringify({ vectors: [holding] }));
    expect(run(one, one)).toMatchObject({ status: 0, stdout: '2 of 2 hold\n' });
  });

  it('names each vector that differs, with what Go says and what we say, and exits 1', () => {
    const wrong = { ...holding, id: 'a/wrong', output: '2' };
    const { status, stdout } = run(file(JSON.stringify({ vectors: [holding, wrong] })));
    expect(stdout).toBe('a/wrong\n  expected: "2"\n  got:      "1"\n1 of 2 hold\n');
    expect(status).toBe(1);
  });

  it('counts a wrong error as different', () => {
    const wrong = { id: 'a/error', template: '{{.x', error: 'template: other', errorKind: 'parse' };
    expect(run(file(JSON.stringify({ vectors: [wrong] })))).toMatchObject({ status: 1 });
  });

  it.each([
    ['no file', [], 'usage:'],
    ['a missing file', ['/nowhere/vectors.json'], '/nowhere/vectors.json: ENOENT'],
    ['no JSON', [file('{')], 'vectors.json: '],
    ['no vectors', [file('{}')], 'no list "vectors"'],
    ['a vector without id', [file('{"vectors": [{"template": ""}]}')], 'vector 0 has no id or no template'],
  ])('says what is wrong with %s and exits 2', (_, files, message) => {
    const { status, stderr } = run(...files);
    expect(stderr).toContain(message);
    expect(status).toBe(2);
  });
});
