/** What `JSON.parse` answers is `unknown`, or goes into a schema, until something has looked at it: no text becomes a type unseen. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { root, sources } from './sources.ts';

const PARSE = /JSON\.parse\((?:[^()]|\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\))*\)/g;
const INTO_UNKNOWN = /: unknown = $/;
const INTO_SCHEMA = /\.(?:safeP|p)arse\($/;

/** The lines where it goes somewhere else. */
const unread = (text: string): readonly string[] =>
  [...text.matchAll(PARSE)]
    .filter(({ index, 0: call }) => {
      const before = text.slice(0, index);
      const isUnknown = INTO_UNKNOWN.test(before) || text.slice(index + call.length).startsWith(' as unknown');
      return !isUnknown && !INTO_SCHEMA.test(before);
    })
    .map(({ index }) => text.slice(text.lastIndexOf('\n', index) + 1, text.indexOf('\n', index)).trim());

describe('JSON that somebody else wrote', () => {
  it('is read as unknown or by a schema', () => {
    const readers = sources.filter(file => /^(functions|shared|forwarder)\//.test(file));
    const found = readers.flatMap(file => {
      const text = readFileSync(join(root, file), 'utf8');
      const isAllSeen = [...text.matchAll(PARSE)].length === text.split('JSON.parse(').length - 1;
      if (!isAllSeen) return `${file}: a call that this test cannot follow`;
      return unread(text).map(line => `${file}: ${line}`);
    });
    expect(found).toEqual([]);
  });

  it('is told from what becomes a type unseen', () => {
    expect(unread('const value: Answer = JSON.parse(text);\n')).toHaveLength(1);
    expect(unread('return JSON.parse(text) as Answer;\n')).toHaveLength(1);
    expect(unread('toState: value => JSON.parse(toText(value)),\n')).toHaveLength(1);
    expect(unread('const value: unknown = JSON.parse(text);\n')).toEqual([]);
    expect(unread('return JSON.parse(text) as unknown;\n')).toEqual([]);
    expect(unread('schema.parse(JSON.parse(text))\n')).toEqual([]);
  });
});
