/** Repair and another function at one node at once: both write to its Node or NodeClaim. */
import type { KubernetesManifest } from '../../../shared/domain/kubernetes-object.ts';
import { toTimestamp } from '../../../shared/domain/time.ts';
import { claimEvent } from '../messages.ts';
import type { Situation } from '../situation.ts';
import { created, node, nodeClaim, nodePool, pod, policy, PROD, START, unattended } from './changes.ts';
import { ASKED, RECOVERED } from './drain.ts';
import { PROTECTED } from './drained-pods.ts';
import { podEvent } from './grace-period-world.ts';
import { underFinalizer } from './two-functions.ts';
import { BASE as REPAIR_BASE, booted, LONG, POOL_WAKE_UP, REPAIR, seen, SICK, TOLERATION } from './repair-world.ts';

const BASE = {
  ...REPAIR_BASE,
  concern: 'two functions',
  start: START,
  uncounted: [...REPAIR_BASE.uncounted, 'effort'],
  inexact: [...REPAIR_BASE.inexact, 'attempt.number', 'finished.drained', 'finished.message'],
  caches: ['configuration'],
} as const;

const CONFIG: KubernetesManifest = {
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { namespace: 'curfew', name: 'curfew-config', uid: 'uid-config' },
  data: { 'config.toml': '[featureGates]\nnodeRepair = true\n[[userNamespaces]]\nname = "*"\nmode = "Immediate"\n' },
};
const TERMINATION = { finalizerName: 'example.com/custom' };
const REBOOT = { defaultTolerationDuration: `${TOLERATION}m`, actions: [{ type: 'Reboot', timeout: '10m' }] };
const SICK_NODE = [nodePool(), nodeClaim('n1'), node('n1', { conditions: [SICK] })].map(booted);
const WELL_NODE = [nodeClaim('n2'), node('n2')].map(booted);

/** A person has deleted the NodeClaim, and our finalizer holds it and its Node. */
const ending = (object: KubernetesManifest): KubernetesManifest => {
  if (object.kind === 'NodePool') return object;
  const { metadata, ...rest } = underFinalizer(object, TERMINATION.finalizerName);
  const isDeleted = object.kind === 'NodeClaim';
  return { ...rest, metadata: { ...metadata, ...(isDeleted && { deletionTimestamp: toTimestamp(START) }) } };
};

/** Repair is due, and nobody has begun it. */
const DUE = [...seen('n1'), unattended(TOLERATION)];

export const REPAIR_AND_OTHERS_SITUATIONS: readonly Situation[] = [
  {
    ...BASE,
    name: 'a reboot is due while the drain of the node is called off',
    isWithoutCrashes: true,
    objects: [PROD, CONFIG, policy({ repair: REBOOT }), ...SICK_NODE, ...WELL_NODE, PROTECTED],
    earlier: [{ kind: 'message', message: ASKED }, ...DUE],
    messages: { A: POOL_WAKE_UP, B: RECOVERED },
    aftermath: LONG,
  },
  {
    ...BASE,
    name: 'a repair is due while the termination of its node begins',
    isWithoutCrashes: true,
    objects: [
      PROD,
      CONFIG,
      policy({ repair: REPAIR, termination: TERMINATION }),
      ...SICK_NODE.map(ending),
      ...WELL_NODE,
    ],
    earlier: DUE,
    messages: { A: POOL_WAKE_UP, B: claimEvent('finalizer', 'n1') },
    aftermath: LONG,
  },
  {
    ...BASE,
    name: 'a reboot is due while a protected pod comes',
    isWithoutCrashes: true,
    objects: [PROD, CONFIG, policy({ repair: REBOOT }), ...SICK_NODE, ...WELL_NODE],
    earlier: DUE,
    messages: { A: POOL_WAKE_UP, B: podEvent('p1', 'Added') },
    changes: [created('pod p1 created', pod('p1', '50m'), 'B')],
    aftermath: LONG,
  },
];
