/** Who comes first, told here pair by pair: a higher priority is worth one rank, a half hour of waiting as much. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { sortByRank } from '../../../../functions/repair/rule/rank.ts';
import type { DueFinding } from '../../../../functions/repair/node/rule/finding.ts';
import { addDuration, minutes } from '../../../../shared/domain/time.ts';
import { aNode, at } from '../../../builders/repair.ts';

const NOW = at('2024-11-01T18:00:00Z');

interface Waiting {
  /** Launches of replacements that have failed. */
  readonly failed?: number;
  readonly priority: number;
  readonly waited: number;
  readonly severity: number;
}

function dueNode({ failed, priority, waited, severity }: Waiting, index: number): DueFinding {
  const view = aNode([], { name: `n${String(index).padStart(3, '0')}`, uid: `uid-${index}` });
  const dueSince = addDuration(NOW, minutes(-waited));
  return {
    node: view,
    verdict: { entryPolicy: { priority }, dueSince, severity, action: { type: 'Replace', timeout: 1 } },
    record: failed === undefined ? undefined : { incident: { skippedLaunches: ['Replace||1'] }, launched: failed },
  } as unknown as DueFinding;
}

const order = (waiting: readonly Waiting[]): readonly number[] =>
  sortByRank(waiting.map(dueNode), NOW).map(({ node }) => Number(node.name.slice(1)));

const waiting = fc.record({
  priority: fc.constantFrom(0, 1, 10, 50, 100),
  waited: fc.integer({ min: 0, max: 600 }),
  severity: fc.integer({ min: 1, max: 3 }),
});

describe('of two nodes that are due', () => {
  it('the one of the higher priority comes first, by one rank for each other priority between them', () => {
    expect(
      order([
        { priority: 0, waited: 29, severity: 1 },
        { priority: 100, waited: 0, severity: 1 },
      ]),
    ).toEqual([1, 0]);
  });

  it('the one that has waited for half an hour a rank more comes first', () => {
    expect(
      order([
        { priority: 0, waited: 31, severity: 1 },
        { priority: 100, waited: 0, severity: 1 },
      ]),
    ).toEqual([0, 1]);
  });

  it('the less healthy one comes first, then that of the first name, where nothing else tells them apart', () => {
    const same = { priority: 3, waited: 5, severity: 1 };
    expect(order([same, same, { ...same, severity: 2 }])).toEqual([2, 0, 1]);
  });

  it('the one with fewer launches that have failed comes first, whatever its priority', () => {
    const important = { priority: 100, waited: 600, severity: 1 };
    const other = { priority: 0, waited: 0, severity: 1 };
    expect(order([{ ...important, failed: 1 }, other])).toEqual([1, 0]);
    expect(
      order([
        { ...important, failed: 2 },
        { ...other, failed: 1 },
      ]),
    ).toEqual([1, 0]);
    expect(
      order([
        { ...other, failed: 1 },
        { ...important, failed: 1 },
      ]),
    ).toEqual([1, 0]);
  });

  it('none is passed by one with fewer distinct priorities and half hours, in any company', () => {
    fc.assert(
      fc.property(fc.array(waiting, { minLength: 2, maxLength: 12 }), all => {
        const places = order(all);
        const below = (priority: number): number =>
          new Set(all.map(each => each.priority).filter(p => p < priority)).size;
        for (const [index, place] of places.slice(1).entries()) {
          const [first, second] = [all[places[index] ?? 0], all[place]];
          if (first === undefined || second === undefined) throw new Error('not there');
          const worth = (each: Waiting): number => below(each.priority) * 30 + each.waited;
          expect(worth(first)).toBeGreaterThanOrEqual(worth(second));
        }
      }),
      { numRuns: 300 },
    );
  });
});
