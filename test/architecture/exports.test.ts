/** An export is a promise to other files: what no other file imports is not exported. */
import { globSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { describe, expect, it } from 'vitest';
import { root, sources } from './sources.ts';

const EVERYTHING = '*';
const TESTS = globSync('{test,packages/*/test}/**/*.ts', { cwd: root });
const read = (file: string): string => readFileSync(join(root, file), 'utf8');

/** By file: the names that others import of it. */
const imported = new Map<string, Set<string>>();
for (const file of new Set([...sources, ...TESTS])) {
  const text = read(file);
  const note = (specifier: string, names: readonly string[]): void => {
    const target = normalize(join(dirname(file), specifier));
    const known = imported.get(target) ?? new Set();
    for (const name of names) known.add(name);
    imported.set(target, known);
  };
  for (const [, names = '', specifier = ''] of text.matchAll(
    /(?:import|export)(?: type)? \{([^}]*)\} from '(\.[^']+)'/g,
  )) {
    note(
      specifier,
      names.split(',').map(name =>
        name
          .trim()
          .replace(/^type /, '')
          .replace(/ as .*$/, ''),
      ),
    );
  }
  for (const [, specifier = ''] of text.matchAll(/(?:\* as \w+ from |export \* from |import\(\s*)'(\.[^']+)'/g))
    note(specifier, [EVERYTHING]);
}

/** What Lambda and CDK call by its name. */
const CALLED_BY_NAME = /^(functions\/[^/]+|examples\/.*)\/(handler|index|infra)\.ts$/;

describe('exports', () => {
  it('of values are imported by another file', () => {
    const unused = sources
      .filter(file => !CALLED_BY_NAME.test(file) && !/^(bench|packages\/[^/]+\/test)\//.test(file))
      .flatMap(file =>
        [...read(file).matchAll(/^export (?:async )?(?:const|let|function\*?|class) (\w+)/gm)]
          .map(([, name = '']) => name)
          .filter(name => !(imported.get(file)?.has(name) ?? false) && !(imported.get(file)?.has(EVERYTHING) ?? false))
          .map(name => `${file}: ${name}`),
      );
    expect(unused).toEqual([]);
  });
});
