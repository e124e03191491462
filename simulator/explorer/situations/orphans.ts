/** Instances and objects that may have been left behind: the ledger of terminations, and the daily sweep. */
import { ORPHAN_FORGOTTEN, SOURCES } from '../../../shared/contract/names.ts';
import type { Subject } from '../../../shared/contract/subject.ts';
import { ORPHAN_CHECK_WAKE_UP, toWakeUpEnvelope } from '../../../shared/contract/wake-up.ts';
import type { KubernetesManifest } from '../../../shared/domain/kubernetes-object.ts';
import { minutes, toTimestamp } from '../../../shared/domain/time.ts';
import { claimEvent } from '../messages.ts';
import type { Message, Situation } from '../situation.ts';
import { created, nodeClaim, nodeClaimRef, policy, removed, START } from './changes.ts';

const PROVIDER_ID = 'aws:///us-west-2a/i-n1';
const FINALIZER = 'example.com/custom';

const wakeUpOf = (subject: Subject): Message => ({
  name: `wake-up of ${subject.kind} ${subject.name}`,
  to: 'finalizer',
  body: now => JSON.stringify(toWakeUpEnvelope({ owner: 'finalizer', subject, wakeTime: now })),
});
const INSTANCE_WAKE_UP = wakeUpOf({ apiVersion: 'curfew.dev/v1alpha1', kind: 'Instance', name: PROVIDER_ID });
const CHECK = wakeUpOf(ORPHAN_CHECK_WAKE_UP.subject);
const CLAIM_WAKE_UP = wakeUpOf({
  apiVersion: 'karpenter.sh/v1',
  kind: 'NodeClaim',
  name: 'claim-n1',
  uid: 'uid-claim-n1',
});
const forgotten = (id: string): Message => ({
  name: `curfew orphans --forget ${id}`,
  to: 'finalizer',
  body: () => JSON.stringify({ source: SOURCES.operator, 'detail-type': ORPHAN_FORGOTTEN, detail: { id } }),
});

/** Karpenter has not ended it: a hook is waited for. */
const ENDING_CLAIM: KubernetesManifest = {
  ...nodeClaim('n1'),
  metadata: {
    ...nodeClaim('n1').metadata,
    finalizers: [FINALIZER],
    annotations: { 'curfew.dev/termination-finalizer': FINALIZER },
    deletionTimestamp: toTimestamp(START),
  },
};
const HELD_POLICY = policy({
  termination: {
    finalizerName: FINALIZER,
    hooks: [{ name: 'deregister', at: 'before-drain', event: { detailType: 'Deregister' }, deadline: '1h' }],
  },
});

const BASE = { concern: 'finalizer', start: START } as const;
const GONE_CLAIM = [{ kind: 'change', change: removed('NodeClaim removed', nodeClaimRef('claim-n1')) }] as const;

export const ORPHAN_SITUATIONS: readonly Situation[] = [
  {
    ...BASE,
    name: 'an instance that nothing has is looked at twice',
    objects: [nodeClaim('n1')],
    earlier: GONE_CLAIM,
    messages: { A: INSTANCE_WAKE_UP, B: INSTANCE_WAKE_UP },
  },
  {
    ...BASE,
    name: 'the daily sweep comes twice',
    objects: [nodeClaim('n1')],
    earlier: GONE_CLAIM,
    messages: { A: CHECK, B: CHECK },
  },
  {
    ...BASE,
    name: 'a NodeClaim takes an instance of the ledger while that is looked at',
    objects: [nodeClaim('n1')],
    earlier: [...GONE_CLAIM, { kind: 'message', message: INSTANCE_WAKE_UP }],
    messages: { A: INSTANCE_WAKE_UP, B: claimEvent('finalizer', 'n1', 'Added') },
    changes: [created('NodeClaim claim-n1 created', nodeClaim('n1'), 'B')],
    aftermath: minutes(24 * 60 + 10),
  },
  {
    ...BASE,
    name: 'a possible orphan is forgotten while it is looked at',
    objects: [nodeClaim('n1')],
    earlier: [...GONE_CLAIM, { kind: 'message', message: INSTANCE_WAKE_UP }],
    messages: { A: forgotten(`instance/${PROVIDER_ID}`), B: INSTANCE_WAKE_UP },
  },
  {
    ...BASE,
    name: 'the finalizer is taken off a NodeClaim in the middle of its termination',
    objects: [HELD_POLICY, ENDING_CLAIM],
    earlier: [{ kind: 'message', message: claimEvent('finalizer', 'n1', 'Modified') }],
    messages: { A: claimEvent('finalizer', 'n1', 'Deleted'), B: CLAIM_WAKE_UP },
    changes: [removed('NodeClaim claim-n1 stripped', nodeClaimRef('claim-n1'), 'A')],
  },
];
