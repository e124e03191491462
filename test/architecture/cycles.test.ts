/** Nothing imports itself by way of others: no file, and no folder. Types count. */
import { dirname } from 'node:path';
import { describe, expect, it } from 'vitest';
import { imports, isRecordType, sources, type Import } from './sources.ts';

type Edge = Pick<Import, 'from' | 'to'>;

/** A type in Go's sense has methods on values, and a value has a type: one definition in two files. */
const RECURSIVE_TYPES = /^packages\/gotemplate\/src\/types\/(type|value)\.ts$/;

/** The folders whose direction is looked at: of `shared`, `functions` and `packages`, those below. */
function folderOf(file: string): string {
  const [top = '', below = ''] = file.split('/');
  return ['shared', 'functions', 'packages'].includes(top) ? `${top}/${below}` : top;
}

const HELD = /^(functions|shared|forwarder)\//;

/** The folders below the deepest folder that both files are in; none where one of them is a file of that folder itself. */
function siblingsOf(from: string, to: string): readonly Edge[] {
  const [ofFrom, ofTo] = [from.split('/'), to.split('/')];
  const depth = ofFrom.findIndex((part, index) => part !== ofTo[index]);
  const isFolder = (path: readonly string[]): boolean => depth >= 0 && depth < path.length - 1;
  const folder = (path: readonly string[]): string => path.slice(0, depth + 1).join('/');
  return isFolder(ofFrom) && isFolder(ofTo) ? [{ from: folder(ofFrom), to: folder(ofTo) }] : [];
}

/** A shortest way from each node back to itself, if there is one; each cycle once. */
function cyclesIn(edges: readonly Edge[]): readonly string[] {
  const next = new Map<string, Set<string>>();
  for (const { from, to } of edges) next.set(from, (next.get(from) ?? new Set()).add(to));
  const found = new Map<string, string>();
  for (const start of next.keys()) {
    const before = new Map<string, string>();
    const queue = [start];
    for (const node of queue) {
      for (const to of next.get(node) ?? []) {
        if (before.has(to)) continue;
        before.set(to, node);
        queue.push(to);
      }
    }
    if (!before.has(start)) continue;
    const way = [start];
    for (let node = before.get(start); node !== undefined && node !== start; node = before.get(node)) way.unshift(node);
    const key = way.toSorted().join();
    if (!found.has(key)) found.set(key, [start, ...way].join(' → '));
  }
  return [...found.values()];
}

describe('cycles', () => {
  it('are found where there are some', () => {
    const edge = (from: string, to: string): Edge => ({ from, to });
    expect(cyclesIn([edge('a', 'b'), edge('b', 'c'), edge('c', 'a'), edge('c', 'd')])).toEqual(['a → b → c → a']);
    expect(cyclesIn([edge('a', 'b'), edge('b', 'c'), edge('a', 'c')])).toEqual([]);
  });

  it('are in no file', () => {
    const own = imports.filter(
      ({ from, to }) => sources.includes(to) && !(RECURSIVE_TYPES.test(from) && RECURSIVE_TYPES.test(to)),
    );
    expect(cyclesIn(own)).toEqual([]);
  });

  it('are in no folder', () => {
    const between = imports
      .filter(({ to }) => sources.includes(to))
      .map(({ from, to }) => ({ from: folderOf(from), to: folderOf(to) }))
      .filter(({ from, to }) => from !== to);
    expect(cyclesIn(between)).toEqual([]);
  });

  it('are in no folder of functions, shared and forwarder, however deep', () => {
    const between = imports
      .filter(({ from, to }) => sources.includes(to) && HELD.test(from) && HELD.test(to))
      .flatMap(({ from, to }) => siblingsOf(from, to));
    expect(between.length).toBeGreaterThan(10);
    expect(cyclesIn(between)).toEqual([]);
  });

  it('join no folder with one below it, but for the types of a record', () => {
    const ways = imports
      .filter(edge => sources.includes(edge.to) && HELD.test(edge.from) && HELD.test(edge.to) && !isRecordType(edge))
      .map(({ from, to }) => ({ from: dirname(from), to: dirname(to) }));
    const down = new Set(
      ways.filter(({ from, to }) => to.startsWith(`${from}/`)).map(({ from, to }) => `${from} ⇄ ${to}`),
    );
    const up = new Set(
      ways.filter(({ from, to }) => from.startsWith(`${to}/`)).map(({ from, to }) => `${to} ⇄ ${from}`),
    );
    expect([...down.intersection(up)].toSorted()).toEqual([]);
  });
});
