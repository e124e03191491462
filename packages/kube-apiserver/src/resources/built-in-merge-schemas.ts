/** Merge keys, sets and atomic values of the built-in kinds: the list and patch markers of the Kubernetes API types. */
import type { MergeSchema } from '../patch/merge-schema.ts';
import { ATOMIC, METADATA, listBy } from '../patch/merge-schema.ts';

function fields(of: Readonly<Record<string, MergeSchema>>): MergeSchema {
  return { fields: of };
}

function items(schema: MergeSchema): MergeSchema {
  return { items: schema };
}

const SET: MergeSchema = { list: 'set' };
/** A map in server-side apply that strategic merge patches replace. */
const appliedByType: MergeSchema = { list: 'map', keys: ['type'] };
const conditions = fields({ conditions: listBy('type') });

const podTerm = fields({ labelSelector: ATOMIC, namespaceSelector: ATOMIC });
const podTerms = fields({
  requiredDuringSchedulingIgnoredDuringExecution: items(podTerm),
  preferredDuringSchedulingIgnoredDuringExecution: items(fields({ podAffinityTerm: podTerm })),
});
const affinity = fields({
  nodeAffinity: fields({ requiredDuringSchedulingIgnoredDuringExecution: ATOMIC }),
  podAffinity: podTerms,
  podAntiAffinity: podTerms,
});

const container = fields({
  env: listBy(
    'name',
    fields({
      valueFrom: fields({
        configMapKeyRef: ATOMIC,
        fieldRef: ATOMIC,
        fileKeyRef: ATOMIC,
        resourceFieldRef: ATOMIC,
        secretKeyRef: ATOMIC,
      }),
    }),
  ),
  ports: {
    list: 'map',
    keys: ['containerPort', 'protocol'],
    keyDefaults: { protocol: 'TCP' },
    patchBy: { key: 'containerPort' },
  },
  volumeDevices: listBy('devicePath'),
  volumeMounts: listBy('mountPath'),
  resources: fields({ claims: { list: 'map', keys: ['name'] } }),
});

const podSpec = fields({
  affinity,
  containers: listBy('name', container),
  ephemeralContainers: listBy('name', container),
  hostAliases: listBy('ip'),
  imagePullSecrets: listBy('name'),
  initContainers: listBy('name', container),
  nodeSelector: ATOMIC,
  resourceClaims: listBy('name'),
  schedulingGates: listBy('name'),
  topologySpreadConstraints: {
    list: 'map',
    keys: ['topologyKey', 'whenUnsatisfiable'],
    patchBy: { key: 'topologyKey' },
    items: fields({ labelSelector: ATOMIC }),
  },
  volumes: listBy('name'),
});

const template = fields({ metadata: METADATA, spec: podSpec });
const workload = fields({ selector: ATOMIC, template });
const claim = fields({ dataSource: ATOMIC, selector: ATOMIC });
const containerStatuses: MergeSchema = items(
  fields({ allocatedResourcesStatus: listBy('name'), volumeMounts: listBy('mountPath') }),
);

const podStatus = fields({
  conditions: listBy('type'),
  hostIPs: { patchBy: { key: 'ip' } },
  podIPs: listBy('ip'),
  resourceClaimStatuses: listBy('name'),
  containerStatuses,
  initContainerStatuses: containerStatuses,
  ephemeralContainerStatuses: containerStatuses,
});

const jobSpec = workload;
const admissionPolicy = fields({
  matchConditions: listBy('name'),
  matchConstraints: ATOMIC,
  paramKind: ATOMIC,
  variables: listBy('name'),
});
const admissionBinding = fields({ matchResources: ATOMIC, paramRef: ATOMIC, validationActions: SET });

const KINDS: Readonly<Record<string, Readonly<Record<string, MergeSchema>>>> = {
  Node: {
    spec: fields({ podCIDRs: { list: 'set', patchBy: 'set' } }),
    status: fields({ addresses: listBy('type'), conditions: listBy('type') }),
  },
  Pod: { spec: podSpec, status: podStatus },
  Namespace: { status: conditions },
  Event: { involvedObject: ATOMIC, related: ATOMIC },
  Service: {
    spec: fields({
      ports: { list: 'map', keys: ['port', 'protocol'], keyDefaults: { protocol: 'TCP' }, patchBy: { key: 'port' } },
      selector: ATOMIC,
    }),
    status: conditions,
  },
  ServiceAccount: { secrets: listBy('name') },
  PersistentVolume: { spec: fields({ claimRef: ATOMIC, nodeAffinity: fields({ required: ATOMIC }) }) },
  PersistentVolumeClaim: { spec: claim, status: conditions },
  ReplicationController: { spec: workload, status: conditions },
  Deployment: { spec: workload, status: conditions },
  DaemonSet: { spec: workload, status: conditions },
  ReplicaSet: { spec: workload, status: conditions },
  StatefulSet: {
    spec: fields({ ...workload.fields, volumeClaimTemplates: items(fields({ metadata: METADATA, spec: claim })) }),
    status: conditions,
  },
  Job: {
    spec: jobSpec,
    status: fields({
      conditions: { patchBy: { key: 'type' } },
      uncountedTerminatedPods: fields({ failed: SET, succeeded: SET }),
    }),
  },
  CronJob: { spec: fields({ jobTemplate: fields({ metadata: METADATA, spec: jobSpec }) }) },
  PodDisruptionBudget: {
    spec: fields({ selector: { atomic: true, patchReplaces: true } }),
    status: conditions,
  },
  CSINode: { spec: fields({ drivers: listBy('name') }) },
  RoleBinding: { roleRef: ATOMIC },
  ClusterRoleBinding: { roleRef: ATOMIC },
  ValidatingAdmissionPolicy: { spec: admissionPolicy, status: fields({ conditions: appliedByType }) },
  ValidatingAdmissionPolicyBinding: { spec: admissionBinding },
  MutatingAdmissionPolicy: { spec: admissionPolicy },
  MutatingAdmissionPolicyBinding: { spec: admissionBinding },
  CustomResourceDefinition: { status: fields({ conditions: appliedByType }) },
};

/** The merge schema of a built-in kind. */
export function builtInMergeSchema(kind: string): MergeSchema {
  return fields({ metadata: METADATA, ...(Object.hasOwn(KINDS, kind) ? KINDS[kind] : {}) });
}
