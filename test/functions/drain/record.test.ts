import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import type { ActiveDrain, DrainPhase, DrainRecord, OpenPhase } from '../../../functions/drain/record.ts';
import { DRAIN_CODEC } from '../../../functions/drain/record.ts';
import { SAMPLE_EVENT } from '../../../shared/custom-resource/drain-sample.ts';
import { addDuration, minutes, toDurationMs, toEpochMs } from '../../../shared/domain/time.ts';

/** A record as a version stored it; it must be read for as long as one may be in a table. */
const fixture = (version: number): URL => new URL(`../../fixtures/items/drain-v${version}.json`, import.meta.url);
const time = toEpochMs(Date.UTC(2024, 10, 1, 15));

const RESOURCE = {
  name: 'drain-n1-e2',
  namespace: 'nvsentinel',
  group: 'nvsentinel.nvidia.com',
  version: 'v1alpha1',
  kind: 'DrainRequest',
  resource: 'drainrequests',
  uid: 'uid-cr',
  createdTime: time,
  recreated: 1,
  seen: { resourceVersion: '17', since: time },
};
const RECORD: DrainRecord = {
  active: {
    id: 'e2',
    requests: [
      { id: 'e2', requestedBy: 'nvsentinel', event: { ...SAMPLE_EVENT, id: 'e2' }, quarantine: 'Quarantined' },
      {
        id: 'r1',
        requestedBy: 'curfew.repair',
        event: { ...SAMPLE_EVENT, id: 'r1', generatedTimestamp: undefined, drainOverrides: undefined },
        quarantine: undefined,
      },
    ],
    scope: { kind: 'entities', entities: ['GPU-1'] },
    startTime: time,
    force: true,
    cordon: { quarantined: true, by: 'none' },
    warned: ['uid-a'],
    drained: 3,
    failedLooks: 2,
    reported: 'AwaitingCustomDrain …',
    phase: {
      kind: 'ending',
      outcome: {
        status: 'Failed',
        reason: 'TimedOut',
        message: 'not complete within 3600 s',
        left: ['ml/a (Running)'],
        time,
      },
      over: [],
      before: { kind: 'custom', resource: RESOURCE },
    },
    tried: [],
    goneCount: 0,
    askedEvictions: {},
    pausedFor: toDurationMs(0),
    returns: [],
  },
  requests: [{ id: 'e3', requestedBy: 'nvsentinel', event: { ...SAMPLE_EVENT, id: 'e3' }, quarantine: undefined }],
  finished: [
    {
      id: 'e1',
      status: 'Succeeded',
      reason: 'Drained',
      message: '2 pods were drained',
      left: [],
      scope: { kind: 'full' },
      drained: 2,
      startTime: time,
      endTime: time,
      fault: {
        agent: 'gpu-health-monitor',
        componentClass: 'GPU',
        checkName: 'GpuMemWatch',
        entities: ['GPU_UUID/GPU-1'],
      },
      recovered: false,
    },
  ],
  reported: 'NoConfiguration …',
};

it('reads versions 1 to 3, and writes version 4', () => {
  const stored = (version: number): unknown => JSON.parse(readFileSync(fixture(version), 'utf8'));
  expect(DRAIN_CODEC.parse({ ...Object(stored(1)) })).toEqual(RECORD);
  const saidTime = addDuration(time, minutes(-2));
  const second: DrainRecord = {
    ...RECORD,
    quarantineEnd: { said: { createdTime: saidTime, sentTime: saidTime }, time },
  };
  expect(DRAIN_CODEC.parse({ ...Object(stored(2)) })).toEqual(second);
  const { active } = second;
  if (active === undefined) throw new Error('a drain is under way');
  const { startTime } = active;
  const third: DrainRecord = {
    ...second,
    active: {
      ...active,
      pausedFor: minutes(1),
      progress: { pods: 3, time: startTime, saidTime: addDuration(startTime, toDurationMs(1)) },
      returns: [{ of: 'rs-uid', times: 2, time: startTime }],
    },
  };
  expect(DRAIN_CODEC.parse({ ...Object(stored(3)) })).toEqual(third);
  const fourth: DrainRecord = {
    ...third,
    quarantineEnd: { said: { exportedTime: saidTime, sentTime: saidTime }, time },
    answered: [{ id: 'e0', status: 'AlreadyDrained', endTime: saidTime }],
    staleReportedTime: time,
  };
  expect(DRAIN_CODEC.parse({ ...Object(stored(4)) })).toEqual(fourth);
  // A drain is in one phase: of a record with the fields of several, those of the others are not written again.
  const { queue: _, fellBack: __, ...drain } = Object(Object(stored(4)).active);
  const written = { schemaVersion: DRAIN_CODEC.schemaVersion, ...DRAIN_CODEC.toState(fourth) };
  expect(written).toEqual({ ...Object(stored(4)), active: drain });
});

it('reads back exactly what it wrote, what is absent included', () => {
  expect(DRAIN_CODEC.parse(DRAIN_CODEC.toState(RECORD))).toStrictEqual(RECORD);
  const { active } = RECORD;
  if (active?.phase.kind !== 'ending') throw new Error('its end is decided');
  const late: DrainRecord = { ...RECORD, active: { ...active, phase: { ...active.phase, over: ['e2'] } } };
  expect(DRAIN_CODEC.parse(DRAIN_CODEC.toState(late))).toStrictEqual(late);
  // A clock that goes back makes a time negative: a codec does not mend it.
  const odd: DrainRecord = { ...RECORD, active: { ...active, pausedFor: toDurationMs(-1), goneCount: -1 } };
  expect(DRAIN_CODEC.parse(DRAIN_CODEC.toState(odd))).toStrictEqual(odd);
  const empty: DrainRecord = { requests: [], finished: [] };
  expect(DRAIN_CODEC.parse(DRAIN_CODEC.toState(empty))).toStrictEqual(empty);
});

it('stores what has another name in the code as earlier versions read it', () => {
  const deferredRecoveries = [{ event: SAMPLE_EVENT, said: { sentTime: time }, since: time }];
  const record: DrainRecord = { requests: [], finished: [], deferredRecoveries, pausedSince: time };
  const stored = DRAIN_CODEC.toState({ ...record, flappingReportedTime: time, staleReportedTime: time });
  expect(Object.keys(stored)).toEqual([
    'requests',
    'finished',
    'heldRecoveries',
    'heldSince',
    'flappingSaid',
    'staleSaid',
  ]);
  expect(DRAIN_CODEC.parse(stored)).toMatchObject({ deferredRecoveries, flappingReportedTime: time });
});

it('refuses what has another shape, and passes over what a newer version adds', () => {
  expect(() => DRAIN_CODEC.parse({ requests: 'x', finished: [] })).toThrow('requests');
  expect(DRAIN_CODEC.parse({ requests: [], finished: [], added: true })).toEqual({ requests: [], finished: [] });
});

describe('the phase of a drain', () => {
  const { active } = RECORD;
  if (active === undefined) throw new Error('a drain is under way');
  const outcome = { status: 'Cancelled', reason: 'NodeGone', message: '', left: [], time } as const;
  const ending = (before: OpenPhase): DrainPhase => ({ kind: 'ending', outcome, over: [], before });

  it.each<[string, OpenPhase, object]>([
    ['waiting', { kind: 'waiting', since: time, takesSlot: true }, { queue: { since: time, takes: true } }],
    ['draining', { kind: 'draining' }, {}],
    ['custom', { kind: 'custom', resource: RESOURCE }, { custom: RESOURCE }],
    ['fallback', { kind: 'fallback', because: 'TimedOut' }, { fellBack: 'TimedOut' }],
  ])(
    '%s is stored as versions before read it, and read again, with the end of the drain and without',
    (_, phase, stored) => {
      const fieldsOf = (drain: ActiveDrain): object => {
        const { queue, custom, fellBack, end } = Object(DRAIN_CODEC.toState({ ...RECORD, active: drain })['active']);
        return JSON.parse(JSON.stringify({ queue, custom, fellBack, end }));
      };
      for (const [each, end] of [
        [phase, {}],
        [ending(phase), { end: outcome }],
      ] as const) {
        const drain = { ...active, phase: each };
        expect(fieldsOf(drain)).toEqual({ ...stored, ...end });
        expect(DRAIN_CODEC.parse(DRAIN_CODEC.toState({ ...RECORD, active: drain })).active).toStrictEqual(drain);
      }
    },
  );
});
