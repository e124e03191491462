/** A shell asks the rule through doors alone. A table in the header of `decide.ts` has them: question, function, its file, asked by. */
import { readFileSync } from 'node:fs';
import { dirname, join, normalize, relative } from 'node:path';
import { describe, expect, it } from 'vitest';
import { root, sources } from './sources.ts';

const read = (file: string): string => readFileSync(join(root, file), 'utf8');

const concerns = sources
  .filter(file => /^functions\/.*\/decide\.ts$/.test(file))
  .map(dirname)
  .filter(concern => sources.some(file => file.startsWith(`${concern}/rule/`)));

/** Files that read, write or wait. What `explain.ts` exports is for others, outside of the functions. */
const isShell = (file: string): boolean =>
  file.startsWith('functions/') && !file.endsWith('/explain.ts') && !concerns.some(concern => isOfRule(concern, file));
/** A folder `record-changes` is as pure, and has what a shell alone asks: what the record keeps. */
const isOfRule = (concern: string, file: string): boolean =>
  file === `${concern}/decide.ts` || ['rule', 'record-changes'].some(each => file.startsWith(`${concern}/${each}/`));

/**
 * Words of the rule, which anybody may use: constants, and functions that tell one property of a value, or make another value of it. Their names
 * say so.
 */
const WORD = /^(?:[A-Z][A-Z0-9_]*|(?:is|has|with|without|to|read|format|describe)[A-Z]\w*)$/;

/** The values that a file imports from the rule, by their own names. */
function askedBy(concern: string, shell: string): readonly string[] {
  const found = read(shell).matchAll(/^import \{([^}]*)\} from '(\.[^']+)'/gm);
  return [...found]
    .filter(([, , from = '']) => isOfRule(concern, normalize(join(dirname(shell), from))))
    .flatMap(([, names = '']) => names.split(','))
    .map(name => name.trim())
    .filter(name => name !== '' && !name.startsWith('type '))
    .map(name => name.replace(/ as .*/, ''))
    .filter(name => !WORD.test(name));
}

interface Row {
  readonly functions: readonly string[];
  readonly files: readonly string[];
  readonly askers: readonly string[];
}

const codeIn = (text: string): readonly string[] => [...text.matchAll(/`([^`]+)`/g)].map(([, code = '']) => code);

/** The rows of the table in a header. */
const rowsOf = (file: string): readonly Row[] =>
  (/^\/\*\*[^]*?\*\//.exec(read(file))?.[0] ?? '')
    .split('\n')
    .filter(line => line.startsWith(' * | ') && line.includes('`'))
    .map(line => line.split(' | '))
    .map(([, , functions = '', files = '', askers = '']) => ({
      functions: codeIn(functions),
      files: codeIn(files),
      askers: codeIn(askers),
    }));

it('finds the concerns whose rule has more files than one', () => {
  expect(concerns.length).toBeGreaterThanOrEqual(4);
});

describe.each(concerns)('the table of %s', concern => {
  const rows = rowsOf(`${concern}/decide.ts`);
  const shells = sources
    .filter(file => isShell(file))
    .map(file => ({ file: relative(concern, file), asked: askedBy(concern, file) }))
    .filter(({ asked }) => asked.length > 0);

  it('has each function of the rule that a shell asks, and no other one', () => {
    const asked = new Set(shells.flatMap(each => each.asked));
    expect(rows.flatMap(({ functions }) => functions).toSorted()).toEqual([...asked].toSorted());
  });

  it.each(rows)('says where $functions.0 is', ({ functions, files }) => {
    const exported = (file: string, name: string): boolean =>
      new RegExp(`^export (?:function|const) ${name}\\b`, 'm').test(read(`${concern}/${file}`));
    expect(functions.filter(name => !files.some(file => exported(file, name)))).toEqual([]);
    expect(files.filter(file => !functions.some(name => exported(file, name)))).toEqual([]);
  });

  it.each(rows)('says who asks $functions.0', ({ functions, askers }) => {
    const found = shells.filter(({ asked }) => asked.some(name => functions.includes(name))).map(({ file }) => file);
    expect(askers.toSorted()).toEqual(found.toSorted());
  });
});
