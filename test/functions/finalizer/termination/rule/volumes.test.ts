/** The volumes that must be detached before an instance ends. */
import { describe, expect, it } from 'vitest';
import {
  attachmentsOf,
  blockingAttachments,
  podsThatStay,
} from '../../../../../functions/finalizer/termination/rule/drain-plan.ts';
import type { JsonObject, KubernetesObject } from '../../../../../shared/domain/kubernetes-object.ts';
import { addDuration, minutes } from '../../../../../shared/domain/time.ts';
import { aPod, CREATED } from '../../../../builders/pods.ts';

const NINE = '2024-11-01T09:00:00Z';
const TEN = '2024-11-01T10:00:00Z';

const node = (name: string, creationTimestamp: string = NINE): KubernetesObject => ({
  apiVersion: 'v1',
  kind: 'Node',
  metadata: { name, uid: `uid-${name}`, resourceVersion: '1', creationTimestamp },
});
const attachment = (spec: JsonObject, creationTimestamp: string = TEN): KubernetesObject => ({
  apiVersion: 'storage.k8s.io/v1',
  kind: 'VolumeAttachment',
  metadata: { name: 'va-1', uid: 'uid-va-1', resourceVersion: '1', creationTimestamp },
  spec,
});
const EVERY_TAINT = { key: undefined, operator: 'Exists', value: '', effect: undefined } as const;
const ofVolume = { persistentVolumeName: 'pv-1' };

describe('an attachment of a volume', () => {
  const COUNTS = [{ name: 'va-1', volume: 'pv-1' }];
  it.each<[string, ReturnType<typeof attachmentsOf>, KubernetesObject]>([
    ['counts for its Node', COUNTS, attachment({ nodeName: 'n1', source: ofVolume })],
    ['counts where it is as old as the Node', COUNTS, attachment({ nodeName: 'n1', source: ofVolume }, NINE)],
    ['counts where nobody can read its time', COUNTS, attachment({ nodeName: 'n1', source: ofVolume }, 'yesterday')],
    [
      'is none of an earlier Node of that name',
      [],
      attachment({ nodeName: 'n1', source: ofVolume }, '2024-11-01T08:59:59Z'),
    ],
    ['is none of another Node', [], attachment({ nodeName: 'n2', source: ofVolume })],
    ['is none where it names no Node', [], attachment({ source: ofVolume })],
    ['is none where its volume is inline', [], attachment({ nodeName: 'n1', source: { inlineVolumeSpec: {} } })],
    ['is none where it has no source', [], attachment({ nodeName: 'n1' })],
  ])('%s', (_, expected, given) => {
    expect(attachmentsOf([node('n1')], [given])).toEqual(expected);
  });

  it('counts where nobody can read the time of the Node', () => {
    const given = attachment({ nodeName: 'n1', source: ofVolume }, '2024-11-01T08:59:59Z');
    const n1 = node('n1');
    const begun = { ...n1, metadata: { ...n1.metadata, creationTimestamp: 'yesterday' } };
    expect(attachmentsOf([begun], [given])).toEqual(COUNTS);
  });
});

describe('a pod', () => {
  const now = addDuration(CREATED, minutes(60));
  it.each<[string, boolean, ReturnType<typeof aPod>]>([
    ['that the drain empties does not stay', false, aPod(undefined)],
    ['that has finished does not stay', false, aPod(undefined, { phase: 'Succeeded' })],
    ['that tolerates every taint stays', true, aPod(undefined, { tolerations: [EVERY_TAINT] })],
    [
      'of the kubelet itself stays',
      true,
      aPod(undefined, { ownerReferences: [{ apiVersion: 'v1', kind: 'Node', name: 'n', uid: 'n' }] }),
    ],
    ['that its kubelet does not end stays', true, aPod(undefined, { deletionTime: CREATED })],
  ])('%s', (_, stays, pod) => {
    expect(podsThatStay([pod], now)).toEqual(stays ? [pod] : []);
  });
});

describe('the end of the instance', () => {
  it('waits for volumes but those of pods that stay, and names their attachments in order', () => {
    const attachments = [
      { name: 'va-3', volume: 'pv-3' },
      { name: 'va-1', volume: 'pv-1' },
      { name: 'va-2', volume: 'pv-2' },
    ];
    expect(blockingAttachments(attachments, ['pv-2', undefined])).toEqual(['va-1', 'va-3']);
    expect(blockingAttachments(attachments, ['pv-1', 'pv-2', 'pv-3'])).toEqual([]);
  });
});
