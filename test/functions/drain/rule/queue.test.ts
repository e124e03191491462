/** Whose turn it is where a policy limits how many nodes of a pool are drained at once. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { mustWait, nextOf, queuePlaceOf, waitsForNobody } from '../../../../functions/drain/rule/queue.ts';
import type { Neighbours } from '../../../../functions/drain/rule/observation.ts';
import { SOURCES } from '../../../../shared/contract/names.ts';
import { NO_DRAIN_LIMITS, placesOf, WAIT_FOR_NOBODY } from '../../../../shared/domain/drain-limits.ts';
import { addDuration, minutes, seconds } from '../../../../shared/domain/time.ts';
import { NOW, request } from '../observations.ts';

const self = { uid: 'm', since: NOW, takes: false };
const around = (given: Partial<Neighbours>): Neighbours => ({ total: 10, draining: 0, waiting: [], ...given });
const older = (count: number) =>
  Array.from({ length: count }, (_, index) => ({ uid: `a${index}`, since: addDuration(NOW, seconds(-1)) }));

describe('places', () => {
  it.each([
    ['20%', [1, 1, 1, 1, 1, 2, 2, 2, 2, 2, 3, 3, 3, 3, 3, 4, 4, 4, 4, 4, 5, 5, 5, 5, 5, 6, 6, 6, 6, 6]],
    ['1%', Array.from({ length: 30 }, () => 1)],
    ['100%', Array.from({ length: 30 }, (_, index) => index + 1)],
  ])('%s of 1 to 30 nodes, rounded up', (text, expected) => {
    const percent = Number(text.slice(0, -1));
    expect(Array.from({ length: 30 }, (_, index) => placesOf({ percent }, index + 1))).toEqual(expected);
  });

  it('are as many as a number says, and one at least', () => {
    expect([placesOf({ count: 3 }, 1), placesOf({ count: 1 }, 30), placesOf({ percent: 20 }, 0)]).toEqual([3, 1, 1]);
  });
});

describe('a turn', () => {
  const two = { count: 2 };

  it('is taken by marking the Node first, while a place is free that no older one waits for', () => {
    expect(queuePlaceOf(self, around({ draining: 1 }), two, NOW)).toEqual({ kind: 'take' });
    expect(queuePlaceOf(self, around({ waiting: older(1) }), two, NOW)).toEqual({ kind: 'take' });
    expect(queuePlaceOf(self, around({ waiting: older(2) }), two, NOW)).toMatchObject({ kind: 'wait' });
    expect(queuePlaceOf(self, around({ draining: 2 }), two, NOW)).toMatchObject({ kind: 'wait' });
    expect(queuePlaceOf(self, around({ draining: 9 }), two, NOW)).toMatchObject({ kind: 'wait' });
  });

  it('of two of the same age goes to the first by UID', () => {
    const same = (uid: string) => around({ draining: 1, waiting: [{ uid, since: NOW }] });
    expect(queuePlaceOf(self, same('l'), two, NOW).kind).toBe('wait');
    expect(queuePlaceOf(self, same('n'), two, NOW).kind).toBe('take');
  });

  it('begins when all marks have room, and is given back when they have not', () => {
    const marked = { ...self, takes: true };
    // Others that are older and wait do not hold it up: they look again when a place is free.
    expect(queuePlaceOf(marked, around({ draining: 1, waiting: older(3) }), two, NOW)).toEqual({ kind: 'begin' });
    expect(queuePlaceOf(marked, around({ draining: 2 }), two, NOW)).toEqual({ kind: 'giveBack' });
  });

  it('is looked at once a minute at the head of the queue, and later behind it', () => {
    expect(queuePlaceOf(self, around({ draining: 2 }), two, NOW)).toMatchObject({
      until: addDuration(NOW, minutes(1)),
    });
    expect(queuePlaceOf(self, around({ draining: 2, waiting: older(60) }), two, NOW)).toMatchObject({
      until: addDuration(NOW, minutes(5)),
    });
  });

  it('never makes more drains than places, in whatever order marks and looks come', () => {
    // Each node marks its Node and then looks: an interleaving is an order of these 2 × n steps.
    const cases = fc.tuple(fc.integer({ min: 1, max: 4 }), fc.integer({ min: 1, max: 6 })).chain(([places, nodes]) =>
      fc.tuple(
        fc.constant(places),
        fc.shuffledSubarray(
          Array.from({ length: nodes * 2 }, (_, step) => step % nodes),
          { minLength: nodes * 2 },
        ),
      ),
    );
    fc.assert(
      fc.property(cases, ([places, steps]) => {
        const marked = new Set<number>();
        const begun = new Set<number>();
        for (const node of steps) {
          if (!marked.has(node)) {
            marked.add(node);
            continue;
          }
          const draining = [...marked].filter(other => other !== node).length;
          const place = queuePlaceOf(
            { uid: `${node}`, since: NOW, takes: true },
            around({ draining }),
            { count: places },
            NOW,
          );
          if (place.kind === 'begin') begun.add(node);
          else marked.delete(node);
        }
        expect(begun.size).toBeLessThanOrEqual(places);
      }),
    );
  });
});

it('wakes the oldest that may have their turn', () => {
  const waiting = [...older(2), { uid: 'z', since: addDuration(NOW, minutes(-1)) }];
  expect(nextOf(waiting, 3, 5).map(({ uid }) => uid)).toEqual(['z', 'a0']);
  expect(nextOf(waiting, 6, 5)).toEqual([]);
});

it('lets a drain begin at once that repair, a termination or a person asks for', () => {
  expect(WAIT_FOR_NOBODY).toEqual([SOURCES.repair, SOURCES.finalizer, SOURCES.operator, 'node-annotation']);
  const limits = { ...NO_DRAIN_LIMITS, maxConcurrent: { count: 1 } };
  const asked = (requestedBy: string) => ({ ...request('e1'), requestedBy });
  expect(mustWait(limits, [asked('m')])).toBe(true);
  expect(mustWait(limits, [asked('m'), asked('node-annotation')])).toBe(false);
  expect(mustWait(NO_DRAIN_LIMITS, [asked('m')])).toBe(false);
  expect(WAIT_FOR_NOBODY.every(requestedBy => waitsForNobody({ requestedBy }))).toBe(true);
});
