/** Terminations: what two runs on one NodeClaim, or on it and its Node, may get in each other's way with. */
import type { JsonObject, KubernetesManifest } from '../../../shared/domain/kubernetes-object.ts';
import { toWakeUpEnvelope } from '../../../shared/contract/wake-up.ts';
import { minutes, toTimestamp } from '../../../shared/domain/time.ts';
import { unlessRefused } from '../../actors/actor.ts';
import { claimEvent, clusterEvent, workerAnswers } from '../messages.ts';
import type { Change, Earlier, Message, Situation } from '../situation.ts';
import { WORLD } from '../explored-cluster.ts';
import {
  node,
  nodeClaim,
  nodeClaimRef,
  nodeRef,
  patched,
  policy,
  policyRef,
  podRef,
  PROD,
  removed,
  START,
  unattended,
} from './changes.ts';
import { BUDGET, budgetEvent, budgetRef, OTHER_POD, POD, podEvent, PROTECTED } from './drained-pods.ts';

const FINALIZER = 'example.com/custom';
const MARK = { 'curfew.dev/termination-finalizer': FINALIZER };
const TERMINATION = { finalizerName: FINALIZER };
const POLICY = policy({ termination: TERMINATION });

/** With our finalizer alone; being deleted where there is an instant. */
const held = (object: KubernetesManifest, deleted?: true): KubernetesManifest => ({
  ...object,
  metadata: {
    ...object.metadata,
    finalizers: [FINALIZER],
    annotations: { ...object.metadata.annotations, ...MARK },
    ...(deleted && { deletionTimestamp: toTimestamp(START) }),
  },
});

const nodeEvent = (change: 'Added' | 'Modified' | 'Deleted' = 'Modified'): Message =>
  clusterEvent('finalizer', {
    kind: 'Node',
    apiVersion: 'v1',
    name: 'n1',
    uid: 'uid-n1',
    change,
    hints: { nodePool: 'default', nodeName: 'n1' },
  });
const POLICY_EVENT: Message = clusterEvent('finalizer', {
  kind: 'NodeLifecyclePolicy',
  apiVersion: 'curfew.dev/v1alpha1',
  name: 'all',
  uid: 'uid-all',
  changed: ['termination'],
});

const deleted = (name: string, ref: ReturnType<typeof nodeRef>, tells?: Change['tells']): Change => ({
  name,
  apply: core => void unlessRefused(() => core.delete(ref, { user: WORLD })),
  ...(tells !== undefined && { tells }),
});
const KARPENTER_ENDS: Change = {
  name: 'Karpenter takes its finalizer off',
  apply: core =>
    void unlessRefused(() => {
      const { finalizers = [] } = core.get(nodeClaimRef('claim-n1')).metadata;
      const body = { metadata: { finalizers: finalizers.filter(name => name !== 'karpenter.sh/termination') } };
      return core.patch(nodeClaimRef('claim-n1'), { type: 'merge', body }, { user: WORLD });
    }),
  tells: claimEvent('finalizer', 'n1'),
};
/** Nobody has heard of it when the run about the Node begins. */
const CLAIM_GOES: Change = {
  ...patched('NodeClaim claim-n1 and its instance gone', nodeClaimRef('claim-n1'), { metadata: { finalizers: [] } }),
  ends: 'aws:///us-west-2a/i-n1',
};
const termination = (name: string, block: JsonObject | null, tells?: Change['tells']): Change =>
  patched(name, policyRef('all'), { spec: { termination: block } }, tells);

const claimWakeUp: Message = {
  name: 'wake-up of NodeClaim claim-n1',
  to: 'finalizer',
  body: now =>
    JSON.stringify(
      toWakeUpEnvelope({
        owner: 'finalizer',
        subject: { apiVersion: 'karpenter.sh/v1', kind: 'NodeClaim', name: 'claim-n1', uid: 'uid-claim-n1' },
        wakeTime: now,
      }),
    ),
};
const HOOK: JsonObject = {
  name: 'deregister',
  at: 'before-drain',
  event: { detailType: 'Deregister' },
  deadline: '5m',
  onTimeout: 'Proceed',
};

/** Being deleted, and kept by somebody else alone. */
const KEPT_CLAIM: KubernetesManifest = {
  ...nodeClaim('n1'),
  metadata: {
    ...nodeClaim('n1').metadata,
    finalizers: ['example.com/other'],
    deletionTimestamp: toTimestamp(START),
  },
};

const BASE = { concern: 'finalizer', start: START } as const;

const BEGUN: Earlier = { kind: 'message', message: claimEvent('finalizer', 'n1') };
/** A protected pod is waited for, and the deadline comes. */
const AT_DEADLINE = {
  objects: [
    PROD,
    policy({ termination: { ...TERMINATION, terminationGracePeriod: '1m' } }),
    held(nodeClaim('n1'), true),
    held(node('n1'), true),
    PROTECTED,
  ],
  earlier: [BEGUN, unattended(1)],
} as const;
/** A hook is called, which a worker answers. */
const HOOKED = [policy({ termination: { ...TERMINATION, hooks: [HOOK] } }), held(nodeClaim('n1'), true)];

export const FINALIZER_SITUATIONS: readonly Situation[] = [
  {
    ...BASE,
    name: 'a NodeClaim and its Node are seen for the first time at once',
    objects: [POLICY, nodeClaim('n1'), node('n1')],
    messages: { A: claimEvent('finalizer', 'n1', 'Added'), B: nodeEvent('Added') },
  },
  {
    ...BASE,
    name: 'a NodeClaim is deleted while its finalizer is put on',
    objects: [POLICY, nodeClaim('n1')],
    messages: { A: claimEvent('finalizer', 'n1', 'Added'), B: claimEvent('finalizer', 'n1') },
    changes: [deleted('NodeClaim claim-n1 deleted', nodeClaimRef('claim-n1'), 'B'), KARPENTER_ENDS],
  },
  {
    ...BASE,
    name: 'a deletion is told twice',
    objects: [POLICY, held(nodeClaim('n1'), true)],
    messages: { A: claimEvent('finalizer', 'n1'), B: claimEvent('finalizer', 'n1') },
  },
  {
    ...BASE,
    name: 'NodeClaim and Node are deleted at once',
    objects: [POLICY, held(nodeClaim('n1')), held(node('n1'))],
    messages: { A: claimEvent('finalizer', 'n1'), B: nodeEvent() },
    changes: [
      deleted('NodeClaim claim-n1 deleted', nodeClaimRef('claim-n1'), 'A'),
      deleted('node n1 deleted', nodeRef('n1'), 'B'),
    ],
  },
  {
    ...BASE,
    name: 'the termination block is removed and restored while a NodeClaim is seen',
    objects: [POLICY, nodeClaim('n1')],
    messages: { A: claimEvent('finalizer', 'n1', 'Added'), B: claimEvent('finalizer', 'n1') },
    changes: [
      termination('termination block removed', null),
      termination('termination block restored', TERMINATION, POLICY_EVENT),
    ],
  },
  {
    ...BASE,
    name: 'the PodDisruptionBudget of a pod opens while its node is drained',
    isLong: true,
    objects: [PROD, POLICY, held(nodeClaim('n1'), true), held(node('n1'), true), POD, BUDGET],
    messages: { A: claimEvent('finalizer', 'n1'), B: nodeEvent() },
    changes: [
      patched(
        'PodDisruptionBudget web opens',
        budgetRef,
        { status: { disruptionsAllowed: 1 } },
        budgetEvent('finalizer'),
      ),
    ],
  },
  {
    ...BASE,
    name: 'a pod comes and goes while its node is drained',
    isLong: true,
    objects: [PROD, POLICY, held(nodeClaim('n1'), true), held(node('n1'), true), POD],
    messages: { A: claimEvent('finalizer', 'n1'), B: podEvent('finalizer', 'Deleted') },
    changes: [removed('pod web deleted', podRef('web'), 'B')],
  },
  {
    ...BASE,
    name: 'the last two pods of a node that is terminated go one after the other',
    objects: [PROD, POLICY, held(nodeClaim('n1'), true), held(node('n1'), true), PROTECTED, OTHER_POD],
    earlier: [BEGUN],
    messages: { A: podEvent('finalizer', 'Deleted'), B: nodeEvent() },
    changes: [removed('pod web deleted', podRef('web'), 'A'), removed('pod api deleted', podRef('api'), 'B')],
  },
  {
    ...BASE,
    name: 'the last pod goes when the deadline comes',
    ...AT_DEADLINE,
    messages: { A: claimWakeUp, B: podEvent('finalizer', 'Deleted') },
    changes: [removed('pod web deleted', podRef('web'), 'B')],
  },
  {
    ...BASE,
    name: 'the deadline is shortened while a protected pod is waited for',
    objects: [PROD, POLICY, held(nodeClaim('n1'), true), held(node('n1'), true), PROTECTED],
    earlier: [BEGUN, unattended(2)],
    messages: { A: claimWakeUp, B: POLICY_EVENT },
    changes: [termination('the policy gets a deadline', { ...TERMINATION, terminationGracePeriod: '1m' }, 'B')],
    aftermath: minutes(20),
  },
  {
    ...BASE,
    name: 'a worker answers when the deadline of its hook comes',
    objects: HOOKED,
    earlier: [BEGUN, unattended(5)],
    messages: { A: claimWakeUp, B: workerAnswers('uid-claim-n1/deregister', 'succeed') },
    aftermath: minutes(20),
  },
  {
    ...BASE,
    name: 'a worker fails and then succeeds',
    objects: HOOKED,
    earlier: [BEGUN],
    messages: {
      A: workerAnswers('uid-claim-n1/deregister', 'fail'),
      B: workerAnswers('uid-claim-n1/deregister', 'succeed'),
    },
    aftermath: minutes(20),
  },
  {
    ...BASE,
    name: 'a hook is taken out of its policy when its deadline comes',
    objects: HOOKED,
    earlier: [BEGUN, unattended(5)],
    messages: { A: claimWakeUp, B: POLICY_EVENT },
    changes: [termination('the hook is taken out', TERMINATION, 'B')],
    aftermath: minutes(20),
  },
  {
    ...BASE,
    name: 'the deadline comes while a protected pod is waited for',
    ...AT_DEADLINE,
    messages: { A: claimWakeUp, B: nodeEvent() },
  },
  {
    ...BASE,
    name: 'a run was ended before it could end the instance',
    objects: [POLICY, held(nodeClaim('n1'), true)],
    earlier: [
      { kind: 'dieBefore', description: /^instances terminate/ },
      { kind: 'message', message: claimEvent('finalizer', 'n1') },
    ],
    messages: { A: claimEvent('finalizer', 'n1'), B: claimWakeUp },
  },
  {
    ...BASE,
    name: 'a hook answers while the termination is looked at',
    objects: HOOKED,
    messages: { A: claimEvent('finalizer', 'n1'), B: claimEvent('finalizer', 'n1') },
    aftermath: minutes(20),
  },
  {
    ...BASE,
    name: 'a NodeClaim goes before its Node while its termination is under way',
    objects: [
      policy({ termination: { ...TERMINATION, scope: 'NodeOnly', hooks: [HOOK] } }),
      KEPT_CLAIM,
      held(node('n1'), true),
    ],
    messages: { A: claimEvent('finalizer', 'n1'), B: nodeEvent() },
    changes: [CLAIM_GOES],
    aftermath: minutes(20),
  },
];
