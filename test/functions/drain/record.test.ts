import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import type { DrainRecord } from '../../../functions/drain/record.ts';
import { DRAIN_CODEC } from '../../../functions/drain/codec.ts';
import { SAMPLE_EVENT } from '../../../shared/custom-resource/drain-sample.ts';
import { addDuration, minutes, toDurationMs, toEpochMs } from '../../../shared/domain/time.ts';

/** A record as a version stored it; it must be read for as long as one may be in a table. */
const fixture = (version: number): URL => new URL(`../../fixtures/items/drain-v${version}.json`, import.meta.url);
const time = toEpochMs(Date.UTC(2024, 10, 1, 15));

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
    hold: { quarantined: true, cordon: 'none' },
    warned: ['uid-a'],
    drained: 3,
    refusals: 2,
    reported: 'AwaitingCustomDrain …',
    custom: {
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
    },
    fellBack: 'TimedOut: not complete within 3600 s',
    end: {
      status: 'Failed',
      reason: 'TimedOut',
      message: 'not complete within 3600 s',
      left: ['ml/a (Running)'],
      time,
    },
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
      queue: { since: startTime, takes: true },
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
    staleSaid: time,
  };
  expect(DRAIN_CODEC.parse({ ...Object(stored(4)) })).toEqual(fourth);
  expect({ schemaVersion: DRAIN_CODEC.schemaVersion, ...DRAIN_CODEC.toState(fourth) }).toEqual(stored(4));
});

it('reads back exactly what it wrote, what is absent included', () => {
  expect(DRAIN_CODEC.parse(DRAIN_CODEC.toState(RECORD))).toStrictEqual(RECORD);
  const { active } = RECORD;
  const late: DrainRecord = { ...RECORD, ...(active !== undefined && { active: { ...active, over: ['e2'] } }) };
  expect(DRAIN_CODEC.parse(DRAIN_CODEC.toState(late))).toStrictEqual(late);
  const empty: DrainRecord = { requests: [], finished: [] };
  expect(DRAIN_CODEC.parse(DRAIN_CODEC.toState(empty))).toStrictEqual(empty);
});

it('refuses what has another shape, and passes over what a newer version adds', () => {
  expect(() => DRAIN_CODEC.parse({ requests: 'x', finished: [] })).toThrow('requests');
  expect(DRAIN_CODEC.parse({ requests: [], finished: [], added: true })).toEqual({ requests: [], finished: [] });
});
