/** What comments and documents say of files is so: a file that they name is there, and what is said to stand in it does. */
import { existsSync, globSync, readFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { root, sources } from './sources.ts';

/** Every concern has one: named without a place, it is that of each. */
const EVERY_CONCERN = new Set(['handler.ts', 'reconcile.ts', 'decide.ts']);

interface Page {
  readonly file: string;
  readonly text: string;
  /** Where a path may begin. */
  readonly folders: readonly string[];
}

const read = (file: string): string => readFileSync(join(root, file), 'utf8');
const isThere = (path: string): boolean => existsSync(join(root, path));

const rawCommentsOf = (text: string): readonly string[] =>
  [...text.matchAll(/\/\*[\s\S]*?\*\/|(?<![:'"`\w])\/\/ .*/g)].map(([comment]) => comment);

/** The comments of a file, one after the other, without the stars. */
const commentsOf = (text: string): string =>
  rawCommentsOf(text)
    .map(comment => comment.replaceAll(/\n\s*\*/g, '\n').replaceAll(/\s+/g, ' '))
    .join('\n');

const comments: readonly Page[] = sources.map(file => ({
  file,
  text: commentsOf(read(file)),
  folders: ['.', dirname(file)],
}));

/** The changelog says how things stood. A decision says what holds today (`docs/adr/README.md`), so it is read. */
const HISTORY = ['CHANGELOG.md', 'node_modules/**', '**/node_modules/**'];
/** A document may name the folder first, and then the files of it. */
const documents: readonly Page[] = globSync('{*.md,{docs,examples,bench,packages}/**/*.md}', {
  cwd: root,
  exclude: HISTORY,
}).map(file => {
  const text = read(file);
  const named = [...text.matchAll(/`([\w./-]+)`/g)].flatMap(([, path = '']) => [path, join(dirname(file), path)]);
  const folders = named.filter(isThere).flatMap(path => [path, dirname(path)]);
  return { file, text, folders: ['.', dirname(file), ...folders] };
});

const placeOf = ({ folders }: Page, path: string): string | undefined =>
  folders.map(folder => join(folder, path)).find(isThere);

/** Each as `file: what it says`. */
const missingIn = (pages: readonly Page[], isNamedAlone: (name: string) => boolean): readonly string[] =>
  pages.flatMap(page =>
    [...page.text.matchAll(/`([\w./-]+\.ts)`/g)]
      .map(([, path = '']) => path)
      .filter(path => !isNamedAlone(path) && placeOf(page, path) === undefined)
      .map(path => `${page.file}: ${path}`),
  );

describe('a file that is named', () => {
  it('in a comment is there, from the root or from the folder of the comment', () => {
    expect(comments.length).toBeGreaterThan(500);
    expect(missingIn(comments, name => name === 'handler.ts' || name === 'reconcile.ts')).toEqual([]);
  });

  it('in a document is there, from the root or in a folder that the document names', () => {
    expect(documents.length).toBeGreaterThan(40);
    expect(missingIn(documents, name => EVERY_CONCERN.has(name))).toEqual([]);
  });

  it('has what is said to stand in it', () => {
    const said = [...comments, ...documents].flatMap(page =>
      [...page.text.matchAll(/`(\w+)`(?:\)?,? (?:of|in) |:? \()`([\w./-]+\.ts)`/g)].map(([, name = '', path = '']) => ({
        page,
        name,
        path,
      })),
    );
    expect(said.length).toBeGreaterThan(3);
    const wrong = said.filter(({ page, name, path }) => {
      const place = placeOf(page, path);
      return place !== undefined && !new RegExp(`\\b${name}\\b`).test(read(place));
    });
    expect(wrong.map(({ page, name, path }) => `${page.file}: ${name} in ${path}`)).toEqual([]);
  });
});

/** Folders whose docstrings begin with what the thing is or does. */
const NAMED_FIRST = ['functions', 'shared', 'forwarder', 'cli'];
/** Half sentences, which have no subject. */
const NO_SUBJECT = /^(?:Wh(?:at|o|om|ose|oever|atever|en|ere|ich|y)|How|The same|Of|Those|That of)\b/;

describe('a docstring', () => {
  it.each(NAMED_FIRST)('of %s begins with a noun or a verb', folder => {
    const docstrings = sources
      .filter(file => file.startsWith(`${folder}/`))
      .flatMap(file =>
        [...read(file).matchAll(/\/\*\*([\s\S]*?)\*\//g)].map(([, text = '']) => ({
          file,
          text: text.replaceAll(/\n\s*\*/g, ' ').trim(),
        })),
      );
    expect(docstrings.length).toBeGreaterThan(100);
    const headless = docstrings.filter(({ text }) => NO_SUBJECT.test(text));
    expect(headless.map(({ file, text }) => `${file}: ${text}`)).toEqual([]);
  });
});

/** Names of Helm, Kubernetes and Powertools. */
const NAMES_OF_OTHERS = ['kubeVersion', 'logMetrics', 'podFailurePolicy', 'ruleName'];

describe('a name between backticks', () => {
  it('stands in the code, too', () => {
    const code = sources.map(file =>
      rawCommentsOf(read(file)).reduce((text, each) => text.replace(each, ''), read(file)),
    );
    const known = new Set([...NAMES_OF_OTHERS, ...code.flatMap(text => text.match(/[A-Za-z_$][\w$]*/g) ?? [])]);
    const unknown = comments.flatMap(({ file, text }) =>
      [...text.matchAll(/`([a-z]+[A-Z]\w*)(?:\(\))?`/g)]
        .filter(([, name = '']) => !known.has(name))
        .map(([, name]) => `${file}: ${name}`),
    );
    expect(unknown).toEqual([]);
  });
});

describe('a reference such as (a)', () => {
  it('has a list with that letter in its file', () => {
    const unlisted = sources.flatMap(file => {
      const said = rawCommentsOf(read(file))
        .join('\n')
        .replaceAll(/`[^`]*`/g, '');
      const listed = new Set([...said.matchAll(/^\W*\(([a-h])\) /gm)].map(([, letter = '']) => letter));
      const named = [...said.matchAll(/(?<=\s)\(([a-h])\)(?!\w)/g)].map(([, letter = '']) => letter);
      return named.filter(letter => !listed.has(letter)).map(letter => `${file}: (${letter})`);
    });
    expect(unlisted).toEqual([]);
  });
});

describe('a concern', () => {
  const concerns = sources.filter(file => /^functions\/[^/]+\/handler\.ts$/.test(file)).map(file => dirname(file));

  /** A pass of a pool looks at its nodes, and decides on each of them. */
  const WITHOUT_LOOP = ['functions/repair/node'];

  it.each(concerns)('%s has its loop beside its handler or in folders of it, and its rule beside the loop', folder => {
    const rules = sources.filter(file => file.startsWith(`${folder}/`) && basename(file) === 'decide.ts');
    expect(rules).not.toEqual([]);
    const withoutLoop = rules.map(dirname).filter(place => !isThere(`${place}/reconcile.ts`));
    expect(withoutLoop.filter(place => !WITHOUT_LOOP.includes(place))).toEqual([]);
    if (rules[0] !== `${folder}/decide.ts`) {
      // Its folders are those of its subjects: AGENTS.md and ARCHITECTURE.md say so.
      expect(folder).toBe('functions/finalizer');
    }
  });

  it('is found', () => expect(concerns.length).toBe(5));
});
