/** Events that come late: what is said of them, what is remembered for them, and for how long. */
import { describe, expect, it } from 'vitest';
import { rememberEnds, staleOutcome, tooOldOutcome, withEnds } from '../../../../functions/drain/rule/late-events.ts';
import { REMEMBERED_FOR } from '../../../../functions/drain/rule/history.ts';
import type { DrainRecord } from '../../../../functions/drain/record.ts';
import type { DrainRequest, NodeFault, Timestamps } from '../../../../functions/drain/request-record.ts';
import { addDuration, minutes, seconds, type EpochMs } from '../../../../shared/domain/time.ts';
import { active, finished, NOW, observation, request, recovered } from '../observations.ts';

type Given = NonNullable<Parameters<typeof observation>[0]>;
const at = (count: number): EpochMs => addDuration(NOW, minutes(count));
const fault = (entities: readonly string[] = [], checkName = 'GpuMemWatch'): NodeFault => ({
  agent: 'gpu-health-monitor',
  componentClass: 'GPU',
  checkName,
  entities,
  codes: [],
});
const said = (count: number): Timestamps => ({ createdTime: at(count) });
/** A request about these GPUs, said then. */
const asked = (gpus: readonly string[], count: number, quarantine?: DrainRequest['quarantine']): DrainRequest => ({
  ...request('e1', { entitiesImpacted: gpus.map(entityValue => ({ entityType: 'GPU', entityValue })) }, quarantine),
  said: said(count),
});

describe('an event from before the end of what it is about', () => {
  const on = (of: DrainRequest, record: Partial<DrainRecord>, node: Given['node'] = {}): string | undefined =>
    staleOutcome(observation({ record, node }), of)?.message;

  it('is told when the quarantine ended, by the first clock that says so', () => {
    const ended = (end: Timestamps): string | undefined =>
      on(asked([], -60, 'Quarantined'), { quarantineEnd: { said: end, time: at(0) } });
    const message = (time: string): string => `this event is from before ${time}, when the quarantine ended`;
    expect(ended({ createdTime: at(-10), generatedTime: at(-20) })).toBe(message('2024-11-01T14:50:00Z'));
    const byMonitor: DrainRequest = { ...asked([], 0, 'Quarantined'), said: { generatedTime: at(-60) } };
    const clocks = { generatedTime: at(-20), exportedTime: at(-15) };
    expect(on(byMonitor, { quarantineEnd: { said: clocks, time: NOW } })).toBe(message('2024-11-01T14:40:00Z'));
    const exported: DrainRequest = { ...byMonitor, said: { exportedTime: at(-60) } };
    expect(on(exported, { quarantineEnd: { said: { exportedTime: at(-15), sentTime: at(-5) }, time: NOW } })).toBe(
      message('2024-11-01T14:45:00Z'),
    );
    const sent: DrainRequest = { ...byMonitor, said: { sentTime: at(-60) } };
    expect(on(sent, { quarantineEnd: { said: { sentTime: at(-5) }, time: NOW } })).toBe(
      message('2024-11-01T14:55:00Z'),
    );
  });

  it('is none where it is of no quarantine, or of one that lasts, or from after that end', () => {
    const record = { quarantineEnd: { said: said(-10), time: NOW } };
    expect(on(asked([], -60), record)).toBeUndefined();
    expect(on(asked([], -60, 'Quarantined'), record, { quarantine: ['e0'] })).toBeUndefined();
    expect(on(asked([], -5, 'Quarantined'), record)).toBeUndefined();
    expect(on(asked([], -60, 'Quarantined'), {})).toBeUndefined();
  });

  it('is told when the word came that its fault is over, the last one of those that it needed', () => {
    const recoveries = [
      { fault: fault(['GPU/A']), said: said(-10), time: at(-9) },
      { fault: fault(['GPU/B']), said: said(-8), time: at(-7) },
      { fault: fault(['GPU/C']), said: said(-6), time: at(-5) },
      { fault: fault(['GPU/A']), said: said(-100), time: at(-4) },
    ];
    expect(on(asked(['A', 'B'], -60), { recoveries })).toBe(
      'this event is from before the one that says that the fault is over, which came at 2024-11-01T14:53:00Z',
    );
    expect(on(asked(['A', 'B'], -9), { recoveries })).toBeUndefined();
    expect(on(asked(['A', 'D'], -60), { recoveries })).toBeUndefined();
    expect(on(asked(['A'], -60), {})).toBeUndefined();
  });
});

describe('an event that is too old', () => {
  const on = (
    age: number,
    more: { node?: Given['node']; kind?: 'drainRequested'; most?: number; gpus?: readonly string[] } = {},
  ) => {
    const { node, kind = 'healthEvent', most = 60, gpus = [] } = more;
    const seen = observation({ ...(node && { node }), maxEventAge: minutes(most) });
    return tooOldOutcome(seen, { kind, request: asked(gpus, -age), receivedTime: NOW });
  };

  it('ends as failed where somebody waits for the answer', () => {
    const message = 'it is from 2024-11-01T13:59:00Z and came 1h1m0s later; after 1h0m0s nothing begins (maxEventAge)';
    expect(on(60)).toBeUndefined();
    expect(on(61)).toEqual({ status: 'Cancelled', reason: 'StaleEvent', message, left: [] });
    expect(on(61, { kind: 'drainRequested' })).toEqual({ status: 'Failed', reason: 'StaleEvent', message, left: [] });
    const days = REMEMBERED_FOR / minutes(1);
    expect(on(days, { most: 10 * days })).toBeUndefined();
    expect(on(days + 1, { most: 10 * days })).toMatchObject({ reason: 'StaleEvent' });
  });

  it.each<[string, Given['node'], boolean]>([
    ['the node carries our cordon for it', { cordonMark: 'e1', unschedulable: true }, true],
    ['our mark of it is left on an open node', { cordonMark: 'e1' }, false],
    ['the node carries our cordon for another', { cordonMark: 'e0', unschedulable: true }, false],
    ['the quarantine lists it', { quarantine: ['e0', 'e1'] }, true],
    ['the quarantine lists another', { quarantine: ['e0'] }, false],
    ['nobody can read the list', { quarantine: 'unreadable', quarantineFaults: () => [fault()] }, false],
    ['the quarantine lists its check', { quarantine: ['e0'], quarantineFaults: () => [fault([], 'x'), fault()] }, true],
    ['the quarantine lists its GPU', { quarantine: ['e0'], quarantineFaults: () => [fault(['GPU/A', 'GPU/B'])] }, true],
    ['the quarantine lists another GPU', { quarantine: ['e0'], quarantineFaults: () => [fault(['GPU/B'])] }, false],
    [
      'the quarantine lists another check',
      { quarantine: ['e0'], quarantineFaults: () => [fault(['GPU/A'], 'x')] },
      false,
    ],
  ])('stands where %s', (_, node, stands) => {
    expect(on(90, { node, gpus: ['A'] }) === undefined).toBe(stands);
  });

  it('of two GPUs or of the whole check stands only where all of it is listed', () => {
    const node = { quarantine: ['e0'], quarantineFaults: () => [fault(['GPU/A'])] };
    expect(on(90, { node, gpus: ['A', 'B'] })).toBeDefined();
    expect(on(90, { node, gpus: [] })).toBeDefined();
  });
});

describe('ends that are remembered', () => {
  const recoveredBefore = (count: number, gpus: readonly string[], time = NOW): DrainRecord =>
    withEnds(
      observation({
        now: time,
        incoming: recovered(asked(gpus, 0).event, said(count)),
      }),
    ).record;

  it('are those of quarantines that somebody dates, the latest one', () => {
    const end = (record: Partial<DrainRecord>, of: Timestamps | undefined): unknown =>
      withEnds(observation({ record, incoming: { kind: 'unQuarantined', timestamps: of } })).record.quarantineEnd;
    expect(end({}, undefined)).toBeUndefined();
    expect(end({}, {})).toBeUndefined();
    expect(end({}, said(-10))).toEqual({ said: said(-10), time: NOW });
    const before = { quarantineEnd: { said: said(-10), time: at(-1) } };
    expect(end(before, said(-20))).toBe(before.quarantineEnd);
    expect(end(before, said(-5))).toEqual({ said: said(-5), time: NOW });
  });

  it('are those of faults that somebody dates', () => {
    expect(recoveredBefore(-5, ['A']).recoveries).toEqual([{ fault: fault(['GPU/A']), said: said(-5), time: NOW }]);
    const undated = observation({ incoming: recovered(asked(['A'], 0).event) });
    expect(withEnds(undated).record.recoveries).toBeUndefined();
  });

  it('go when no message can come any more, but for those that something open still needs', () => {
    const old = at(0 - REMEMBERED_FOR / minutes(1));
    const fresh = addDuration(old, seconds(1));
    const one = (time: EpochMs, gpu: string) => ({ fault: fault([`GPU/${gpu}`]), said: said(-5), time });
    const kept = (record: Partial<DrainRecord>) => rememberEnds(observation({ record }).record, undefined, NOW);
    const recoveries = [one(old, 'A'), one(old, 'B'), one(fresh, 'C')];
    const { record, until } = kept({ recoveries, quarantineEnd: { said: said(-5), time: old } });
    expect(record.recoveries).toEqual([one(fresh, 'C')]);
    expect(record).not.toHaveProperty('quarantineEnd');
    expect(until).toBe(addDuration(NOW, seconds(1)));
    const open: readonly Partial<DrainRecord>[] = [
      { requests: [asked(['A', 'D'], -9)] },
      { active: active({ requests: [asked(['A', 'D'], -9)] }) },
      { finished: [finished('e0', { fault: fault(['GPU/A', 'GPU/D']), said: said(-9) })] },
      { requests: [request('e1', asked(['A', 'D'], -9).event)] },
    ];
    for (const each of open)
      expect(kept({ recoveries, ...each }).record.recoveries).toEqual([one(old, 'A'), one(fresh, 'C')]);
    const settled: readonly Partial<DrainRecord>[] = [
      // It was said after the recovery: another incident.
      { requests: [asked(['A', 'D'], -4)] },
      { finished: [finished('e0', { fault: fault(['GPU/A']), said: said(-9), recovered: true })] },
    ];
    for (const each of settled) expect(kept({ recoveries, ...each }).record.recoveries).toEqual([one(fresh, 'C')]);
    expect(kept({ recoveries: [one(old, 'B')] }).record).not.toHaveProperty('recoveries');
    expect(kept({ recoveries: [one(old, 'A')], requests: [asked(['A', 'D'], -9)] }).until).toBeUndefined();
  });

  it('keep the record until the last word about old events may be said again', () => {
    const kept = (staleReportedTime: EpochMs | undefined, until?: EpochMs) =>
      rememberEnds(
        observation({ record: { ...(staleReportedTime !== undefined && { staleReportedTime }) } }).record,
        until,
        NOW,
      );
    expect(kept(at(-59))).toMatchObject({ record: { staleReportedTime: at(-59) }, until: at(1) });
    expect(kept(at(-60)).record).not.toHaveProperty('staleReportedTime');
    expect(kept(at(-60)).until).toBeUndefined();
    expect(kept(undefined, at(7)).until).toBe(at(7));
    expect(kept(at(-59), at(7)).until).toBe(at(1));
  });
});
