/** What `kubectl explain` says of built-in kinds and of the metadata of every object. */
import type { JsonObject } from '../json.ts';

export const kindDescriptions: ReadonlyMap<string, string> = new Map([
  ['Node', 'Node is a machine that runs pods. Its status carries the conditions that node repair watches.'],
  ['Pod', 'Pod is a group of containers that run together on one node.'],
  ['Namespace', 'Namespace is a scope for names.'],
  ['Event', 'Event is a report of something that happened to an object, for people to read.'],
  ['ConfigMap', 'ConfigMap holds configuration as key-value pairs.'],
  ['Secret', 'Secret holds confidential data as key-value pairs.'],
  ['Service', 'Service is a name and an address for a set of pods.'],
  ['ServiceAccount', 'ServiceAccount is an identity for programs in pods.'],
  ['PersistentVolume', 'PersistentVolume is a piece of storage in the cluster.'],
  ['PersistentVolumeClaim', 'PersistentVolumeClaim is a request for storage.'],
  ['Lease', 'Lease says who holds a role and until when.'],
  ['PodDisruptionBudget', 'PodDisruptionBudget limits how many pods of a set may be evicted at a time.'],
  ['Deployment', 'Deployment keeps a number of pods of one template running and rolls out changes.'],
  ['ReplicaSet', 'ReplicaSet keeps a number of pods of one template running.'],
  ['StatefulSet', 'StatefulSet keeps pods with stable names and storage running.'],
  ['DaemonSet', 'DaemonSet keeps one pod running on each matching node.'],
  ['Job', 'Job runs pods until enough of them succeed.'],
  ['PriorityClass', 'PriorityClass gives a name to a pod priority.'],
  ['StorageClass', 'StorageClass describes how volumes are provisioned.'],
  ['VolumeAttachment', 'VolumeAttachment is the intent to attach a volume to a node, and whether it is.'],
  ['CustomResourceDefinition', 'CustomResourceDefinition adds a resource to the API.'],
]);

function text(description: string): JsonObject {
  return { type: 'string', description };
}

function textMap(description: string): JsonObject {
  return { type: 'object', description, additionalProperties: { type: 'string', default: '' } };
}

function time(description: string): JsonObject {
  return { type: 'string', format: 'date-time', description };
}

function integer(description: string): JsonObject {
  return { type: 'integer', format: 'int64', description };
}

const ownerReference: JsonObject = {
  type: 'object',
  description: 'OwnerReference names an object that owns this one.',
  required: ['apiVersion', 'kind', 'name', 'uid'],
  properties: {
    apiVersion: text('API version of the owner.'),
    kind: text('Kind of the owner.'),
    name: text('Name of the owner.'),
    uid: text('UID of the owner.'),
    controller: { type: 'boolean', description: 'Whether the owner is the managing controller.' },
    blockOwnerDeletion: {
      type: 'boolean',
      description: 'Whether a foreground deletion of the owner waits for this object.',
    },
  },
};

const objectMeta: JsonObject = {
  type: 'object',
  description: 'ObjectMeta is metadata that all stored objects have.',
  properties: {
    name: text('Name, unique among the objects of a kind in a namespace.'),
    generateName: text('Prefix from which the server makes a unique name when there is no name.'),
    namespace: text('Scope of the name.'),
    uid: text('Identity of this object: a later object of the same name has another one.'),
    resourceVersion: text('Opaque version of the object, for optimistic locking and watches.'),
    generation: integer('Number of the wanted state; it grows with each change of the spec.'),
    creationTimestamp: time('When the object was created.'),
    deletionTimestamp: time('When the object was or will be deleted; it is only removed when its finalizers are gone.'),
    deletionGracePeriodSeconds: integer('Seconds that a graceful deletion takes.'),
    labels: textMap('Key-value pairs to select by.'),
    annotations: textMap('Key-value pairs for tools and people.'),
    finalizers: {
      type: 'array',
      description: 'Names of those who must act before the object is removed.',
      items: { type: 'string', default: '' },
    },
    ownerReferences: {
      type: 'array',
      description: 'Objects that own this one; it is collected when all of them are gone.',
      items: {
        allOf: [{ $ref: '#/components/schemas/io.k8s.apimachinery.pkg.apis.meta.v1.OwnerReference' }],
        default: {},
      },
    },
    managedFields: {
      type: 'array',
      description: 'Which manager set which fields.',
      items: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
    },
  },
};

export const metadataSchemas: Readonly<Record<string, JsonObject>> = {
  'io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta': objectMeta,
  'io.k8s.apimachinery.pkg.apis.meta.v1.OwnerReference': ownerReference,
};
