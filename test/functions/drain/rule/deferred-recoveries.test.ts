/** A recovery of a fault that comes and goes: it has to last before it counts, and the drain for that fault pauses. */
import { describe, expect, it } from 'vitest';
import {
  isOverIfLasting,
  recoveryDueTime,
  withDeferredRecovery,
  withDueRecovery,
  withoutDeferredRecovery,
} from '../../../../functions/drain/rule/late-events.ts';
import { faultOf } from '../../../../functions/drain/rule/faults.ts';
import { readyToBegin, readyToGoOn } from '../../../../functions/drain/rule/pauses.ts';
import { NO_DRAINS, type DrainRecord } from '../../../../functions/drain/record.ts';
import type { DeferredRecovery, DrainRequest, FinishedDrain } from '../../../../functions/drain/request-record.ts';
import { addDuration, minutes, seconds, type EpochMs } from '../../../../shared/domain/time.ts';
import { active, finished, NOW, observation, recovered, request } from '../observations.ts';

const at = (count: number): EpochMs => addDuration(NOW, minutes(count));
const said = (count: number) => ({ createdTime: at(count) });
/** A request about these GPUs; none: about the whole check. */
const asked = (gpus: readonly string[] = [], count = -20): DrainRequest => ({
  ...request('e1', { entitiesImpacted: gpus.map(entityValue => ({ entityType: 'GPU', entityValue })) }),
  said: said(count),
});
const deferred = (gpus: readonly string[] = [], since = 0): DeferredRecovery => ({
  event: asked(gpus).event,
  said: said(since),
  since: at(since),
});
/** A drain for the check that a recovery has ended. */
const flap = (minute: number, more: Partial<FinishedDrain> = {}): FinishedDrain => ({
  ...finished(`e${minute}`),
  fault: faultOf(asked().event),
  status: 'Cancelled',
  reason: 'Recovered',
  startTime: at(minute - 1),
  endTime: at(minute),
  ...more,
});
const record = (given: Partial<DrainRecord>): DrainRecord => ({ ...NO_DRAINS, ...given });
const FLAPS = [flap(-50), flap(-40), flap(-30)];

describe('a recovery has to last', () => {
  const defers = (given: Partial<DrainRecord>, gpus: readonly string[] = []) =>
    withDeferredRecovery(record(given), recovered(asked(gpus).event, said(0)), NOW)?.deferredRecoveries;

  it('after three drains for its check that recoveries ended within an hour', () => {
    expect(defers({ finished: FLAPS })).toEqual([{ event: asked().event, said: said(0), since: NOW }]);
    const later = flap(-30, { status: 'Succeeded', reason: 'Drained', recovered: true });
    expect(defers({ finished: [...FLAPS.slice(0, 2), later] })).toHaveLength(1);
  });

  it.each<[string, readonly FinishedDrain[]]>([
    ['after two', FLAPS.slice(1)],
    ['where one is an hour old', [flap(-60), ...FLAPS.slice(1)]],
    ['where one drain counts twice', [flap(-40), flap(-40), flap(-30)]],
    [
      'where one was for another check',
      [flap(-50, { fault: { ...flap(-50).fault, checkName: 'NicLink' } }), ...FLAPS.slice(1)],
    ],
    ['where a person called one off', [flap(-50, { reason: 'Uncordoned' }), ...FLAPS.slice(1)]],
    ['where one ended for itself', [flap(-50, { status: 'Succeeded', recovered: false }), ...FLAPS.slice(1)]],
    ['where one needed no drain', [flap(-50, { status: 'AlreadyDrained', recovered: true }), ...FLAPS.slice(1)]],
  ])('not %s', (_, ends) => {
    expect(defers({ finished: [...ends] })).toBeUndefined();
  });

  it('from its first report on, and not where fifty do already', () => {
    const known = [deferred([], -5)];
    expect(defers({ finished: FLAPS, deferredRecoveries: known })).toEqual(known);
    expect(defers({ finished: FLAPS, deferredRecoveries: [deferred(['A'], -5)] }, ['B'])).toHaveLength(2);
    const many = Array.from({ length: 50 }, (_, index) => deferred([`G${index}`], -5));
    expect(defers({ finished: FLAPS, deferredRecoveries: many.slice(1) }, ['X'])).toHaveLength(50);
    expect(defers({ finished: FLAPS, deferredRecoveries: many }, ['X'])).toBeUndefined();
  });

  it('for ten minutes, and then counts as the message in hand, where there is none', () => {
    const deferredRecoveries = [deferred(['A'], -10), deferred(['B'], -3)];
    expect(recoveryDueTime({ deferredRecoveries })).toBe(NOW);
    expect(recoveryDueTime({})).toBeUndefined();
    const seen = observation({ record: { deferredRecoveries } });
    const lasted = withDueRecovery(seen);
    expect(lasted.incoming).toEqual({ kind: 'dueRecovery', event: asked(['A']).event, timestamps: said(-10) });
    expect(lasted.record.deferredRecoveries).toEqual(deferredRecoveries.slice(1));
    const early = { ...seen, now: addDuration(NOW, seconds(-1)) };
    expect(withDueRecovery(early)).toBe(early);
    const busy = { ...seen, incoming: recovered(asked().event) };
    expect(withDueRecovery(busy)).toBe(busy);
  });

  it('and is forgotten where its fault is back', () => {
    const known = record({ deferredRecoveries: [deferred(['A']), deferred(['B'])] });
    expect(withoutDeferredRecovery(known, faultOf(asked(['A']).event)).deferredRecoveries).toEqual([deferred(['B'])]);
    expect(withoutDeferredRecovery(known, faultOf(asked().event))).not.toHaveProperty('deferredRecoveries');
    expect(withoutDeferredRecovery(known, faultOf(asked(['C']).event))).toBe(known);
  });
});

describe('the drain for a fault that is over if that lasts', () => {
  it.each<[string, DrainRequest, Partial<DrainRecord>, boolean]>([
    ['of the whole check', asked(), { deferredRecoveries: [deferred()] }, true],
    ['of one entity', asked(['A']), { deferredRecoveries: [deferred(['A'])] }, true],
    [
      'of entities that recover one by one',
      asked(['A', 'B']),
      { deferredRecoveries: [deferred(['A']), deferred(['B'])] },
      true,
    ],
    [
      'together with recoveries that count',
      asked(['A', 'B']),
      {
        deferredRecoveries: [deferred(['A'])],
        recoveries: [{ fault: faultOf(asked(['B']).event), said: said(-2), time: at(-2) }],
      },
      true,
    ],
    ['not of another entity', asked(['A', 'B']), { deferredRecoveries: [deferred(['A'])] }, false],
    ['not by a recovery that was said before', asked([], 5), { deferredRecoveries: [deferred()] }, false],
    ['not without one', asked(), {}, false],
  ])('%s', (_, request_, given, isOver) => {
    expect(isOverIfLasting(record(given), request_)).toBe(isOver);
  });

  it('pauses, also where it has yet to begin; with another request it goes on', () => {
    const pause = expect.objectContaining({ kind: 'pause', reason: 'RecoveryDeferred' });
    const deferredRecoveries = [deferred()];
    const other = request('e2', { checkName: 'NicLink' });
    const goesOn = (...requests: readonly DrainRequest[]) => {
      const drain = active({ requests: [...requests] });
      return readyToGoOn(observation({ record: { active: drain, deferredRecoveries } }), drain);
    };
    expect(goesOn(asked())).toEqual(pause);
    expect(goesOn(asked(), other)).toMatchObject({ kind: 'drain' });
    const begins = (...requests: readonly DrainRequest[]) =>
      readyToBegin(observation({ record: { requests: [...requests], deferredRecoveries } }));
    expect(begins(asked())).toEqual(pause);
    expect(begins(asked(), other)).toMatchObject({ kind: 'drain' });
  });
});
