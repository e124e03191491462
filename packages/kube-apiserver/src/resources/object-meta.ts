/** The fields of ObjectMeta with their Go types. Nothing else is stored under `metadata`. */
export const OBJECT_META_TYPES: Readonly<Record<string, string>> = {
  name: 'string',
  generateName: 'string',
  namespace: 'string',
  uid: 'string',
  resourceVersion: 'string',
  selfLink: 'string',
  creationTimestamp: 'Time',
  deletionTimestamp: 'Time',
  generation: 'int64',
  deletionGracePeriodSeconds: 'int64',
  labels: 'map[string]string',
  annotations: 'map[string]string',
  ownerReferences: '[]OwnerReference',
  finalizers: '[]string',
  managedFields: '[]ManagedFieldsEntry',
};
