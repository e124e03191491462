/**
 * Replacements and reboots that drain first: a run is ended at each of their steps, and the node recovers at that instant, or nobody but the
 * next run looks. Nothing is launched, deleted or rebooted twice, and what is not wanted any more goes.
 */
import type { KubernetesManifest } from '../../../shared/domain/kubernetes-object.ts';
import { RESOURCES } from '../../../shared/contract/resources.ts';
import { addDuration, minutes } from '../../../shared/domain/time.ts';
import { fieldsOf } from '../../invariants/reading.ts';
import { WORLD } from '../explored-cluster.ts';
import type { Change, Earlier, Situation } from '../situation.ts';
import { node, pod, policy, PROD, ready, START, unattended, wait } from './changes.ts';
import { booted, cluster, conditions, LONG_STORY, seen, SICK, TOLERATION, WELL } from './repair-world.ts';

const REPLACEMENT = 'default-curfew-uid-clai';
const NEW_NODE = 'r1';

const replacing: readonly KubernetesManifest[] = [
  ...cluster(undefined, SICK, WELL),
  policy({
    repair: {
      defaultTolerationDuration: `${TOLERATION}m`,
      maxUnhealthy: '100%',
      actions: [{ type: 'ReplaceThenTerminate', timeout: '20m' }, { type: 'Terminate' }],
    },
  }),
];

/** As Karpenter does it. */
const launched: Change = {
  name: 'the replacement is ready',
  apply(core) {
    const ref = { type: RESOURCES.NodeClaim, name: REPLACEMENT };
    const unhealthy = node(NEW_NODE, { conditions: [ready('True', addDuration(START, minutes(TOLERATION)))] });
    const annotations = { 'curfew.dev/replaces': 'uid-n1', 'karpenter.sh/do-not-disrupt': 'true' };
    core.seed({
      ...unhealthy,
      metadata: { ...unhealthy.metadata, annotations },
      spec: { ...fieldsOf(unhealthy['spec']), taints: [{ key: 'curfew.dev/reserved', effect: 'NoSchedule' }] },
    });
    const status = {
      providerID: `aws:///us-west-2a/i-${NEW_NODE}`,
      nodeName: NEW_NODE,
      conditions: [{ type: 'Initialized', status: 'True', reason: 'Initialized', message: '' }],
    };
    core.patch(ref, { type: 'merge', body: { status } }, { user: WORLD, subresource: 'status' });
  },
};

/** The run that is about to make such a call ends before it. */
const dying = (description: RegExp): readonly Earlier[] => [{ kind: 'dieBefore', description }, wait(2), unattended(2)];

const OF_REPLACEMENT: readonly (readonly [step: string, earlier: readonly Earlier[]])[] = [
  ['before the replacement was made', [wait(TOLERATION - 2), ...dying(/^create nodeclaims/)]],
  ['before it was known that the replacement was made', [wait(TOLERATION - 2), ...dying(/^create events .*Started/)]],
  [
    'before the replacement was opened',
    [wait(TOLERATION), { kind: 'change', change: launched }, ...dying(/^patch nodes r1/)],
  ],
  [
    'between the replacement and the end of the ill node',
    [wait(TOLERATION), { kind: 'change', change: launched }, ...dying(/^delete nodeclaims claim-n1/)],
  ],
];

/** The drain of a reboot does not end: one pod is protected. */
const rebooting: readonly KubernetesManifest[] = [
  PROD,
  ...cluster(undefined, SICK, WELL).map(booted),
  pod('p1', 'true'),
  policy({
    repair: {
      defaultTolerationDuration: `${TOLERATION}m`,
      maxUnhealthy: '100%',
      terminationGracePeriod: '10m',
      actions: [{ type: 'Reboot', timeout: '10m' }, { type: 'Terminate' }],
    },
  }),
];

const OF_REBOOT: readonly (readonly [step: string, earlier: readonly Earlier[]])[] = [
  ['before the node was closed for its reboot', [wait(TOLERATION - 2), ...dying(/^patch nodes n1/)]],
  ['before the drain of a reboot was asked for', [wait(TOLERATION - 2), ...dying(/^bus publish/)]],
  ['while a node was drained for its reboot', [wait(TOLERATION + 1), unattended(2)]],
  ['between the drain and the reboot', [wait(TOLERATION + 8), ...dying(/^instances reboot/)]],
  ['before it was known that the machine was rebooted', [wait(TOLERATION + 8), ...dying(/^create events .*Started/)]],
];

const situationsOf = (
  objects: readonly KubernetesManifest[],
  steps: readonly (readonly [step: string, earlier: readonly Earlier[]])[],
): readonly Situation[] =>
  steps.flatMap(([step, earlier]): readonly Situation[] => [
    {
      ...LONG_STORY,
      name: `a run was ended ${step}, and the pool is looked at twice`,
      objects,
      earlier: [...seen('n1'), ...earlier],
    },
    {
      ...LONG_STORY,
      name: `a run was ended ${step}, and the node recovers`,
      objects,
      earlier: [...seen('n1'), ...earlier],
      changes: [conditions('n1', WELL, 'B')],
    },
  ]);

export const REPAIR_VOLUNTARY_SITUATIONS: readonly Situation[] = [
  ...situationsOf(replacing, OF_REPLACEMENT),
  ...situationsOf(rebooting, OF_REBOOT),
];
