/** What EC2 refuses for good, such as a providerID that is none of its own: said on the NodeClaim, held, and no letter is dead. */
import { describe, expect, it } from 'vitest';
import { createReconciler } from '../../../../functions/finalizer/route.ts';
import { createInProcessKubernetesApi } from '../../../../runtime/in-process/kubernetes-api.ts';
import { createMemoryRecordStore } from '../../../../runtime/memory/record-store.ts';
import { portsWithin } from '../../../../runtime/permissions/ports.ts';
import { RESOURCES } from '../../../../shared/contract/resources.ts';
import {
  addDuration,
  durationBetween,
  minutes,
  seconds,
  toEpochMs,
  type DurationMs,
} from '../../../../shared/domain/time.ts';
import { RetryableError, TerminalError } from '../../../../shared/errors.ts';
import type { InstanceOutcome } from '../../../../shared/ports/instances.ts';
import { createCluster } from '../../../../simulator/world.ts';
import { clusterEvent } from '../../../builders/cluster-event.ts';
import { deployedIdentity } from '../../../fakes/deployed-identity.ts';

const START = toEpochMs(Date.UTC(2024, 10, 1, 15));
const CLAIM = { type: RESOURCES.NodeClaim, name: 'nc1' };
const PROVIDER_ID = 'fargate://i-0abc';

/** An instance that runs, and what EC2 answers to each call that is to end it. */
type Endings = readonly (() => Promise<InstanceOutcome>)[];

function createWorld(gracePeriod?: string, endings?: Endings) {
  const calls: DurationMs[] = [];
  const end = async (): Promise<InstanceOutcome> => {
    calls.push(durationBetween(START, now));
    return (await endings?.[calls.length - 1]?.()) ?? { kind: 'ok' };
  };
  let now = START;
  let state: 'running' | 'terminated' = 'running';
  let isBlind = false;
  const core = createCluster({ now: () => now });
  const termination = {
    finalizerName: 'example.com/custom',
    ...(gracePeriod && { terminationGracePeriod: gracePeriod }),
  };
  core.seed({
    apiVersion: 'curfew.dev/v1alpha1',
    kind: 'NodeLifecyclePolicy',
    metadata: { name: 'all' },
    spec: { nodePoolSelector: {}, termination },
  });
  core.seed({ apiVersion: 'karpenter.sh/v1', kind: 'NodePool', metadata: { name: 'default' }, spec: {} });
  core.seed({
    apiVersion: 'karpenter.sh/v1',
    kind: 'NodeClaim',
    metadata: {
      name: 'nc1',
      uid: 'c1',
      labels: { 'karpenter.sh/nodepool': 'default' },
      finalizers: ['example.com/custom'],
      deletionTimestamp: '2024-11-01T15:00:00Z',
    },
    status: { providerID: PROVIDER_ID },
  });
  const refused = (doing: string): Promise<never> =>
    Promise.reject(
      new TerminalError('InvalidProviderID', `${doing}: not the providerID of an EC2 instance: ${PROVIDER_ID}`),
    );
  const events: string[] = [];
  const lines: string[] = [];
  const records = createMemoryRecordStore();
  const deps: Parameters<typeof createReconciler>[0] = {
    kubernetes: createInProcessKubernetesApi(core, 'curfew:finalizer'),
    records,
    wakeUps: { send: async () => undefined },
    instances: {
      describe: async () => {
        if (isBlind) throw new RetryableError('EC2 does not answer');
        return endings === undefined ? refused('describing') : { state };
      },
      terminate: endings === undefined ? () => refused('terminating') : end,
      reboot: () => refused('rebooting'),
      terminateInAutoScalingGroup: () => refused('terminating'),
      checkOf: async () => undefined,
      list: async () => [],
    },
    hooks: { invoke: async () => ({ kind: 'succeeded' }) },
    events: {
      record: async ({ reason, about }) => {
        events.push(`${reason} ${about.kind}`);
      },
    },
    audit: { write: ({ reason }) => void lines.push(reason) },
    metrics: { count: () => undefined, milliseconds: () => undefined },
    clock: { now: () => now, sleep: () => Promise.reject(new Error('nothing sleeps here')) },
  };
  const reconcile = createReconciler(portsWithin(deps, deployedIdentity('finalizer')));
  return {
    events,
    lines,
    calls,
    finalizers: () => core.get(CLAIM).metadata.finalizers,
    isGone: () => core.list(RESOURCES.NodeClaim).items.length === 0,
    endByItself() {
      state = 'terminated';
    },
    /** EC2 does not answer any more. */
    blind() {
      isBlind = true;
    },
    /** Somebody takes the finalizer off by hand. */
    strip() {
      core.patch(CLAIM, { type: 'merge', body: { metadata: { finalizers: null } } }, { user: 'somebody' });
    },
    records: () => records.all().map(({ id }) => id),
    async look(after?: DurationMs) {
      if (after !== undefined) now = addDuration(now, after);
      const subject = { kind: 'NodeClaim', apiVersion: 'karpenter.sh/v1', name: 'nc1', uid: 'c1' } as const;
      await reconcile(clusterEvent({ subject, changed: ['deletionTimestamp'] }));
    },
  };
}

describe('an instance that EC2 refuses to look at', () => {
  it('is one line and, once an hour, an Event on its NodeClaim, which keeps our finalizer (I1, I6)', async () => {
    const world = createWorld();
    for (let minute = 0; minute <= 2 * 60; minute++) await world.look(minutes(1));
    const failed = 'InstanceTerminationFailed NodeClaim';
    expect(world.events).toEqual(['TerminationStarted NodeClaim', failed, failed]);
    expect(world.lines).toEqual(['TerminationStarted', 'InstanceTerminationFailed']);
    expect(world.finalizers()).toEqual(['example.com/custom']);
  });

  it('is held past the deadline, and is one line more', async () => {
    const world = createWorld('10m');
    await world.look();
    await world.look(minutes(11));
    for (let minute = 0; minute < 90; minute++) await world.look(minutes(1));
    expect(world.events.filter(event => event === 'InstanceTerminationFailed NodeClaim')).toHaveLength(2);
    expect(world.lines.filter(reason => reason === 'InstanceTerminationFailed')).toHaveLength(1);
    expect(world.events).toContain('TerminationForced NodeClaim');
    expect(world.finalizers()).toEqual(['example.com/custom']);
  });

  it('is a possible orphan when somebody lets its NodeClaim go: nothing says that it has ended (I6)', async () => {
    const world = createWorld();
    await world.look();
    world.strip();
    await world.look(minutes(1));
    await world.look(minutes(1));
    expect(world.events.at(-1)).toBe('PossibleOrphan NodeClaim');
    expect(world.records()).toEqual([`instance/${PROVIDER_ID}`]);
  });
});

describe('an instance that EC2 does not end', () => {
  const refused = async (): Promise<InstanceOutcome> => ({
    kind: 'refused',
    reason: 'OperationNotPermitted',
    message: 'it is protected from termination',
  });
  const throttled = () => Promise.reject(new RetryableError('slow down', { reason: 'RequestLimitExceeded' }));
  const unanswered = () => Promise.reject(new RetryableError('no answer', { outcomeUnknown: true }));

  it('and refuses to: it is asked again after 1, 2, 4 … 60 minutes, and that is said once an hour (I5, I11)', async () => {
    const world = createWorld(
      undefined,
      Array.from({ length: 20 }, () => refused),
    );
    for (let i = 0; i < 4 * 60; i++) await world.look(minutes(1));
    expect(world.calls.map(call => call / 60_000)).toEqual([1, 2, 4, 8, 16, 32, 64, 124, 184]);
    expect(world.events.filter(event => event.startsWith('InstanceTerminationFailed'))).toHaveLength(4);
    expect(world.lines.filter(reason => reason === 'InstanceTerminationFailed')).toHaveLength(1);
    expect(world.finalizers()).toEqual(['example.com/custom']);
  });

  it('for a permission is missing: it is asked every minute', async () => {
    const forbidden = () =>
      Promise.reject(new RetryableError('not allowed', { reason: 'UnauthorizedOperation', isForbidden: true }));
    const world = createWorld(
      undefined,
      Array.from({ length: 20 }, () => forbidden),
    );
    for (let i = 0; i < 60; i++) await world.look(seconds(10));
    expect(world.calls.map(call => call / 60_000)).toEqual(Array.from({ length: 10 }, (_, i) => i + 1 / 6));
    expect(world.events.filter(event => event.startsWith('InstanceTerminationFailed'))).toHaveLength(1);
  });

  it('and then cannot be looked at: that is said, too, once', async () => {
    const world = createWorld(
      undefined,
      Array.from({ length: 20 }, () => refused),
    );
    await world.look(minutes(1));
    world.blind();
    await expect(world.look(seconds(10))).rejects.toThrow('EC2 does not answer');
    await expect(world.look(seconds(10))).rejects.toThrow('EC2 does not answer');
    expect(world.lines.filter(reason => reason === 'InstanceTerminationFailed')).toHaveLength(2);
  });

  it('while a call is refused is looked at all the same: it may end by itself', async () => {
    const world = createWorld(
      undefined,
      Array.from({ length: 20 }, () => refused),
    );
    await world.look(minutes(1));
    world.endByItself();
    await world.look(minutes(1));
    await world.look(minutes(1));
    expect(world.calls).toHaveLength(1);
    expect(world.isGone()).toBe(true);
  });

  it('and is throttled: it is asked again after 5 s, 10 s, 20 s … 60 s, for five minutes', async () => {
    const world = createWorld(
      undefined,
      Array.from({ length: 6 }, () => throttled),
    );
    for (let i = 0; i < 200; i++) await world.look(seconds(1));
    expect(world.calls.map(call => call / 1000)).toEqual([1, 6, 16, 36, 76, 136, 196]);
    expect(world.lines.filter(reason => reason === 'InstanceTerminationFailed')).toHaveLength(1);
    expect(world.lines.filter(reason => reason === 'InstanceTerminating')).toHaveLength(1);
    expect(world.finalizers()).toEqual(['example.com/custom']);
  });

  it('and does not answer: it is looked at, and not asked again while the call may act (I4)', async () => {
    const world = createWorld(undefined, [unanswered]);
    await expect(world.look(seconds(1))).rejects.toThrow('no answer');
    for (let i = 0; i < 70; i++) await world.look(seconds(1));
    expect(world.calls.map(call => call / 1000)).toEqual([1, 61]);
  });
});
