/**
 * No read of the Kubernetes API without its four answers (`shared/ports/read-answer.ts`): what a `get` or `list` answers goes through `objectOf`,
 * `objectsOf` or `orUnavailable`, or is kept as an answer whose `kind` is looked at, and no failure of a read becomes an empty answer.
 */
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { sources } from './sources.ts';

const READ = /\b(?:kubernetes|api)\s*\.(?:get|list)\(/g;
/** What may stand before a read: a reading, an answer that is named as one, or a read that is only passed on. */
const EXAMINED =
  /(?:object(?:s)?Of\(\s*(?:await\s+)?|orUnavailable\(\s*|(?:\w*[aA]nswer|seen|\{ kind \}) = await |inParallel\([^;]*|Promise\.all\([^;]*|\.map\(\w+ => |=> |return )(?:\w+\.)*$/;

const read = (path: string): string => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8');
const readers = sources.filter(path => /^(functions|shared|cli|forwarder)\//.test(path));

/** The lines of reads that are not examined. */
function unexamined(text: string): readonly string[] {
  return [...text.matchAll(READ)]
    .filter(({ index }) => !EXAMINED.test(text.slice(Math.max(0, index - 400), index)))
    .map(({ index }) => text.slice(text.lastIndexOf('\n', index) + 1, text.indexOf('\n', index)).trim());
}

describe('reads of the Kubernetes API', () => {
  it('are examined', () => {
    const found = readers.flatMap(path => unexamined(read(path)).map(line => `${path}: ${line}`));
    expect(found).toEqual([]);
  });

  it('that fail are no empty answers', () => {
    const swallowed =
      /\.(?:get|list)\((?:[^()]|\([^()]*\))*\)\s*(?:\)\s*\?\? \[\]|\.catch\(\(\) => (?:undefined|\[\]))/;
    expect(readers.filter(path => /\b(?:kubernetes|api)\b/.test(read(path)) && swallowed.test(read(path)))).toEqual([]);
  });

  it('are told from others', () => {
    expect(unexamined('const node = await kubernetes.get(ref);')).toHaveLength(1);
    expect(unexamined('for (const pod of await deps.kubernetes.list(type)) use(pod);')).toHaveLength(1);
    expect(unexamined("objectOf(await deps.kubernetes.get(ref), { ifNotServed: 'empty' })")).toEqual([]);
    expect(unexamined('const answer = await kubernetes.list(type);')).toEqual([]);
  });
});
