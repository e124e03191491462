/** The step that waits for volumes: what it reads, and what it says at the deadline. The rule has a table of its own (`rule/volumes.test.ts`). */
import { describe, expect, it } from 'vitest';
import { awaitVolumes } from '../../../../functions/finalizer/termination/volumes.ts';
import { RESOURCES } from '../../../../shared/contract/resources.ts';
import type { KubernetesManifest } from '../../../../shared/domain/kubernetes-object.ts';
import { addDuration, minutes } from '../../../../shared/domain/time.ts';
import { createStepWorld, DELETED } from './step-world.ts';

const attachment = (name: string, nodeName: string, volume: string): KubernetesManifest => ({
  apiVersion: 'storage.k8s.io/v1',
  kind: 'VolumeAttachment',
  metadata: { name },
  spec: { attacher: 'ebs.csi.aws.com', nodeName, source: { persistentVolumeName: volume } },
});
const ATTACHED = attachment('va-1', 'n1', 'pv-1');

/** A pod that tolerates every taint, and so stays, with the claim of a volume. */
const STAYING: readonly KubernetesManifest[] = [
  {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { namespace: 'default', name: 'agent' },
    spec: {
      nodeName: 'n1',
      containers: [{ name: 'c', image: 'i' }],
      tolerations: [{ operator: 'Exists' }],
      volumes: [{ name: 'data', persistentVolumeClaim: { claimName: 'data' } }],
    },
    status: { phase: 'Running' },
  },
  {
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    metadata: { namespace: 'default', name: 'data' },
    spec: { volumeName: 'pv-1' },
  },
];

describe('the volumes of a Node', () => {
  it.each<[string, readonly KubernetesManifest[]]>([
    ['that are none', []],
    ['of another Node', [attachment('va-2', 'n2', 'pv-2')]],
    ['of a pod that stays', [ATTACHED, ...STAYING]],
  ])('%s are not waited for', async (_, others) => {
    expect(await awaitVolumes.run(createStepWorld({ others }).startRun()())).toEqual({ kind: 'done' });
  });

  it('are waited for until they are detached, with a look each minute at first', async () => {
    const world = createStepWorld({ others: [ATTACHED, attachment('va-0', 'n1', 'pv-0')] });
    expect(await awaitVolumes.run(world.startRun()())).toEqual({
      kind: 'notYet',
      on: 'volumes are attached: VolumeAttachments va-0, va-1',
      until: addDuration(DELETED, minutes(1)),
    });
    for (const name of ['va-0', 'va-1'])
      world.core.delete({ type: RESOURCES.VolumeAttachment, name }, { user: 'detacher' });
    expect(await awaitVolumes.run(world.startRun()())).toEqual({ kind: 'done' });
  });

  it('are not waited for at the deadline, which the NodeClaim says', async () => {
    const world = createStepWorld({ others: [ATTACHED], isForced: true });
    expect(await awaitVolumes.run(world.startRun()())).toEqual({ kind: 'done' });
    expect(world.claim().status?.['conditions']).toMatchObject([
      { type: 'VolumesDetached', status: 'False', reason: 'TerminationGracePeriodElapsed' },
    ]);
  });
});
