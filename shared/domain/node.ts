/** The parts of a Node that rules look at. Reading never throws: what cannot be read is absent. */
import { cutText } from './cut-text.ts';
import { fieldsOf, listIn, objectIn, optionalText, textOrEmpty } from './json.ts';
import { deletionTimeOf, type JsonValue, type KubernetesObject } from './kubernetes-object.ts';
import { parseTimestamp, type EpochMs } from './time.ts';

export const ZONE_LABEL = 'topology.kubernetes.io/zone';
/** A person's veto against repair, on a Node, NodeClaim or NodePool; the value may be an RFC 3339 instant until which it counts. */
export const DO_NOT_REPAIR_ANNOTATION = 'curfew.dev/do-not-repair';
/** On a Node that a repair has cordoned: it is opened again at the end, unless somebody else has closed it. */
export const CORDONED_BY_REPAIR_ANNOTATION = 'curfew.dev/cordoned-by-repair';

/** On the NodeClaim and the Node of a replacement that is not in use yet: the UID of the Node that it replaces. */
export const REPLACES_ANNOTATION = 'curfew.dev/replaces';

/** Beside it, where the NodePool's template says it: the `karpenter.sh/do-not-disrupt` that stays once the replacement is in use. */
export const POOL_HOLD_ANNOTATION = 'curfew.dev/do-not-disrupt-of-pool';

/** Keeps pods off such a replacement. */
export const RESERVED_TAINT = 'curfew.dev/reserved';

export const isReserved = ({ taints }: Pick<NodeView, 'taints'>): boolean =>
  taints?.some(({ key }) => key === RESERVED_TAINT) === true;

export interface NodeCondition {
  readonly type: string;
  /** `True`, `False` or `Unknown`. */
  readonly status: string;
  readonly reason: string;
  readonly message: string;
  /** Moves only when `status` does; whole seconds. Absent when missing or not RFC 3339. */
  readonly lastTransitionTime: EpochMs | undefined;
}

export interface NodeView {
  readonly name: string;
  readonly uid: string;
  readonly resourceVersion: string;
  readonly providerID: string | undefined;
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
  readonly conditions: readonly NodeCondition[];
  readonly creationTime?: EpochMs | undefined;
  readonly deletionTime: EpochMs | undefined;
  /** Another one after each boot of the machine. */
  readonly bootID?: string | undefined;
  /** The NodeClaim that owns it, where Karpenter says so. */
  readonly ownerClaim?: string | undefined;
  readonly taints?: readonly NodeTaint[];
  /** Cordoned. */
  readonly unschedulable?: boolean;
  readonly finalizers?: readonly string[];
}

export interface NodeTaint {
  readonly key: string;
  readonly value: string;
}

/** The providerID of a Node's instance. */
export const providerIDOfNode = ({ spec }: KubernetesObject): string | undefined => optionalText(spec?.['providerID']);

/** Reads a Node object. */
export function readNode(object: KubernetesObject): NodeView {
  const { metadata, spec, status } = object;
  return {
    name: metadata.name,
    uid: metadata.uid,
    resourceVersion: metadata.resourceVersion,
    providerID: providerIDOfNode(object),
    labels: metadata.labels ?? {},
    annotations: metadata.annotations ?? {},
    conditions: readConditions(status?.['conditions']),
    creationTime: parseTimestamp(metadata.creationTimestamp ?? ''),
    deletionTime: deletionTimeOf(object),
    bootID: optionalText(objectIn(status, 'nodeInfo')['bootID']),
    ownerClaim: metadata.ownerReferences?.find(({ kind }) => kind === 'NodeClaim')?.name,
    taints: listIn(spec, 'taints').flatMap(readTaint),
    unschedulable: spec?.['unschedulable'] === true,
    finalizers: metadata.finalizers ?? [],
  };
}

function readTaint(taint: JsonValue): readonly NodeTaint[] {
  const { key, value } = fieldsOf(taint);
  return textOrEmpty(key) === '' ? [] : [{ key: textOrEmpty(key), value: textOrEmpty(value) }];
}

/** Go's zero time is how a client in Go leaves a time out. Read as an instant, every toleration would have passed since. */
function readTransition(value: string): EpochMs | undefined {
  const time = parseTimestamp(value);
  return time === GO_ZERO_TIME ? undefined : time;
}

const GO_ZERO_TIME = parseTimestamp('0001-01-01T00:00:00Z');

/** Reads a `status.conditions` list of any kind; entries without a type are passed over. */
export function readConditions(value: JsonValue | undefined): readonly NodeCondition[] {
  if (!Array.isArray(value)) return [];
  const conditions: NodeCondition[] = [];
  for (const entry of value as readonly unknown[]) {
    const { type, status, reason, message, lastTransitionTime } = fieldsOf(entry);
    if (textOrEmpty(type) === '') continue;
    conditions.push({
      type: textOrEmpty(type),
      status: textOrEmpty(status),
      reason: textOrEmpty(reason),
      message: cutText(textOrEmpty(message)),
      lastTransitionTime: readTransition(textOrEmpty(lastTransitionTime)),
    });
  }
  return conditions;
}

/** Whether the condition of this type is True. */
export const isConditionTrue = (conditions: readonly NodeCondition[] | undefined, type: string): boolean =>
  conditions?.some(each => each.type === type && each.status === 'True') === true;

/** Since when the node's kubelet does not report: the node controller then writes `Unknown`. Undefined: it reports, or nobody says. */
export function kubeletSilentSince(conditions: readonly NodeCondition[]): EpochMs | undefined {
  const ready = conditions.find(({ type }) => type === 'Ready');
  return ready?.status === 'Unknown' ? ready.lastTransitionTime : undefined;
}

type NamedNode = { readonly name: string; readonly uid?: string | undefined };

/** A Node as records and wake-ups name it. */
export const nodeSubject = ({ name, uid }: NamedNode) => ({ apiVersion: 'v1', kind: 'Node', name, uid });

/** A Node as Events and audit lines name it. */
export const aboutNode = ({ name, uid }: NamedNode) => ({
  apiVersion: 'v1',
  kind: 'Node',
  metadata: { name, ...(uid !== undefined && { uid }) },
});
