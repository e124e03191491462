/** Who asks for a drain and who drains each read what the other writes. */
import { expect, it } from 'vitest';
import { parseDrainRequested } from '../../functions/drain/bus-event.ts';
import { publishAnswers } from '../../functions/drain/drain-completed.ts';
import type { FinishedDrain } from '../../functions/drain/request-record.ts';
import { parseDrainCompleted } from '../../functions/repair/actions/drain.ts';
import type { BusEntry } from '../../shared/contract/envelope.ts';
import { minutes, toEpochMs } from '../../shared/domain/time.ts';
import type { EventBus } from '../../shared/ports/event-bus.ts';
import { createRepairWorld, seedPool } from '../fakes/repair-world.ts';

const FINISHED: FinishedDrain = {
  id: 'u1.1',
  scope: { kind: 'entities', entities: ['GPU-0'] },
  status: 'Succeeded',
  reason: 'Drained',
  message: '1 pod was drained',
  left: ['default/web-0 (NotReady)'],
  drained: 1,
  startTime: toEpochMs(0),
  endTime: toEpochMs(1000),
  fault: { agent: 'monitor', componentClass: '', checkName: '', entities: [] },
  recovered: false,
};

async function answerOf(finished: FinishedDrain): Promise<string> {
  const published: BusEntry[] = [];
  const bus: EventBus = {
    async publish(entries) {
      published.push(...entries);
      return entries.map(() => ({ kind: 'published' as const }));
    },
  };
  await publishAnswers({ bus }, { name: 'n1', uid: 'u1' }, [finished]);
  return JSON.stringify(published);
}

it('a drain answers in the words that its readers know, field by field', async () => {
  expect(await answerOf(FINISHED)).toBe(
    '[{"source":"curfew.drain","detailType":"DrainCompleted","detail":{"schemaVersion":1,"id":"u1.1","reason":"Drained",' +
      '"left":["default/web-0 (NotReady)"],"drained":1,"node":{"name":"n1","uid":"u1"},"entities":["GPU-0"],"status":"Succeeded",' +
      '"message":"1 pod was drained","startTime":"1970-01-01T00:00:00Z","endTime":"1970-01-01T00:00:01Z",' +
      '"healthEventStatus":{"userPodsEvictionStatus":{"status":"Succeeded","message":"1 pod was drained"},' +
      '"drainFinishTimestamp":"1970-01-01T00:00:01Z"}}}]',
  );
});

it.each([
  ['Succeeded', 'succeeded'],
  ['AlreadyDrained', 'succeeded'],
  ['Failed', 'failed'],
  ['Cancelled', 'stopped'],
] as const)('repair reads the answer of a drain that is %s', async (status, kind) => {
  const [{ detail }] = JSON.parse(await answerOf({ ...FINISHED, status }));
  expect(parseDrainCompleted(detail)).toEqual({
    ok: true,
    value: { requestId: 'u1.1', answer: { kind, message: `drain ${status}: 1 pod was drained` } },
  });
});

it('repair goes on waiting where the drain of others covers its own', async () => {
  const [{ detail }] = JSON.parse(await answerOf({ ...FINISHED, status: 'Cancelled', reason: 'Covered' }));
  expect(parseDrainCompleted(detail)).toEqual({ ok: true, value: undefined });
});

it('repair reads an answer of which nothing is known but what it needs', () => {
  expect(parseDrainCompleted({ schemaVersion: 9, id: 'u1.1', status: 'Failed', extra: true })).toEqual({
    ok: true,
    value: { requestId: 'u1.1', answer: { kind: 'failed', message: 'drain Failed: ' } },
  });
  expect(parseDrainCompleted({ status: 'Half' })).toEqual({
    ok: false,
    message:
      'detail.id: is missing, string expected; detail.status: Invalid option: expected one of "Succeeded"|"Failed"|"Cancelled"|"AlreadyDrained"',
  });
});

it('repair asks in the words that the drain knows, field by field', async () => {
  const world = createRepairWorld();
  const policies = [{ conditionType: 'NetworkUnavailable', toleration: '10m' }];
  seedPool(world, ['n1', 'n2', 'n3', 'n4', 'n5'], { policies, actions: [{ type: 'DrainThenTerminate' }] });
  world.setCondition('n1', 'NetworkUnavailable', 'True');
  world.advance(minutes(10));
  await world.look('n1');
  const [request] = world.published;
  const { uid } = world.node('n1').metadata;
  expect(JSON.stringify(request).replaceAll(uid, 'u1')).toBe(
    '{"source":"curfew.repair","detailType":"DrainRequested","detail":{"schemaVersion":1,"id":"u1.1730473968000",' +
      '"node":{"name":"n1","uid":"u1"},"reason":"repair: NetworkUnavailable=True since 2024-11-01T15:02:48Z, ' +
      'tolerated 10m0s, repair is due at 2024-11-01T15:12:48Z"}}',
  );
  expect(parseDrainRequested(request?.detail, undefined)).toMatchObject({ ok: true, value: { nodeUid: uid } });
});
