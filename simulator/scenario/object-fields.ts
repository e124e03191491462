/**
 * Fields of objects that a scenario misspells. Others may be added to a kind by any version of Kubernetes, so only a field that is a slip
 * or two from a known one counts.
 */
import { OBJECT_META_TYPES } from '../../packages/kube-apiserver/src/resources/object-meta.ts';
import { isArray, isObject } from '../../packages/kube-apiserver/src/json.ts';
import { ANNOTATIONS, KARPENTER, NVSENTINEL } from '../../shared/contract/names.ts';
import type { JsonObject, JsonValue } from '../../shared/domain/kubernetes-object.ts';
import { isMisspelling, suggestion } from '../../shared/domain/nearest-name.ts';
import type { KnownResource } from './resource-names.ts';

/** A key that was hardly meant: where it stands, and the hint. */
export interface Misspelling {
  readonly path: readonly PropertyKey[];
  readonly message: string;
}

/** An OpenAPI schema of an object with these fields. */
const withFields = (properties: JsonObject): JsonObject => ({ properties });
const fieldsOf = (names: readonly string[]): JsonObject => Object.fromEntries(names.map(name => [name, {}]));
/** @param names with spaces between them */
const named = (names: string): JsonObject => fieldsOf(names.split(' '));

/** Annotations and labels by which Curfew and others talk. */
const KEYS = withFields(
  fieldsOf([
    ...Object.values(ANNOTATIONS),
    KARPENTER.nodePoolLabel,
    KARPENTER.doNotDisruptAnnotation,
    KARPENTER.terminationTimestampAnnotation,
    NVSENTINEL.stateLabel,
    NVSENTINEL.quarantineAnnotation,
    ...NVSENTINEL.releasedAnnotations,
  ]),
);
const METADATA = fieldsOf(Object.keys(OBJECT_META_TYPES));
const METADATA_AND_KEYS = withFields({ ...METADATA, labels: KEYS, annotations: KEYS });

const CONDITIONS: JsonObject = {
  items: withFields(
    named('type status reason message lastTransitionTime lastHeartbeatTime lastProbeTime observedGeneration'),
  ),
};

const NODE_SPEC = named('configSource externalID podCIDR podCIDRs providerID taints unschedulable');
const NODE_STATUS = named(
  'addresses allocatable capacity config daemonEndpoints declaredFeatures features images nodeInfo phase runtimeHandlers ' +
    'volumesAttached volumesInUse',
);
const POD_SPEC = named(
  'activeDeadlineSeconds affinity automountServiceAccountToken containers dnsConfig dnsPolicy enableServiceLinks ' +
    'ephemeralContainers hostAliases hostIPC hostNetwork hostPID hostUsers hostname hostnameOverride imagePullSecrets ' +
    'initContainers nodeName nodeSelector os overhead preemptionPolicy priority priorityClassName readinessGates resourceClaims ' +
    'resources restartPolicy runtimeClassName schedulerName schedulingGates securityContext serviceAccount serviceAccountName ' +
    'setHostnameAsFQDN shareProcessNamespace subdomain terminationGracePeriodSeconds tolerations topologySpreadConstraints ' +
    'volumes workloadRef',
);
const POD_STATUS = named(
  'allocatedResources containerStatuses ephemeralContainerStatuses extendedResourceClaimStatus hostIP hostIPs ' +
    'initContainerStatuses message nominatedNodeName observedGeneration phase podIP podIPs qosClass reason resize ' +
    'resourceClaimStatuses resources startTime',
);
const BUILT_IN: Readonly<Record<string, JsonObject>> = {
  nodes: { spec: withFields(NODE_SPEC), status: withFields({ ...NODE_STATUS, conditions: CONDITIONS }) },
  pods: { spec: withFields(POD_SPEC), status: withFields({ ...POD_STATUS, conditions: CONDITIONS }) },
};

const OF_EVERY_OBJECT = { apiVersion: {}, kind: {}, metadata: withFields(METADATA) };
const OF_MOST = { spec: {}, status: {}, data: {} };

/** What an author may write in an object of the resource. Its reader judges a custom resource: that it refuses one is what a scenario shows. */
export const writtenFields = (resource: KnownResource | undefined): JsonObject =>
  withFields({ ...OF_EVERY_OBJECT, ...OF_MOST, ...builtIn(resource) });

/** What there can be in an object of the resource; of any, when it is not known. */
export function expectedFields(resource: KnownResource | undefined): JsonObject {
  const properties = resource?.schema?.['properties'];
  const own = isObject(properties) ? properties : { ...OF_MOST, ...builtIn(resource) };
  return withFields({ ...own, ...OF_EVERY_OBJECT, metadata: METADATA_AND_KEYS });
}

const builtIn = (resource: KnownResource | undefined): JsonObject =>
  (resource?.group === '' ? BUILT_IN[resource.resource] : undefined) ?? {};

/** Kinds whose objects Curfew's users write, and where in them. */
const SETTINGS: Readonly<Record<string, readonly string[]>> = {
  NodeLifecyclePolicy: ['spec'],
  FinalizerRule: ['spec'],
  NodePool: ['spec', 'repair'],
};

/** Fields of Curfew's settings that hold nothing: the API server drops them, where who writes `repair:` means `repair: {}`. */
export function emptyFields({
  kind,
  body,
}: {
  readonly kind: string;
  readonly body: JsonObject;
}): readonly Misspelling[] {
  const root = SETTINGS[kind];
  if (root === undefined) return [];
  const empty = (value: JsonValue | undefined, path: readonly PropertyKey[]): readonly Misspelling[] => {
    if (value === null)
      return [{ path, message: 'is empty: give it a value, {} for the defaults of a block, or leave it out' }];
    if (isArray(value)) return value.flatMap((each, index) => empty(each, [...path, index]));
    return isObject(value) ? Object.entries(value).flatMap(([key, field]) => empty(field, [...path, key])) : [];
  };
  return empty(
    root.reduce<JsonValue | undefined>((value, key) => (isObject(value) ? value[key] : undefined), body),
    root,
  );
}

/** The misspelt keys of a value. */
export function misspeltFields(
  value: JsonValue | undefined,
  schema: JsonObject,
  path: readonly PropertyKey[],
): readonly Misspelling[] {
  if (isArray(value)) {
    const items = schema['items'];
    return isObject(items) ? value.flatMap((each, index) => misspeltFields(each, items, [...path, index])) : [];
  }
  if (!isObject(value)) return [];
  return Object.entries(value).flatMap(([key, field]) => {
    const message = complaintOf(key, schema);
    if (message !== undefined) return [{ path: [...path, key], message }];
    return misspeltFields(field, under(key, schema), [...path, key]);
  });
}

/** The first misspelt key of a dotted path; undefined: none. */
export function misspeltKey(keys: readonly string[], schema: JsonObject): string | undefined {
  let here = schema;
  for (const key of keys) {
    // An index of a list.
    if (/^\d+$/.test(key) && isObject(here['items'])) {
      here = here['items'];
      continue;
    }
    const message = complaintOf(key, here);
    if (message !== undefined) return `${JSON.stringify(key)}: ${message}`;
    here = under(key, here);
  }
  return undefined;
}

/** The part of a schema at a path; empty where it is open. */
export function schemaAt(path: readonly PropertyKey[], schema: JsonObject): JsonObject {
  return path.reduce<JsonObject>((here, key) => {
    const next = typeof key === 'number' ? here['items'] : propertiesOf(here)[String(key)];
    return isObject(next) ? next : {};
  }, schema);
}

/** The fields that a schema has at a path; none where it is open. */
export const fieldsAt = (path: readonly PropertyKey[], schema: JsonObject): readonly string[] =>
  Object.keys(propertiesOf(schemaAt(path, schema)));

const propertiesOf = ({ properties }: JsonObject): JsonObject => (isObject(properties) ? properties : {});

function under(key: string, schema: JsonObject): JsonObject {
  const found = propertiesOf(schema)[key];
  return isObject(found) ? found : {};
}

function complaintOf(key: string, schema: JsonObject): string | undefined {
  const known = Object.keys(propertiesOf(schema));
  return isMisspelling(key, known) ? `unknown field${suggestion(key, known)}` : undefined;
}
