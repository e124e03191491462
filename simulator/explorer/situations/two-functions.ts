/** Drains, terminations and grace periods of one node at once: all of them write to it. */
import type { KubernetesManifest } from '../../../shared/domain/kubernetes-object.ts';
import { minutes, toTimestamp } from '../../../shared/domain/time.ts';
import { claimEvent } from '../messages.ts';
import type { Situation } from '../situation.ts';
import { created, node, nodeClaim, nodePool, pod, policy, PROD, START } from './changes.ts';
import { ASKED, CONFIG, RECOVERED } from './drain.ts';
import { PROTECTED } from './drained-pods.ts';
import { P1_DELETED, podEvent } from './grace-period-world.ts';

const FINALIZER = 'example.com/custom';
const BASE = {
  concern: 'two functions',
  start: START,
  uncounted: ['effort'],
  inexact: ['finished.drained', 'finished.message'],
  caches: ['configuration'],
} as const;

const TERMINATION = policy({ termination: { finalizerName: FINALIZER } });

export const underFinalizer = (object: KubernetesManifest, finalizer: string): KubernetesManifest => ({
  ...object,
  metadata: {
    ...object.metadata,
    finalizers: [finalizer],
    annotations: { ...object.metadata.annotations, 'curfew.dev/termination-finalizer': finalizer },
  },
});

/** Under our finalizer; being deleted where that is asked for. */
const held = (object: KubernetesManifest, deleted?: true): KubernetesManifest => {
  const under = underFinalizer(object, FINALIZER);
  return deleted ? { ...under, metadata: { ...under.metadata, deletionTimestamp: toTimestamp(START) } } : under;
};

export const TWO_FUNCTIONS_SITUATIONS: readonly Situation[] = [
  {
    ...BASE,
    name: 'the fault is over while the termination of the drained node begins',
    objects: [PROD, CONFIG, TERMINATION, held(nodeClaim('n1'), true), held(node('n1'), true), PROTECTED],
    earlier: [{ kind: 'message', message: ASKED }],
    messages: { A: RECOVERED, B: claimEvent('finalizer', 'n1') },
  },
  {
    ...BASE,
    name: 'our finalizer is put on while a protected pod comes',
    objects: [PROD, CONFIG, TERMINATION, nodePool(), nodeClaim('n1'), node('n1')],
    messages: { A: claimEvent('finalizer', 'n1', 'Added'), B: podEvent('p1', 'Added') },
    changes: [created('pod p1 created', pod('p1', '20m'), 'B')],
    aftermath: minutes(30),
  },
  {
    ...BASE,
    name: 'a protected pod goes while its node is terminated, and another one holds that up',
    objects: [
      PROD,
      CONFIG,
      TERMINATION,
      nodePool(),
      held(nodeClaim('n1'), true),
      held(node('n1'), true),
      pod('p1', '20m'),
      PROTECTED,
    ],
    earlier: [{ kind: 'message', message: podEvent('p1', 'Added') }],
    messages: { A: podEvent('p1', 'Deleted'), B: claimEvent('finalizer', 'n1') },
    changes: [P1_DELETED],
  },
  {
    ...BASE,
    name: 'a protected pod comes while a drain begins',
    objects: [PROD, CONFIG, nodePool(), node('n1')],
    messages: { A: podEvent('p1', 'Added'), B: ASKED },
    changes: [created('pod p1 created', pod('p1', '20m'), 'A')],
    aftermath: minutes(30),
  },
];
