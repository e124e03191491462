/** Mistakes that the simulator found, each as the shortest history that shows it. */
import { describe, expect, it } from 'vitest';
import type { InboxMessage } from '../../shared/contract/inbox-message.ts';
import { createReconciler as createFinalizer } from '../../functions/finalizer/route.ts';
import { createReconciler } from '../../functions/repair/route.ts';
import type { ReconcilerFactory } from '../../runtime/functions.ts';
import { toIsoText } from '../../shared/domain/time.ts';
import { RetryableError, TerminalError } from '../../shared/errors.ts';
import { methodsOf } from '../mutants/mutant.ts';
import { complaints, GATE, nodeObjects, simulate } from './simulate.ts';

const SICK = `${GATE}  objects:\n${nodeObjects('a')}`;

describe('repair', () => {
  it('does not act on attempts that another run has changed in between', async () => {
    // Another run writes the node's record just before this one has its intent in it: this one must look again.
    let interfered = false;
    const overtaken: ReconcilerFactory = deps =>
      createReconciler({
        ...deps,
        records: {
          get: key => deps.records.get(key),
          delete: (key, version) => deps.records.delete(key, version),
          async put(record, version) {
            const isIntent = JSON.stringify(record.state).includes('"phase":"intended"');
            if (!interfered && isIntent) {
              interfered = true;
              const { attempt: _, ...state } = record.state;
              await deps.records.put({ ...record, state }, version);
            }
            return await deps.records.put(record, version);
          },
        },
      });
    const expectation = '  expect:\n    - { write: { verb: delete, resource: nodeclaims }, times: 1 }\n';
    const result = await simulate(SICK + expectation, { reconcilers: { repair: overtaken } });
    expect(interfered).toBe(true);
    expect(result.violations).toEqual([]);
    expect(complaints(result)).toEqual([]);
  });

  it('does not wake a blocked pool once for each node that a starting forwarder tells of', async () => {
    // Each of n nodes woke all unhealthy ones: in a pool of a thousand, 250 of them unhealthy, 80,000 messages at every start.
    const nodes = Array.from({ length: 40 }, (_, index) => nodeObjects(`n${index}`, index < 12 ? 'False' : 'True'));
    const onePool = nodes.join('').replaceAll(/nodepool: n\d+/g, 'nodepool: n0');
    const wakeUps = new Map<string, number>();
    const counting: ReconcilerFactory = deps => {
      const reconcile = createReconciler(deps);
      return async message => {
        const minute = toIsoText(deps.clock.now()).slice(11, 16);
        if (message.kind === 'wakeUp') wakeUps.set(minute, (wakeUps.get(minute) ?? 0) + 1);
        await reconcile(message);
      };
    };
    const steps = '  steps:\n    - { at: 42m, restart: forwarder }\n';
    await simulate(`${GATE}  objects:\n${onePool}${steps}`, { reconcilers: { repair: counting } });
    // All of them ask for one pass, and those that come meanwhile share the next.
    expect(wakeUps.get('15:42')).toBeGreaterThan(0);
    expect(wakeUps.get('15:42')).toBeLessThan(5);
    // Nor later: nothing changes in the minutes before the next pass.
    expect([wakeUps.get('15:43') ?? 0, wakeUps.get('15:44') ?? 0].every(count => count < 5)).toBe(true);
  });
});

/** A finalizer whose first run that writes a record with this text in it ends with that write. */
function diesAfterWriting(text: string): { readonly dying: ReconcilerFactory; died(): boolean } {
  let died = false;
  const dying: ReconcilerFactory = deps => async message => {
    let isDead = false;
    const live = (): void => {
      if (isDead) throw new RetryableError('the run has ended');
    };
    await createFinalizer({
      ...deps,
      audit: {
        write(record) {
          live();
          deps.audit.write(record);
        },
      },
      kubernetes: {
        ...methodsOf(deps.kubernetes),
        async get(ref) {
          live();
          return await deps.kubernetes.get(ref);
        },
      },
      records: {
        get: key => deps.records.get(key),
        delete: (key, version) => deps.records.delete(key, version),
        async put(record, version) {
          live();
          const outcome = await deps.records.put(record, version);
          if (!died && JSON.stringify(record.state).includes(text)) died = isDead = true;
          return outcome;
        },
      },
    })(message);
  };
  return { dying, died: () => died };
}

describe('the finalizer', () => {
  it('says the end of a termination whose release got no answer, while somebody else holds the NodeClaim', async () => {
    // The next run saw that nothing of ours was left to do, and closed its record in silence (I9).
    let released = 0;
    const unanswered: ReconcilerFactory = deps =>
      createFinalizer({
        ...deps,
        kubernetes: {
          ...methodsOf(deps.kubernetes),
          async patch(ref, patch, options) {
            const outcome = await deps.kubernetes.patch(ref, patch, options);
            const isRelease = JSON.stringify(patch.body).includes('"finalizers":["example.com/hold"]');
            if (ref.type.resource !== 'nodeclaims' || !isRelease) return outcome;
            released += 1;
            throw new RetryableError('connection reset', { outcomeUnknown: true });
          },
        },
      });
    const spec = `  objects:
    - apiVersion: karpenter.sh/v1
      kind: NodeClaim
      metadata: { name: a-claim, finalizers: [example.com/hold, curfew.dev/termination] }
      status: { nodeName: a, providerID: "aws:///us-west-2a/i-a" }
    - { apiVersion: v1, kind: Node, metadata: { name: a }, spec: { providerID: "aws:///us-west-2a/i-a" } }
  steps:
    - { at: 1m, delete: { resource: nodeclaims, name: a-claim } }
  expect:
    - { after: 1m1s, audit: { function: finalizer, decision: close, reason: FinalizerGone, name: a-claim, details: { nodes: [a] } }, times: 1 }
`;
    const result = await simulate(spec, { reconcilers: { finalizer: unanswered } });
    expect(released).toBe(1);
    expect(result.violations).toEqual([]);
    expect(complaints(result)).toEqual([]);
  });

  it('says a possible orphan whose entry was all that a run which died left', async () => {
    // The entry said that it had been said: nothing was until the next day (I9).
    const { dying, died } = diesAfterWriting('"saidTime"');
    const spec = `  objects:
    - { apiVersion: curfew.dev/v1alpha1, kind: NodeLifecyclePolicy, metadata: { name: all }, spec: { termination: {} } }
    - { apiVersion: karpenter.sh/v1, kind: NodeClaim, metadata: { name: a }, status: { nodeName: a, providerID: "aws:///us-west-2a/i-a" } }
    - { apiVersion: v1, kind: Node, metadata: { name: a }, spec: { providerID: "aws:///us-west-2a/i-a" } }
    - apiVersion: v1
      kind: Pod
      metadata: { name: held, namespace: prod, annotations: { karpenter.sh/do-not-disrupt: "true" } }
      spec: { nodeName: a, containers: [{ name: c, image: i }] }
  steps:
    - { at: 1m, delete: { resource: nodeclaims, name: a } }
    - { at: 2m, patch: { resource: nodeclaims, name: a, merge: { metadata: { finalizers: [] } } } }
  expect:
    - { at: 2m, within: 2m, event: { reason: PossibleOrphan, kind: NodeClaim, name: a } }
    - { at: 2m, within: 2m, audit: { function: finalizer, decision: orphan, name: a } }
`;
    const result = await simulate(spec, { reconcilers: { finalizer: dying } });
    expect(died()).toBe(true);
    expect(result.violations).toEqual([]);
    expect(complaints(result)).toEqual([]);
  });

  it('calls a hook that a run which died had only noted down, however short its deadline is', async () => {
    // The hook ran out of time a minute later, and the termination went on although nobody had called it.
    const { dying, died } = diesAfterWriting('"deregister":{"phase":"intended"');
    const spec = `  objects:
    - apiVersion: curfew.dev/v1alpha1
      kind: NodeLifecyclePolicy
      metadata: { name: all }
      spec: { termination: { hooks: [{ name: deregister, at: before-drain, lambda: { functionName: f }, deadline: 30s }] } }
    - { apiVersion: karpenter.sh/v1, kind: NodeClaim, metadata: { name: a }, status: { nodeName: a, providerID: "aws:///us-west-2a/i-a" } }
    - { apiVersion: v1, kind: Node, metadata: { name: a }, spec: { providerID: "aws:///us-west-2a/i-a" } }
  steps:
    - { at: 1m, delete: { resource: nodeclaims, name: a } }
  expect:
    - { write: { verb: invoke, resource: hooks, name: deregister }, times: 1 }
    - { final: { resource: nodeclaims, name: a, exists: false } }
`;
    const result = await simulate(spec, { reconcilers: { finalizer: dying } });
    expect(died()).toBe(true);
    expect(result.violations).toEqual([]);
    expect(complaints(result)).toEqual([]);
  });

  it.each([
    ['has begun', '"finalizerNames":', 'terminate'],
    ['waits for its pods', '"reported":"Drain', 'wait, reason: FailedDraining'],
    ['has a hook that ran out of time', '"phase":"passed"', 'hookTimedOut'],
    ['is overdue', '"overdue":true', 'overdue'],
    ['is only observed', '"observed":true', 'wouldTerminate'],
  ])('says that a termination %s, whenever the run that found it dies', async (_, text, decision) => {
    // The record said that it was said, and a run that died in between left the deletion of a Node without a line of the audit.
    const { dying, died } = diesAfterWriting(text);
    const hooks =
      '{ name: deregister, at: before-drain, lambda: { functionName: f }, deadline: 30s, onTimeout: Proceed }';
    const spec = `  duration: 7m
  objects:
    - apiVersion: curfew.dev/v1alpha1
      kind: NodeLifecyclePolicy
      metadata: { name: all }
      spec: { mode: ${decision === 'wouldTerminate' ? 'Observe' : 'Enforce'}, termination: { hooks: [${hooks}] } }
    - apiVersion: karpenter.sh/v1
      kind: NodeClaim
      metadata: { name: a, finalizers: [curfew.dev/termination], deletionTimestamp: "${decision === 'overdue' ? '2024-10-31' : '2024-11-01'}T15:00:00Z" }
      status: { nodeName: a, providerID: "aws:///us-west-2a/i-a" }
    - { apiVersion: v1, kind: Node, metadata: { name: a, finalizers: [curfew.dev/termination] }, spec: { providerID: "aws:///us-west-2a/i-a" } }
    - apiVersion: v1
      kind: Pod
      metadata: { name: held, namespace: default, annotations: { karpenter.sh/do-not-disrupt: "true" } }
      spec: { nodeName: a, containers: [{ name: c, image: i }] }
      status: { phase: Running }
  steps:
    - { at: 0s, hook: { name: deregister, result: silent } }
  expect:
    - { audit: { function: finalizer, decision: ${decision}, name: a } }
`;
    const result = await simulate(spec, { reconcilers: { finalizer: dying } });
    expect(died()).toBe(true);
    expect(result.violations).toEqual([]);
    expect(complaints(result)).toEqual([]);
  });
});

describe('an instance that cannot be looked at, and never can', () => {
  it('is not taken for one that ended, at the deadline either', async () => {
    // What the API server refuses is passed over at the deadline: an error of EC2 was, too, and the instance ran on.
    const blind: ReconcilerFactory = deps =>
      createFinalizer({
        ...deps,
        instances: {
          checkOf: (...args) => deps.instances.checkOf(...args),
          list: () => deps.instances.list(),
          terminate: providerID => deps.instances.terminate(providerID),
          reboot: providerID => deps.instances.reboot(providerID),
          terminateInAutoScalingGroup: providerID => deps.instances.terminateInAutoScalingGroup(providerID),
          describe: () =>
            Promise.reject(new TerminalError('InvalidProviderID', 'not the providerID of an EC2 instance')),
        },
      });
    const spec = `  duration: 20m
  objects:
    - { apiVersion: karpenter.sh/v1, kind: NodePool, metadata: { name: default }, spec: { disruption: { customFinalizerName: example.com/custom } } }
    - apiVersion: karpenter.sh/v1
      kind: NodeClaim
      metadata: { name: nc1, labels: { karpenter.sh/nodepool: default } }
      spec: { terminationGracePeriod: 5m }
      status: { providerID: "aws:///us-west-2a/i-0abc", nodeName: n1 }
    - apiVersion: v1
      kind: Node
      metadata: { name: n1, labels: { karpenter.sh/nodepool: default } }
      spec: { providerID: "aws:///us-west-2a/i-0abc" }
      status: { conditions: [{ type: Ready, status: "True", lastTransitionTime: "2024-11-01T15:00:00Z" }] }
  steps:
    - { at: 1m, delete: { resource: nodeclaims, name: nc1 } }
  expect:
    - { final: { resource: nodeclaims, name: nc1, exists: true } }
`;
    const result = await simulate(spec, { reconcilers: { finalizer: blind } });
    expect(complaints(result)).toEqual([]);
  });
});

describe('a FinalizerRule', () => {
  it('goes by the newest report of its watch, whenever an older one arrives', async () => {
    // A report that came late said NotServed of a kind that had been watched for minutes, until the next resync.
    let late: InboxMessage | undefined;
    let cameLate = false;
    const reordering: ReconcilerFactory = deps => {
      const reconcile = createFinalizer(deps);
      return async message => {
        await reconcile(message);
        const state = message.kind === 'clusterEvent' ? message.event.watch?.state : undefined;
        if (state === 'NotServed') late ??= message;
        if (state !== 'Watching' || late === undefined || cameLate) return;
        cameLate = true;
        await reconcile(late);
      };
    };
    const spec = `  duration: 4m
  objects:
    - apiVersion: curfew.dev/v1alpha1
      kind: FinalizerRule
      metadata: { name: buckets }
      spec: { group: example.com, version: v1, kind: Bucket, finalizerName: example.com/bucket, cleanup: { builtin: { name: None } } }
  steps:
    - at: 30s
      apply:
        apiVersion: apiextensions.k8s.io/v1
        kind: CustomResourceDefinition
        metadata: { name: buckets.example.com }
        spec:
          group: example.com
          scope: Namespaced
          names: { plural: buckets, singular: bucket, kind: Bucket, listKind: BucketList }
          versions: [{ name: v1, served: true, storage: true, schema: { openAPIV3Schema: { type: object } } }]
  expect:
    - { final: { resource: finalizerrules, name: buckets, match: { status: { conditions: [{ type: Watching, status: "True" }] } } } }
`;
    const result = await simulate(spec, { reconcilers: { finalizer: reordering } });
    expect(cameLate).toBe(true);
    expect(complaints(result)).toEqual([]);
  });
});

describe('settings', () => {
  it('that change in a burst do not wake every node for each change', async () => {
    // Each of twenty policies woke each unhealthy node, and for the finalizer every Node and NodeClaim: 20 x 92 wake-ups.
    const nodes = Array.from({ length: 40 }, (_, index) => nodeObjects(`n${index}`, index < 12 ? 'False' : 'True'));
    const onePool = nodes.join('').replaceAll(/nodepool: n\d+/g, 'nodepool: n0');
    const woken = new Map<string, number>();
    const counting =
      (name: 'repair' | 'finalizer', create: ReconcilerFactory): ReconcilerFactory =>
      deps => {
        const reconcile = create(deps);
        return async message => {
          const isAboutOne = message.kind === 'wakeUp' && ['Node', 'NodeClaim'].includes(message.subject.kind);
          if (isAboutOne) woken.set(name, (woken.get(name) ?? 0) + 1);
          await reconcile(message);
        };
      };
    const policies = Array.from({ length: 20 }, (_, index) => {
      const spec = '{ nodePoolSelector: {}, repair: { defaultTolerationDuration: 4h } }';
      return `    - { at: 5m${index}s, apply: { apiVersion: curfew.dev/v1alpha1, kind: NodeLifecyclePolicy, metadata: { name: p${index} }, spec: ${spec} } }\n`;
    });
    await simulate(`  duration: 7m\n${GATE}  objects:\n${onePool}  steps:\n${policies.join('')}`, {
      reconcilers: {
        repair: counting('repair', createReconciler),
        finalizer: counting('finalizer', createFinalizer),
      },
    });
    // A round asks for passes of pools, and no node is woken.
    expect(woken.get('repair')).toBeUndefined();
    expect(woken.get('finalizer')).toBeUndefined();
  });
});
