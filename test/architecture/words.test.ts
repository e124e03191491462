/**
 * The words of the code's own. Kubernetes and AWS have words for most things, and those need no entry; a word that we coined, or use in a
 * meaning of ours, stands in a glossary for as long as the code has it.
 */
import { existsSync, globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { root, sources } from './sources.ts';

/** In the order of the alphabet. A new one is explained in `docs/internals/glossary.md` first, or is a term of Kubernetes after all. */
const COINED = [
  'attempt',
  'basis',
  'canary',
  'coalescer',
  'effort',
  'episode',
  'fault',
  'hold',
  'incident',
  'intent',
  'ladder',
  'ledger',
  'leftovers',
  'look',
  'onset',
  'origin',
  'orphan',
  'pass',
  'ramp',
  'refusal',
  'reservation',
  'return',
  'round',
  'scope',
  'settle',
  'slot',
  'sweep',
  'tick',
  'turn',
  'unawaited',
  'verdict',
  'veto',
] as const;

const read = (file: string): string => readFileSync(join(root, file), 'utf8');
const PRODUCT = sources.filter(file => /^(functions|shared|forwarder|runtime|packages\/curfew-cdk\/src)\//.test(file));

/** `createPauseIfNotServed` ▶ create, pause, if, not, served. */
const wordsOf = (name: string): readonly string[] =>
  name
    .replaceAll(/([a-z0-9])([A-Z])/g, '$1 $2')
    .toLowerCase()
    .split(/[\s_-]+/);

const EXPORT = /^export (?:async )?(?:const|let|function\*?|class|interface|type) (\w+)/gm;
const exportedWords = new Set(
  PRODUCT.flatMap(file => [...read(file).matchAll(EXPORT)].flatMap(([, name = '']) => wordsOf(name))),
);
const isExported = (word: string): boolean => [word, `${word}s`].some(each => exportedWords.has(each));

/** A name of a type in more folders than two has a meaning in each. These are the same in all of them. */
const SAME_EVERYWHERE: Readonly<Record<string, string>> = {
  Deps: 'the ports that a file is given',
  ReplaceableRules: 'the rules of a concern, in whose place mutants put mistakes',
  RouteContext: 'what a router acts with: ports, rounds, rules',
};
const TYPE = /^(?:export )?(?:interface|type|class) (\w+)/gm;
const foldersOf = (): ReadonlyMap<string, ReadonlySet<string>> => {
  const folders = new Map<string, Set<string>>();
  for (const file of PRODUCT) {
    for (const [, name = ''] of read(file).matchAll(TYPE)) {
      folders.set(name, (folders.get(name) ?? new Set()).add(dirname(file)));
    }
  }
  return folders;
};

interface Entry {
  /** What the row says of the word. */
  readonly meaning: string;
  readonly words: readonly string[];
  /** Files, or folders, in which the word lives. */
  readonly places: readonly string[];
}

/** The rows of a glossary's table: its first column, and the paths in its last one. */
const entriesOf = (file: string): readonly Entry[] =>
  read(file)
    .split('\n')
    .filter(line => line.startsWith('| ') && !line.startsWith('| word '))
    .map(line => line.slice(2, -2).split(' | '))
    .map(columns => ({
      meaning: columns.slice(1, -1).join(' '),
      words: (columns[0] ?? '')
        .trim()
        .toLowerCase()
        .split(/[ ,-]+/),
      places: [...(columns.at(-1) ?? '').matchAll(/`([^`]+)`/g)].map(([, place = '']) => place),
    }));
const internals = entriesOf('docs/internals/glossary.md');
const users = entriesOf('docs/glossary.md');

/** All code at a place that a glossary names. */
const codeAt = (place: string): string =>
  globSync([place, `${place}/**/*.ts`], { cwd: root })
    .filter(file => file.endsWith('.ts'))
    .map(read)
    .join('\n');

describe('a word of our own', () => {
  it.each(COINED)('%s has an entry in a glossary, and a name of the code has it', word => {
    const has = ({ words }: Entry): boolean => words.some(each => [word, `${word}s`].includes(each));
    expect([...internals, ...users].some(has)).toBe(true);
    expect(isExported(word)).toBe(true);
  });

  it('has one meaning: its entry in the glossary of the code is the only one', () => {
    const entries = internals.map(({ words }) => words.join(' '));
    expect(entries.filter((entry, index) => entries.indexOf(entry) !== index)).toEqual([]);
  });

  it('is explained by names that stand in the files that the row names', () => {
    const missing = internals.flatMap(({ words, meaning, places }) => {
      const code = places.map(codeAt).join('\n');
      // A stored name stands in the table of the record instead.
      const plain = meaning.replaceAll(/\((?:stored|in the audit)[^)]*\)/g, '');
      const names = [...plain.matchAll(/`([A-Za-z]+)`/g)].map(([, name = '']) => name);
      return names
        .filter(name => !code.includes(name) && !existsSync(join(root, name)))
        .map(name => `${words.join(' ')}: ${name}`);
    });
    expect(missing).toEqual([]);
  });

  it('that a glossary of the code explains is used where the glossary says', () => {
    expect(internals.length).toBeGreaterThan(30);
    const missing = internals.flatMap(({ words, places }) => {
      const code = places.map(codeAt).join('\n').toLowerCase();
      return words.some(word => code.includes(word)) ? [] : [`${words.join(' ')}: ${places.join(', ')}`];
    });
    expect(missing).toEqual([]);
  });
});

describe('a pass', () => {
  const named = PRODUCT.filter(file =>
    [...read(file).matchAll(EXPORT)].some(([, name = '']) =>
      wordsOf(name).some(word => word === 'pass' || word === 'passes'),
    ),
  );

  it('is a look of repair at a whole NodePool: nothing else has the word in its name', () => {
    const owners = ['context', 'pass-queue', 'rule/pass-requests', 'wake-ups'].map(
      name => `functions/repair/${name}.ts`,
    );
    expect(named.toSorted()).toEqual(owners);
  });
});

describe('a name of a type', () => {
  const many = [...foldersOf()].filter(([, folders]) => folders.size > 2);

  it('means one thing: it stands in no more than two folders', () => {
    expect(many.filter(([name]) => !(name in SAME_EVERYWHERE)).map(([name, folders]) => [name, ...folders])).toEqual(
      [],
    );
  });

  it.each(Object.keys(SAME_EVERYWHERE))('%s stands in more than two', name => {
    expect(many.map(([each]) => each)).toContain(name);
  });
});

describe('a name that a file exports', () => {
  it('means one thing in its folder: no other file there has a type of that name, or exports it, too', () => {
    const places = new Map<string, { files: Set<string>; isExported: boolean }>();
    for (const file of PRODUCT) {
      const code = read(file);
      const exported = new Set([...code.matchAll(EXPORT)].map(([, name = '']) => name));
      for (const name of new Set([...exported, ...[...code.matchAll(TYPE)].map(([, type = '']) => type)])) {
        const key = `${dirname(file)} ${name}`;
        const place = places.get(key) ?? { files: new Set(), isExported: false };
        place.files.add(file);
        place.isExported ||= exported.has(name);
        places.set(key, place);
      }
    }
    const twice = [...places].filter(([, { files, isExported }]) => isExported && files.size > 1);
    expect(twice.map(([key]) => key)).toEqual([]);
  });
});
