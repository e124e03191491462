/** Whose turn it is where a policy limits how many nodes of a pool are drained at once. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  decideQueued,
  mustWait,
  nextDrains,
  skipsItsTurn,
  queuePositionOf,
  waitsForNobody,
} from '../../../../functions/drain/rule/queue.ts';
import type { PoolDrains } from '../../../../functions/drain/rule/observation.ts';
import { NO_DRAINS } from '../../../../functions/drain/record.ts';
import type { Refusals } from '../../../../shared/domain/refusal.ts';
import { NO_DRAIN_LIMITS, slotsOf } from '../../../../shared/domain/drain-limits.ts';
import { addDuration, hours, minutes, seconds } from '../../../../shared/domain/time.ts';
import { active, modes, NOW, prepared, readyObservation, request } from '../observations.ts';

const self = { uid: 'm', since: NOW, takesSlot: false };
const around = (given: Partial<PoolDrains>): PoolDrains => ({ total: 10, drainingCount: 0, waiters: [], ...given });
const older = (count: number) =>
  Array.from({ length: count }, (_, index) => ({ uid: `a${index}`, since: addDuration(NOW, seconds(-1)) }));

describe('slots', () => {
  it.each([
    ['20%', [1, 1, 1, 1, 1, 2, 2, 2, 2, 2, 3, 3, 3, 3, 3, 4, 4, 4, 4, 4, 5, 5, 5, 5, 5, 6, 6, 6, 6, 6]],
    ['1%', Array.from({ length: 30 }, () => 1)],
    ['100%', Array.from({ length: 30 }, (_, index) => index + 1)],
  ])('%s of 1 to 30 nodes, rounded up', (text, expected) => {
    const percent = Number(text.slice(0, -1));
    expect(Array.from({ length: 30 }, (_, index) => slotsOf({ percent }, index + 1))).toEqual(expected);
  });

  it('are as many as a number says, and one at least', () => {
    expect([slotsOf({ count: 3 }, 1), slotsOf({ count: 1 }, 30), slotsOf({ percent: 20 }, 0)]).toEqual([3, 1, 1]);
  });
});

describe('a turn', () => {
  const two = { count: 2 };

  it('is taken by marking the Node first, while a slot is free that no older one waits for', () => {
    expect(queuePositionOf(self, around({ drainingCount: 1 }), two, NOW)).toEqual({ kind: 'take' });
    expect(queuePositionOf(self, around({ waiters: older(1) }), two, NOW)).toEqual({ kind: 'take' });
    expect(queuePositionOf(self, around({ waiters: older(2) }), two, NOW)).toMatchObject({ kind: 'wait' });
    expect(queuePositionOf(self, around({ drainingCount: 2 }), two, NOW)).toMatchObject({ kind: 'wait' });
    expect(queuePositionOf(self, around({ drainingCount: 9 }), two, NOW)).toMatchObject({ kind: 'wait' });
  });

  it('of two of the same age goes to the first by UID', () => {
    const same = (uid: string) => around({ drainingCount: 1, waiters: [{ uid, since: NOW }] });
    expect(queuePositionOf(self, same('l'), two, NOW).kind).toBe('wait');
    expect(queuePositionOf(self, same('n'), two, NOW).kind).toBe('take');
  });

  it('begins when all marks have room, and is given back when they have not', () => {
    const marked = { ...self, takesSlot: true };
    // Others that are older and wait do not delay it: they look again when a slot is free.
    expect(queuePositionOf(marked, around({ drainingCount: 1, waiters: older(3) }), two, NOW)).toEqual({
      kind: 'begin',
    });
    expect(queuePositionOf(marked, around({ drainingCount: 2 }), two, NOW)).toEqual({ kind: 'giveBack' });
  });

  it('is looked at once a minute at the head of the queue, and later behind it', () => {
    expect(queuePositionOf(self, around({ drainingCount: 2 }), two, NOW)).toMatchObject({
      until: addDuration(NOW, minutes(1)),
    });
    expect(queuePositionOf(self, around({ drainingCount: 2, waiters: older(60) }), two, NOW)).toMatchObject({
      until: addDuration(NOW, minutes(5)),
    });
  });

  it('never makes more drains than slots, in whatever order marks and looks come', () => {
    // Each node marks its Node and then looks: an interleaving is an order of these 2 × n steps.
    const cases = fc.tuple(fc.integer({ min: 1, max: 4 }), fc.integer({ min: 1, max: 6 })).chain(([slots, nodes]) =>
      fc.tuple(
        fc.constant(slots),
        fc.shuffledSubarray(
          Array.from({ length: nodes * 2 }, (_, step) => step % nodes),
          { minLength: nodes * 2 },
        ),
      ),
    );
    fc.assert(
      fc.property(cases, ([slots, steps]) => {
        const marked = new Set<number>();
        const begun = new Set<number>();
        for (const node of steps) {
          if (!marked.has(node)) {
            marked.add(node);
            continue;
          }
          const drainingCount = [...marked].filter(other => other !== node).length;
          const position = queuePositionOf(
            { uid: `${node}`, since: NOW, takesSlot: true },
            around({ drainingCount }),
            { count: slots },
            NOW,
          );
          if (position.kind === 'begin') begun.add(node);
          else marked.delete(node);
        }
        expect(begun.size).toBeLessThanOrEqual(slots);
      }),
    );
  });
});

it('wakes the oldest that may have their turn', () => {
  const waiting = [...older(2), { uid: 'z', since: addDuration(NOW, minutes(-1)) }];
  expect(nextDrains(waiting, 3, 5).map(({ uid }) => uid)).toEqual(['z', 'a0']);
  expect(nextDrains(waiting, 6, 5)).toEqual([]);
});

describe('a turn is passed on', () => {
  const waits = active({ phase: { kind: 'waiting', since: NOW, takesSlot: true } });
  const refusal = { message: 'no', basis: '', count: 2, firstTime: addDuration(NOW, minutes(-1)), lastTime: NOW };
  const refused = { ...refusal, cause: 'request' } as const;
  const passes = (refusals: Refusals, minutesLater = 0) =>
    skipsItsTurn({ ...NO_DRAINS, active: waits, refusals }, addDuration(NOW, minutes(minutesLater)));

  it('while the mark on its Node is refused, until that is tried again', () => {
    expect([0, 1, 2].map(later => passes({ prepare: refused }, later))).toEqual([true, true, false]);
    expect([0, 1, 2].map(later => passes({ finish: refused }, later))).toEqual([true, true, false]);
    expect(passes({ show: refused, 'evict/p1': refused })).toBe(false);
    expect(passes({})).toBe(false);
  });

  it('not by a failure that may pass within seconds', () => {
    expect(passes({ prepare: { ...refusal, cause: 'passing' } })).toBe(false);
  });

  it('once the end of the drain is decided', () => {
    const outcome = { status: 'Failed', reason: 'DrainWaitedTooLong', message: '', left: [], time: NOW } as const;
    const phase = {
      kind: 'ending',
      outcome,
      over: [],
      before: { kind: 'waiting', since: NOW, takesSlot: false },
    } as const;
    expect(skipsItsTurn({ ...NO_DRAINS, active: active({ phase }) }, NOW)).toBe(true);
  });
});

it('lets a drain begin at once that repair, a termination or a person asks for', () => {
  const limits = { ...NO_DRAIN_LIMITS, maxConcurrent: { count: 1 } };
  const asked = (requestedBy: string) => ({ ...request('e1'), requestedBy });
  expect(mustWait(limits, [asked('m')])).toBe(true);
  expect(mustWait(limits, [asked('m'), asked('node-annotation')])).toBe(false);
  expect(mustWait(NO_DRAIN_LIMITS, [asked('m')])).toBe(false);
  const requesters = ['curfew.repair', 'curfew.finalizer', 'curfew.operator', 'node-annotation', 'monitor'];
  expect(requesters.filter(requestedBy => !waitsForNobody({ requestedBy }))).toEqual(['monitor']);
});

describe('a drain that waits for its turn', () => {
  const limits = { ...NO_DRAIN_LIMITS, maxConcurrent: { count: 1 }, deadline: minutes(30) };
  const phase = { kind: 'waiting', since: NOW, takesSlot: false } as const;
  const waiting = active({ phase, cordon: { quarantined: false, by: 'own' } });
  const full = around({ drainingCount: 1 });
  const on = (given: Parameters<typeof readyObservation>[0] = {}, drain = waiting) => {
    const node = { ...prepared(drain), labels: {} };
    const seen = readyObservation({ node, inForce: { limits }, poolDrains: full, record: { active: drain }, ...given });
    const { phase: turn } = drain;
    if (turn.kind !== 'waiting') throw new Error('it does not wait');
    return decideQueued(seen, drain, turn);
  };
  const begun = { ...waiting, phase: { kind: 'draining' }, startTime: NOW };

  it('is looked at again, and by its deadline at the latest', () => {
    expect(on()).toEqual({
      kind: 'queue',
      active: waiting,
      message:
        "the node is cordoned and waits for its turn: drain.maxConcurrent allows 1 of the pool's nodes to be drained at the same time",
      until: addDuration(NOW, minutes(1)),
    });
    const percent = { ...limits, maxConcurrent: { percent: 10 } };
    expect(on({ inForce: { limits: percent } })).toMatchObject({
      message: expect.stringContaining(' allows 10%, here 1, of '),
    });
    expect(on({ inForce: { limits: { ...limits, deadline: seconds(30) } } })).toMatchObject({
      until: addDuration(NOW, seconds(30)),
    });
  });

  it('marks its Node when a slot is free, looks again, and begins or takes the mark back', () => {
    const noted = (takesSlot: boolean): unknown => ({
      kind: 'note',
      record: { active: { phase: { ...phase, takesSlot } } },
    });
    expect(on({ poolDrains: around({}) })).toMatchObject(noted(true) as object);
    const marked = active({ ...waiting, phase: { ...phase, takesSlot: true } });
    expect(on({}, marked)).toMatchObject(noted(false) as object);
    expect(on({ poolDrains: around({}) }, marked)).toMatchObject({
      kind: 'start',
      active: begun,
      record: { active: begun },
    });
  });

  it.each([
    ['no limit is in force any more', NO_DRAIN_LIMITS, waiting],
    ['nobody can read the limits', { kind: 'unreadable', message: 'block limits' }, waiting],
    [
      'somebody joins who waits for nobody',
      limits,
      active({ ...waiting, requests: [request('e1'), { ...request('e2'), requestedBy: 'node-annotation' }] }),
    ],
  ] as const)('begins when %s', (_name, limitsNow, drain) => {
    expect(on({ inForce: { limits: limitsNow } }, drain)).toMatchObject({
      kind: 'start',
      active: { phase: { kind: 'draining' } },
    });
  });

  it('begins with the time-out of its deletions begun anew where that is over', () => {
    const old = active({ ...waiting, requests: [{ ...request('e1'), time: addDuration(NOW, hours(-5)) }] });
    const configuration = modes('DeleteAfterTimeout', 'deleteAfterTimeoutMinutes = 60');
    expect(on({ inForce: { limits: NO_DRAIN_LIMITS }, configuration }, old)).toMatchObject({
      active: { requests: [{ time: addDuration(NOW, minutes(-50)) }] },
    });
  });

  it('fails when it has waited as long as it may, the time that it was paused not counted', () => {
    const late = active({ ...waiting, phase: { ...phase, since: addDuration(NOW, minutes(-30)) } });
    expect(on({}, late)).toEqual({
      kind: 'finish',
      active: late,
      outcome: {
        status: 'Failed',
        reason: 'DrainWaitedTooLong',
        message: 'its turn did not come within drain.deadline: other nodes of the pool are drained all the time',
        left: [],
      },
      plan: undefined,
    });
    expect(on({}, { ...late, pausedFor: seconds(1) })).toMatchObject({
      kind: 'queue',
      until: addDuration(NOW, seconds(1)),
    });
    expect(on({ inForce: { limits: { ...limits, deadline: undefined } } }, late)).toMatchObject({ kind: 'queue' });
  });

  it('says where it waited too long that its Node must not be changed', () => {
    const late = active({ ...waiting, phase: { ...phase, since: addDuration(NOW, minutes(-30)) } });
    const refusal = { cause: 'request', message: 'denied by x', basis: '', count: 1 } as const;
    const refusals = { prepare: { ...refusal, firstTime: NOW, lastTime: NOW } };
    expect(on({ record: { active: late, refusals } }, late)).toMatchObject({
      outcome: { message: 'it did not begin within drain.deadline; a change of its Node was refused: denied by x' },
    });
  });

  it('gives up a slot that it could not mark its Node for, and takes it without a mark that is there already', () => {
    const node = { ...prepared(waiting), labels: {} };
    const marked = active({ ...waiting, phase: { ...phase, takesSlot: true } });
    const noted = (takesSlot: boolean): unknown => ({
      kind: 'note',
      record: { active: { phase: { ...phase, takesSlot } } },
    });
    expect(on({ node }, marked)).toMatchObject(noted(false) as object);
    expect(on({ node, poolDrains: around({}) }, marked)).toMatchObject({ kind: 'prepare', active: marked });
    const markedNode = { ...prepared(marked), labels: {} };
    expect(on({ node: markedNode, poolDrains: around({}) })).toMatchObject(noted(true) as object);
  });

  it('has its node cordoned first, which shows no drain', () => {
    const { cordon: _, ...fresh } = waiting;
    expect(on({ node: {} }, fresh)).toEqual({
      kind: 'prepare',
      active: fresh,
      cordon: { quarantined: false, by: 'own' },
      showDraining: false,
      plan: undefined,
    });
  });

  it('cannot be decided while nobody has read the other nodes', () => {
    expect(() => on({ poolDrains: undefined })).toThrow('the other nodes of the pool are read');
  });
});
