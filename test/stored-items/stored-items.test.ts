/**
 * Items that earlier versions stored, in every phase, with the cluster that they belong to. Whatever layout this code has, it reads them,
 * finishes what they began and repeats nothing; functions that are rolled back leave the items of a later version alone.
 */
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import type { InvariantName } from '../../simulator/invariants/invariant.ts';
import { withoutStacks } from '../builders/without-stacks.ts';
import { JUDGED_BY_THE_PAST, OTHER_CALLS, WITHOUT_ITEM } from './differences.ts';
import { countOf, outcomeOf } from './outcome.ts';
import { asNewer, ITEMS, load, namesOf, readStoredItems } from './stored-items.ts';

withoutStacks();

const VERSIONS = readdirSync(ITEMS).filter(name => /^v\d+$/.test(name));
const ALL = VERSIONS.flatMap(version => namesOf(version).map(name => [`${version}/${name}`, version, name] as const));

const broken = (violations: readonly { readonly invariant: InvariantName }[]): readonly InvariantName[] =>
  [...new Set(violations.map(({ invariant }) => invariant))].toSorted();

describe('stored items', () => {
  it.each(VERSIONS)('of %s are as they were frozen', version => {
    const folder = new URL(`${version}/`, ITEMS);
    const sums = namesOf(version).map(name => {
      const sum = createHash('sha256').update(readFileSync(new URL(`${name}.yaml`, folder)));
      return `${sum.digest('hex')}  ${name}.yaml`;
    });
    // A layout that changed needs a folder of its own: `CONTRIBUTING.md` says how.
    expect(sums).toEqual(readFileSync(new URL('SHA256SUMS', folder), 'utf8').trimEnd().split('\n'));
  });

  it.each(ALL)('%s: what was begun is finished, and nothing is repeated', async (id, version, name) => {
    const stored = readStoredItems(version, name);
    const { destroyed, left } = stored.after;
    const result = await load(stored);
    const expected = { destroyed: { ...destroyed, ...OTHER_CALLS[id] }, left };
    for (const [call, times] of Object.entries(expected.destroyed)) if (times === 0) delete expected.destroyed[call];
    expect(outcomeOf(result)).toEqual(expected);
    expect(broken(result.violations)).toEqual(JUDGED_BY_THE_PAST[id] ?? []);
    expect(result.buried).toEqual([]);
  });

  it.each(ALL)('%s of a later version are left alone', async (id, version, name) => {
    const { trace } = await load(asNewer(readStoredItems(version, name)));
    expect(countOf(trace)).toEqual(WITHOUT_ITEM[id] ?? {});
  });
});
