/** Each invariant notices the mistake that it is there for: functions that go wrong on purpose, in place of the real ones. */
import { describe, expect, it } from 'vitest';
import type { ReconcilerFactory } from '../../runtime/functions.ts';
import { PERMISSIONS, type Permissions } from '../../shared/contract/permissions.ts';
import { RESOURCES } from '../../shared/contract/resources.ts';
import { addDuration, minutes, seconds } from '../../shared/domain/time.ts';
import type { FunctionDeps } from '../../shared/ports/function-deps.ts';
import { GATE, nodeObjects, simulate } from './simulate.ts';
import { objectAt, objectsIn } from '../fakes/objects.ts';

const CLAIM = { type: RESOURCES.NodeClaim, name: 'a' };
const NODE = { type: RESOURCES.Node, name: 'a' };
const SUBJECT = { apiVersion: 'v1', kind: 'Node', name: 'a' };

/** A node that is not ready since the start, tolerated for as long as `toleration` says; its pods are waited for. */
const sick = (toleration: string): string =>
  `${GATE}  objects:\n${nodeObjects('a', 'False', `{ defaultTolerationDuration: ${toleration}, terminationGracePeriod: Inherit }`)}`;

/** The mistakes need more than the functions are granted: the checks must not rely on the permissions. */
const ANYTHING: Permissions = {
  ...PERMISSIONS.repair,
  records: ['repair', 'grace-period'],
  wakes: ['repair', 'grace-period'],
  kubernetes: [
    ...Object.values(RESOURCES).map(({ group, resource }) => ({
      group,
      resource,
      verbs: ['get', 'list', 'create', 'patch', 'delete'] as const,
    })),
    { group: '', resource: 'pods', subresource: 'eviction', verbs: ['create'] },
  ],
};

interface Slips {
  readonly intent?: false;
  readonly secondLook?: false;
  readonly limitsFirst?: false;
  readonly count?: false;
  readonly uid?: false;
  readonly audit?: false;
}

const explain = ({ audit }: FunctionDeps, kind: string, name: string): void =>
  audit.write({ function: 'repair', decision: 'repair', reason: 'OnPurpose', message: 'of a test', kind, name });

/** What a repair does at the first message that it gets, with something left out. */
const repairAtOnce =
  (slips: Slips = {}): ReconcilerFactory =>
  deps => {
    let done = false;
    return async () => {
      if (done) return;
      done = true;
      await repair(deps, slips);
    };
  };

async function repair(
  deps: FunctionDeps,
  { intent, secondLook, limitsFirst, count, uid, audit }: Slips,
): Promise<void> {
  await objectAt(deps.kubernetes, { type: RESOURCES.ConfigMap, namespace: 'curfew', name: 'curfew-config' });
  const node = await objectAt(deps.kubernetes, NODE);
  const subject = { ...SUBJECT, ...(node && { uid: node.metadata.uid }) };
  if (intent !== false) await deps.records.put({ owner: 'repair', id: 'node/x', subject, state: {} }, 0);
  if (secondLook !== false) await objectAt(deps.kubernetes, NODE);
  if (limitsFirst === false) await deps.records.put({ owner: 'repair', id: 'limits', subject: SUBJECT, state: {} }, 0);
  // A record of settings that are read again is no intent.
  const other = { owner: 'repair', id: 'configuration', subject: { ...SUBJECT, name: 'b' }, state: {} } as const;
  if (intent !== false) await deps.records.put(other, 0);
  await objectAt(deps.kubernetes, { type: RESOURCES.NodePool, name: 'a' });
  await objectsIn(deps.kubernetes, RESOURCES.NodeLifecyclePolicy);
  if (count !== false) {
    await objectsIn(deps.kubernetes, RESOURCES.Node);
    await objectsIn(deps.kubernetes, RESOURCES.NodeClaim);
  }
  const claim = await objectAt(deps.kubernetes, CLAIM);
  await deps.kubernetes.delete(CLAIM, { preconditions: uid === false ? {} : { uid: claim?.metadata.uid ?? '' } });
  if (audit !== false) explain(deps, 'NodeClaim', 'a');
}

/** `I3: what is wrong`, of the first violation of each invariant. */
async function violations(spec: string, reconcilers: Readonly<Record<string, ReconcilerFactory>>): Promise<string[]> {
  const result = await simulate(spec, { reconcilers, permissions: { repair: ANYTHING, 'grace-period': ANYTHING } });
  const firsts = new Map(result.violations.toReversed().map(({ invariant, message }) => [invariant, message]));
  return [...firsts].map(([invariant, message]) => `${invariant}: ${message}`).toReversed();
}

const idle: ReconcilerFactory = () => async () => undefined;
const rogue = (repairs: ReconcilerFactory): Readonly<Record<string, ReconcilerFactory>> => ({ repair: repairs });

describe('a termination', () => {
  it('that is done by the book is no violation', async () => {
    expect(await violations(sick('0s'), rogue(repairAtOnce()))).toEqual([]);
  });

  it.each<[string, string, Slips, RegExp]>([
    ['before the toleration is over', sick('10m'), {}, /^I3: .* is tolerated until 2024-11-01T15:10:00/],
    [
      'of a healthy node',
      sick('0s').replace('"False"', '"True"'),
      {},
      /^I3: .* must not be repaired: the node is healthy/,
    ],
    ['with the gate closed', sick('0s').replace('true', 'false'), {}, /^I3: .* the gate is closed/],
    [
      'without a repair block',
      sick('0s').replace(/spec: \{ repair.*\} \}/, 'spec: {} }'),
      {},
      /^I3: .* no repair block applies/,
    ],
    [
      'in a pool that has too many unhealthy nodes',
      sick('0s, maxUnhealthy: 0'),
      {},
      /^I3: .* 1 of 1 are unhealthy, 0 may be/,
    ],
    [
      'of a vetoed node in a pool that counts flapping',
      sick('0s, flapping: { window: 1h, unhealthyFor: 30m }').replace(
        'name: a }, spec: { repair',
        'name: a, annotations: { curfew.dev/do-not-repair: "true" } }, spec: { repair',
      ),
      {},
      /^I3: .* must not be repaired: it is vetoed/,
    ],
    [
      'before the toleration is over in a pool that gives up futile repairs',
      sick('10m, futility: { repairs: 3, window: 6h }'),
      {},
      /^I3: .* is tolerated until 2024-11-01T15:10:00/,
    ],
    ['without a second look', sick('0s'), { secondLook: false }, /^I3: .* has not looked at the node again/],
    ['looked at before the limits', sick('0s'), { limitsFirst: false }, /^I3: .* has not looked at the node again/],
    ['without counting the unhealthy', sick('0s'), { count: false }, /^I3: .* has not counted/],
    ['without an intent', sick('0s'), { intent: false }, /^I4: .* without having recorded its intent/],
    ['without the UID', sick('0s'), { uid: false }, /^I10: .* without its UID/],
    ['without a word', sick('0s'), { audit: false }, /^I9: repair deleted NodeClaim a .* and no audit line says so/],
  ])('%s is one', async (_, spec, slips, message) => {
    expect(await violations(spec, rogue(repairAtOnce(slips)))).toContainEqual(expect.stringMatching(message));
  });

  it('of another node’s NodeClaim is one', async () => {
    const other = sick('0s').replace(
      'providerID: "aws:///us-west-2a/i-a" }\n      status: { cond',
      'providerID: "aws:///us-west-2a/i-b" }\n      status: { cond',
    );
    expect(await violations(other, rogue(repairAtOnce()))).toContainEqual(
      expect.stringMatching(/^I3: .*the run has not looked at its node/),
    );
  });

  it('that is repeated is one', async () => {
    const twice: ReconcilerFactory = deps => async () => {
      await repair(deps, {});
      await repair(deps, {});
    };
    const held = sick('0s').replace('karpenter.sh/termination', 'example.com/hold');
    expect(await violations(held, rogue(twice))).toContainEqual(expect.stringMatching(/^I4: .* a second time/));
  });

  it('although something could not be read is one', async () => {
    const spec = `${sick('0s')}  steps:\n    - { at: 0s, outage: { of: store, for: 1m } }\n`;
    const unread: ReconcilerFactory = deps => async () => {
      await deps.records.get({ owner: 'repair', id: 'node/x' }).catch(() => undefined);
      await repair(
        {
          ...deps,
          records: { ...deps.records, put: async record => ({ kind: 'written', record: { ...record, version: 1 } }) },
        },
        {},
      );
    };
    expect(await violations(spec, rogue(unread))).toContainEqual(
      expect.stringMatching(/^I6: .* could not read records get/),
    );
  });

  it('that never comes is one', async () => {
    expect(await violations(sick('10m'), rogue(idle))).toEqual([
      expect.stringMatching(/^I5: Node a .* could be repaired since 2024-11-01T15:10:00.000Z and is not/),
    ]);
  });
});

describe('a timer', () => {
  it('that is lost is a violation', async () => {
    const forgetful: ReconcilerFactory = deps => async message => {
      if (message.kind !== 'clusterEvent') return;
      const nextWakeTime = addDuration(deps.clock.now(), minutes(10));
      await deps.records.put({ owner: 'repair', id: 'node/x', subject: SUBJECT, state: {}, nextWakeTime }, 0);
    };
    const others = { finalizer: idle, drain: idle, 'grace-period': idle };
    const reconcilers = { ...others, repair: forgetful, timer: idle };
    expect(await violations(sick('5h'), reconcilers)).toEqual([
      expect.stringMatching(/^I5: record repair\/node\/x should have been woken at 2024-11-01T15:10:00/),
    ]);
  });
});

describe('a function', () => {
  it('that fails with a bug is a violation', async () => {
    const broken: ReconcilerFactory = () => async () => {
      throw new TypeError('x is not a function');
    };
    expect(await violations(sick('5h'), rogue(broken))).toContainEqual(
      expect.stringMatching(/^I8: .* TypeError: x is not/),
    );
  });

  it('that goes round in circles is a violation', async () => {
    const circling: ReconcilerFactory = deps => async () => {
      const wakeTime = deps.clock.now();
      const wakeUp = { owner: 'repair', subject: SUBJECT, wakeTime } as const;
      await deps.clock.sleep(seconds(0.02));
      await deps.wakeUps.send([{ wakeUp, delay: seconds(0) }]);
    };
    const result = await violations(`  duration: 70s\n${sick('5h')}`, rogue(circling));
    expect(result).toContainEqual(expect.stringMatching(/^I8: \d+ runs in one minute/));
  });

  it('that keeps time from going on is a violation', async () => {
    const standing: ReconcilerFactory = deps => async () => {
      const wakeUp = { owner: 'repair', subject: SUBJECT, wakeTime: deps.clock.now() } as const;
      await deps.wakeUps.send([{ wakeUp, delay: seconds(0) }]);
    };
    expect(await violations(sick('5h'), rogue(standing))).toContainEqual(
      expect.stringMatching(/^I8: .* time stands still/),
    );
  });

  it('that takes away what is not its own is a violation', async () => {
    const meddling: ReconcilerFactory = deps => async () => {
      const node = await objectAt(deps.kubernetes, NODE);
      const body = { metadata: { uid: node?.metadata.uid, labels: { 'karpenter.sh/nodepool': null } } };
      await deps.kubernetes.patch(NODE, { type: 'merge', body });
    };
    expect(await violations(sick('5h'), rogue(meddling))).toContainEqual(
      expect.stringMatching(/^I7: repair takes away label karpenter.sh\/nodepool of Node a .* set to a/),
    );
  });

  it('that takes back what it had put there itself is none', async () => {
    const tidy: ReconcilerFactory = deps => async () => {
      for (const value of ['1', '2', null]) {
        const node = await objectAt(deps.kubernetes, NODE);
        const body = { metadata: { uid: node?.metadata.uid, annotations: { 'example.com/a': value } } };
        await deps.kubernetes.patch(NODE, { type: 'merge', body });
      }
    };
    expect(await violations(sick('5h'), rogue(tidy))).toEqual([]);
  });

  it('that patches a node without saying which is a violation', async () => {
    const careless: ReconcilerFactory = deps => async () => {
      await deps.kubernetes.patch(NODE, { type: 'merge', body: { metadata: { annotations: { a: 'b' } } } });
    };
    expect(await violations(sick('5h'), rogue(careless))).toContainEqual(
      expect.stringMatching(/^I10: repair patches nodes a/),
    );
  });
});

describe('a pod', () => {
  const pod = (annotation: string): string => `  objects:
    - { apiVersion: v1, kind: Node, metadata: { name: a } }
    - { apiVersion: v1, kind: Pod, metadata: { namespace: prod, name: web, annotations: { karpenter.sh/do-not-disrupt: "${annotation}" } }, spec: { nodeName: a } }
`;
  const POD = { type: RESOURCES.Pod, namespace: 'prod', name: 'web' };
  const evicting =
    (verb: 'evict' | 'delete'): ReconcilerFactory =>
    deps =>
    async message => {
      if (message.kind !== 'clusterEvent' || message.event.subject.kind !== 'Pod') return;
      await deps.records.put({ owner: 'grace-period', id: 'x', subject: SUBJECT, state: {} }, 0);
      const seen = await objectAt(deps.kubernetes, POD);
      if (seen === undefined) return;
      await deps.kubernetes[verb](POD, { preconditions: { uid: seen.metadata.uid } });
      explain(deps, 'Pod', 'web');
    };

  it.each(['true', '10m', 'never', ''])('that is protected by %j must not be evicted', async annotation => {
    const found = await violations(pod(annotation), { 'grace-period': evicting('evict') });
    expect(found).toContainEqual(expect.stringMatching(/^I2: grace-period evicts Pod prod\/web/));
  });

  it('whose protection is over may be evicted', async () => {
    const over = pod('10m').replace('name: web,', 'name: web, creationTimestamp: "2024-11-01T14:50:00Z",');
    expect(await violations(over, { 'grace-period': evicting('evict') })).toEqual([]);
  });

  it('may be deleted when its NodeClaim’s deadline demands it', async () => {
    const claim = `    - apiVersion: karpenter.sh/v1
      kind: NodeClaim
      metadata: { name: a, deletionTimestamp: "2024-11-01T14:50:00Z", finalizers: [example.com/hold] }
      spec: { terminationGracePeriod: 10m }
      status: { nodeName: a }
`;
    expect(await violations(pod('true') + claim, { 'grace-period': evicting('delete') })).toEqual([]);
    const later = claim.replace('10m', '1h');
    expect(await violations(pod('true') + later, { 'grace-period': evicting('delete') })).toHaveLength(1);
  });

  it('that is protected for a time keeps its node held', async () => {
    expect(await violations(pod('30m'), { 'grace-period': idle })).toEqual([
      expect.stringMatching(/^I5: Node a .* and is not held/),
    ]);
  });

  const lettingGo: ReconcilerFactory = deps => async message => {
    if (message.kind !== 'clusterEvent' || message.event.subject.kind !== 'Pod') return;
    await objectsIn(deps.kubernetes, RESOURCES.Pod, { fieldSelector: 'spec.nodeName=a' });
    for (const value of ['true', null]) {
      const node = await objectAt(deps.kubernetes, NODE);
      const body = { metadata: { uid: node?.metadata.uid, annotations: { 'karpenter.sh/do-not-disrupt': value } } };
      await deps.kubernetes.patch(NODE, { type: 'merge', body });
    }
  };

  it('that is protected for a time must not lose its node’s hold', async () => {
    expect(await violations(pod('30m'), { 'grace-period': lettingGo })).toContainEqual(
      expect.stringMatching(/^I2: grace-period lets node a go: Pod prod\/web .* until 2024-11-01T15:30:00/),
    );
  });

  it('that is gone leaves no node held', async () => {
    const holding: ReconcilerFactory = deps => async () => {
      const node = await objectAt(deps.kubernetes, NODE);
      const annotations = { 'karpenter.sh/do-not-disrupt': 'true', 'curfew.dev/protected-until': 'x' };
      await deps.kubernetes.patch(NODE, {
        type: 'merge',
        body: { metadata: { uid: node?.metadata.uid, annotations } },
      });
    };
    const gone = `${pod('30m')}  steps:\n    - { at: 1m, delete: { resource: pods, namespace: prod, name: web } }\n`;
    expect(await violations(gone, { 'grace-period': holding })).toEqual([
      expect.stringMatching(/^I5: Node a .* is held for no pod/),
    ]);
  });
});
