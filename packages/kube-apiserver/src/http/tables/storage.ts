/** `kubectl get` of persistent volumes, their claims, storage classes and volume attachments. */
import type { KubernetesObject } from '../../kubernetes-object.ts';
import { listAt, objectAt, textAt } from '../json-fields.ts';
import { ageColumn, column, nameColumn, wide, type Column } from './columns.ts';

const accessModeNames: ReadonlyMap<string, string> = new Map([
  ['ReadWriteOnce', 'RWO'],
  ['ReadOnlyMany', 'ROX'],
  ['ReadWriteMany', 'RWX'],
  ['ReadWriteOncePod', 'RWOP'],
]);

function accessModes(modes: readonly unknown[]): string {
  const given = new Set(modes.map(String));
  return [...accessModeNames]
    .filter(([mode]) => given.has(mode))
    .map(([, short]) => short)
    .join(',');
}

/** A deletion shows in STATUS before the phase. */
function phaseOf(object: KubernetesObject): string {
  return object.metadata.deletionTimestamp === undefined ? textAt(object.status, 'phase') : 'Terminating';
}

const classColumns: readonly Column[] = [
  column('StorageClass', 'Class of the storage.', object => textAt(object.spec, 'storageClassName')),
  column(
    'VolumeAttributesClass',
    'Class of the attributes.',
    object => textAt(object.spec, 'volumeAttributesClassName') || '<unset>',
  ),
];
const volumeModeColumn = wide(
  'VolumeMode',
  'Filesystem or Block.',
  object => textAt(object.spec, 'volumeMode') || '<unset>',
);

function claimOf(volume: KubernetesObject): string {
  const name = textAt(volume.spec, 'claimRef', 'name');
  return name === '' ? '' : `${textAt(volume.spec, 'claimRef', 'namespace')}/${name}`;
}

export const persistentVolumeColumns: readonly Column[] = [
  nameColumn,
  column('Capacity', 'Size of the volume.', object => textAt(object.spec, 'capacity', 'storage')),
  column('Access Modes', 'Ways to mount it.', object => accessModes(listAt(object.spec, 'accessModes'))),
  column('Reclaim Policy', 'What happens after its release.', object =>
    textAt(object.spec, 'persistentVolumeReclaimPolicy'),
  ),
  column('Status', 'Phase of the volume.', phaseOf),
  column('Claim', 'Claim that it is bound to.', claimOf),
  ...classColumns,
  column('Reason', 'Why it is in this phase.', object => textAt(object.status, 'reason')),
  ageColumn,
  volumeModeColumn,
];

function boundOnly(claim: KubernetesObject, text: string): string {
  return textAt(claim.spec, 'volumeName') === '' ? '' : text;
}

export const persistentVolumeClaimColumns: readonly Column[] = [
  nameColumn,
  column('Status', 'Phase of the claim.', phaseOf),
  column('Volume', 'Volume that it is bound to.', object => textAt(object.spec, 'volumeName')),
  column('Capacity', 'Size of the volume.', object => boundOnly(object, textAt(object.status, 'capacity', 'storage'))),
  column('Access Modes', 'Ways to mount it.', object =>
    boundOnly(object, accessModes(listAt(object.status, 'accessModes'))),
  ),
  ...classColumns,
  ageColumn,
  volumeModeColumn,
];

export const storageClassColumns: readonly Column[] = [
  nameColumn,
  column('Provisioner', 'Who makes the volumes.', object => textAt(object, 'provisioner')),
  column('ReclaimPolicy', 'What happens after release.', object => textAt(object, 'reclaimPolicy') || 'Delete'),
  column('VolumeBindingMode', 'When volumes are bound.', object => textAt(object, 'volumeBindingMode') || 'Immediate'),
  column('AllowVolumeExpansion', 'Whether volumes may grow.', object =>
    String(object['allowVolumeExpansion'] === true),
  ),
  ageColumn,
];

export const volumeAttachmentColumns: readonly Column[] = [
  nameColumn,
  column('Attacher', 'Driver that attaches.', object => textAt(object.spec, 'attacher')),
  column('PV', 'Volume that is attached.', object => textAt(object.spec, 'source', 'persistentVolumeName')),
  column('Node', 'Node that it is attached to.', object => textAt(object.spec, 'nodeName')),
  column('Attached', 'Whether it is attached.', object => objectAt(object.status)['attached'] === true, 'boolean'),
  ageColumn,
];
