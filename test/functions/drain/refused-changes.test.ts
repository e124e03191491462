/** Changes of a drain's Node that are refused: tried on the schedule, said once an hour, and nothing is evicted before the cordon. */
import { describe, expect, it } from 'vitest';
import { createReconciler } from '../../../functions/drain/route.ts';
import { createInProcessKubernetesApi } from '../../../runtime/in-process/kubernetes-api.ts';
import { createMemoryRecordStore } from '../../../runtime/memory/record-store.ts';
import { portsWithin } from '../../../runtime/permissions/ports.ts';
import { RESOURCES } from '../../../shared/contract/resources.ts';
import type { ObjectPatch, WriteOutcome } from '../../../shared/ports/kubernetes-api.ts';
import { addDuration, durationBetween, minutes, toEpochMs } from '../../../shared/domain/time.ts';
import { RetryableError, TerminalError } from '../../../shared/errors.ts';
import { createCluster } from '../../../simulator/world.ts';
import { deployedIdentity } from '../../fakes/deployed-identity.ts';
import { clusterEvent } from '../../builders/cluster-event.ts';

const START = toEpochMs(Date.UTC(2024, 10, 1, 15));
const NODE = { type: RESOURCES.Node, name: 'n1' };
const SUBJECT = { kind: 'Node', apiVersion: 'v1', name: 'n1', uid: 'u1' } as const;

type Refuse = (patch: ObjectPatch, subresource: string | undefined) => WriteOutcome | undefined;

/** A person asks for a drain of a Node of which some patches are refused; it is looked at every minute, whatever its timer says. */
function refusedDrain(refuse: Refuse) {
  let now = START;
  let isRefused = true;
  const core = createCluster({ now: () => now });
  core.seed({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { namespace: 'curfew', name: 'curfew-config' },
    data: { 'config.toml': '[[userNamespaces]]\nname = "*"\nmode = "Immediate"\n' },
  });
  core.seed({
    apiVersion: 'v1',
    kind: 'Node',
    metadata: { name: 'n1', uid: 'u1', annotations: { 'curfew.dev/drain-requested': 'm1' } },
  });
  core.seed({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'web-0', namespace: 'default', uid: 'p1' },
    spec: { nodeName: 'n1', containers: [{ name: 'main', image: 'main' }], terminationGracePeriodSeconds: 0 },
    status: { phase: 'Running' },
  });
  const kubernetes = createInProcessKubernetesApi(core, 'curfew:drain');
  const records = createMemoryRecordStore();
  const tries: number[] = [];
  const said: string[] = [];
  let evictions = 0;
  const reconcile = createReconciler(
    portsWithin(
      {
        cluster: 'test',
        kubernetes: {
          ...kubernetes,
          async patch(ref, patch, options) {
            const outcome = (): WriteOutcome | undefined => {
              const refused = refuse(patch, options?.subresource);
              if (refused !== undefined) tries.push(durationBetween(START, now) / minutes(1));
              return refused;
            };
            try {
              const refused = isRefused ? outcome() : undefined;
              return refused ?? (await kubernetes.patch(ref, patch, options));
            } catch (error) {
              if (error instanceof RetryableError || error instanceof TerminalError) {
                tries.push(durationBetween(START, now) / minutes(1));
              }
              throw error;
            }
          },
          async evict(ref, options) {
            evictions += 1;
            return kubernetes.evict(ref, options);
          },
        },
        records,
        wakeUps: { send: async () => undefined },
        bus: { publish: async entries => entries.map(() => ({ kind: 'published' })) },
        events: { record: async ({ reason, message }) => void said.push(`${reason} ${message}`) },
        audit: { write: () => undefined },
        metrics: { count: () => undefined, milliseconds: () => undefined },
        clock: { now: () => now, sleep: () => Promise.reject(new Error('nothing sleeps here')) },
      },
      deployedIdentity('drain'),
    ),
  );
  const look = async (): Promise<unknown> => {
    const event = clusterEvent({ subject: SUBJECT, changed: ['drain'], hints: { nodeName: 'n1' } });
    const thrown = await reconcile(event).then(
      () => undefined,
      (error: unknown) => error,
    );
    now = addDuration(now, minutes(1));
    return thrown;
  };
  return {
    core,
    tries,
    evictions: () => evictions,
    refusalsSaid: () => said.filter(text => text.startsWith('NodeChangeRefused')),
    nextTime: async () => (await records.get({ owner: 'drain', id: 'node/u1' }))?.nextWakeTime,
    /** A message of the bus; what it is given back to the queue with. */
    hear: (fields: Readonly<Record<string, unknown>>): Promise<unknown> => {
      const detail = { nodeName: 'n1', agent: 'm', checkName: 'other', ...fields };
      const sent = { id: 'b1', time: now, receivedTime: now, source: 'nvsentinel', detailType: 'HealthEvent' };
      return reconcile({ kind: 'busEvent', ...sent, detail }).then(
        () => undefined,
        (error: unknown) => error,
      );
    },
    async lookFor(count: number): Promise<readonly unknown[]> {
      const thrown: unknown[] = [];
      for (let minute = 0; minute < count; minute++) thrown.push(await look());
      return thrown;
    },
    allow() {
      isRefused = false;
    },
  };
}

const isCordon = (patch: ObjectPatch): boolean => patch.type === 'merge' && 'spec' in patch.body;
const cordonFails =
  (error: () => Error): Refuse =>
  patch => {
    if (!isCordon(patch)) return undefined;
    throw error();
  };

describe('a cordon that is refused', () => {
  it('is tried after 1, 2, 4 … 60 minutes, said once an hour, and nothing is evicted meanwhile', async () => {
    const drain = refusedDrain(cordonFails(() => new TerminalError('Forbidden', 'a policy says no')));
    await drain.lookFor(4 * 60);
    expect(drain.tries).toEqual([0, 1, 3, 7, 15, 31, 63, 123, 183]);
    expect(drain.refusalsSaid()).toHaveLength(4);
    expect(drain.evictions()).toBe(0);
  });

  it('is tried every minute where the permission is missing for all Nodes', async () => {
    const permission = 'cannot patch resource "nodes" in API group ""';
    const message = `nodes "n1" is forbidden: User "u" ${permission} at the cluster scope`;
    const drain = refusedDrain(cordonFails(() => new RetryableError(message, { reason: 'Forbidden', permission })));
    const thrown = await drain.lookFor(60);
    expect(drain.tries).toEqual(Array.from({ length: 60 }, (_, minute) => minute));
    expect(thrown.every(error => error === undefined)).toBe(true);
    expect(drain.refusalsSaid()).toHaveLength(1);
  });

  it.each([
    ['500', cordonFails(() => new RetryableError('patching nodes n1: 500', { reason: 'InternalError' }))],
    ['429', cordonFails(() => new RetryableError('patching nodes n1: 429', { reason: 'TooManyRequests' }))],
    [
      'a conflict each time',
      (patch: ObjectPatch) => (isCordon(patch) ? ({ kind: 'conflict', message: '' } as const) : undefined),
    ],
  ])(
    'goes back to the queue for five minutes, then it is said, and tried every five minutes: %s',
    async (_, refuse) => {
      const drain = refusedDrain(refuse);
      const thrown = await drain.lookFor(65);
      // One run more may go back, whose turns were used up by conflicts.
      expect([5, 6]).toContain(thrown.indexOf(undefined));
      const lasting = [...new Set(drain.tries)].filter(minute => minute >= 5);
      expect(lasting).toEqual(Array.from({ length: 12 }, (_each, index) => 5 * (index + 1)));
      expect(drain.refusalsSaid()).toHaveLength(1);
      expect(drain.evictions()).toBe(0);
    },
  );

  it.each([
    ['a recovery of what was never there', { id: 'r1', isHealthy: true }],
    ['a fault that joins the drain', { id: 'e2', isFatal: true }],
  ])('gives no other message back to the queue: %s', async (_, detail) => {
    const drain = refusedDrain(cordonFails(() => new TerminalError('Forbidden', 'a policy says no')));
    await drain.lookFor(2);
    expect(await drain.hear(detail)).toBeUndefined();
  });

  it('is made at once when somebody changes the Node, and the drain ends', async () => {
    const drain = refusedDrain(cordonFails(() => new TerminalError('Forbidden', 'a policy says no')));
    await drain.lookFor(40);
    drain.allow();
    drain.core.patch(NODE, { type: 'merge', body: { metadata: { labels: { frozen: 'no' } } } });
    await drain.lookFor(1);
    expect(drain.evictions()).toBe(1);
  });
});

it('does not wait for a condition that must not be written', async () => {
  const drain = refusedDrain((_, subresource) => {
    if (subresource !== 'status') return undefined;
    throw new TerminalError('Forbidden', 'a policy says no');
  });
  await drain.lookFor(1);
  expect(drain.evictions()).toBe(1);
  expect(drain.refusalsSaid()).toEqual([]);
});

describe('what is left on a Node of a drain without a record', () => {
  const SCHEDULE = [0, 1, 3, 7, 15, 31, 63, 123];
  const denied: Refuse = () => {
    throw new TerminalError('Forbidden', 'a policy says no');
  };
  const withoutRequest = { 'curfew.dev/drain-requested': null };

  it('is taken off after 1, 2, 4 … 60 minutes', async () => {
    const drain = refusedDrain(denied);
    const underWay = '{"id":"m1","since":"2024-11-01T15:00:00Z"}';
    const annotations = { ...withoutRequest, 'curfew.dev/drain': underWay, 'curfew.dev/watch-pods': 'drain' };
    drain.core.patch(NODE, { type: 'merge', body: { metadata: { annotations } } });
    const thrown = await drain.lookFor(3 * 60);
    expect(drain.tries).toEqual(SCHEDULE);
    expect(thrown.every(error => error === undefined)).toBe(true);
    expect(drain.refusalsSaid()).toHaveLength(3);
    expect(await drain.nextTime()).toBeDefined();
    drain.allow();
    await drain.lookFor(5);
    expect(await drain.nextTime()).toBeUndefined();
  });

  it('is taken off so if it is a condition', async () => {
    const drain = refusedDrain(denied);
    drain.core.patch(NODE, { type: 'merge', body: { metadata: { annotations: withoutRequest } } });
    const condition = { type: 'DrainInProgress', status: 'True', reason: 'CurfewDraining' };
    drain.core.patch(
      NODE,
      { type: 'strategic', body: { status: { conditions: [condition] } } },
      { subresource: 'status' },
    );
    await drain.lookFor(3 * 60);
    expect(drain.tries).toEqual(SCHEDULE);
  });
});
