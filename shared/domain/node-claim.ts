/** The parts of a NodeClaim that rules look at. */
import { deletionTimeOf, type JsonValue, type KubernetesObject } from './kubernetes-object.ts';
import { fieldsOf, listIn, optionalText } from './json.ts';
import { nanosecondsToDuration, parseGoDuration } from './go-duration.ts';
import { readConditions, REPLACES_ANNOTATION, type NodeCondition } from './node.ts';
import { addDuration, isDue, parseTimestamp, type DurationMs, type EpochMs } from './time.ts';

/** On a NodeClaim: when its termination is forced; an instant that has passed means now. */
export const TERMINATION_TIMESTAMP_ANNOTATION = 'karpenter.sh/nodeclaim-termination-timestamp';
/** On NodeClaims and Nodes: the NodePool that they were made for. */
export const NODE_POOL_LABEL = 'karpenter.sh/nodepool';

export interface NodeClaimView {
  readonly name: string;
  readonly uid: string;
  readonly resourceVersion: string;
  readonly providerID: string | undefined;
  /** Set once the Node has registered. */
  readonly nodeName?: string | undefined;
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
  readonly finalizers: readonly string[];
  readonly deletionTime: EpochMs | undefined;
  readonly conditions?: readonly NodeCondition[];
  /** From its deletion on; undefined: none, or no duration from `0s` on. */
  readonly terminationGracePeriod?: DurationMs | undefined;
  /** Keys of the taints that go once the node has started. */
  readonly startupTaints?: readonly string[];
}

/** The providerID of the instance that Karpenter has launched for a NodeClaim. */
export const providerIDOfClaim = ({ status }: KubernetesObject): string | undefined =>
  optionalText(status?.['providerID']);

/** Reads a NodeClaim object. */
export function readNodeClaim(object: KubernetesObject): NodeClaimView {
  const { metadata, spec, status } = object;
  return {
    name: metadata.name,
    uid: metadata.uid,
    resourceVersion: metadata.resourceVersion,
    providerID: providerIDOfClaim(object),
    nodeName: optionalText(status?.['nodeName']),
    labels: metadata.labels ?? {},
    annotations: metadata.annotations ?? {},
    finalizers: metadata.finalizers ?? [],
    deletionTime: deletionTimeOf(object),
    conditions: readConditions(status?.['conditions']),
    terminationGracePeriod: readDuration(spec?.['terminationGracePeriod']),
    startupTaints: listIn(spec, 'startupTaints').flatMap(keyOf),
  };
}

/** Whether it has a deadline that is no later. Karpenter replaces one that does not parse. */
export function hasDeadlineBy({ annotations }: NodeClaimView, time: EpochMs): boolean {
  const deadline = parseTimestamp(annotations[TERMINATION_TIMESTAMP_ANNOTATION] ?? '');
  return deadline !== undefined && isDue(time, deadline);
}

/**
 * Time at which a termination that begins now ends the remaining pods; undefined: never, it waits for them.
 *
 * @param bound how long they have at most; `Inherit`: as long as the NodeClaim itself gives them
 */
export function deadlineBy(
  { terminationGracePeriod: own }: NodeClaimView,
  bound: DurationMs | 'Inherit',
  now: EpochMs,
): EpochMs | undefined {
  const time = bound === 'Inherit' || (own !== undefined && own < bound) ? own : bound;
  return time === undefined ? undefined : addDuration(now, time);
}

function keyOf(taint: JsonValue): readonly string[] {
  const { key } = fieldsOf(taint);
  return typeof key === 'string' ? [key] : [];
}

function readDuration(value: unknown): DurationMs | undefined {
  const parsed = typeof value === 'string' ? parseGoDuration(value) : undefined;
  return parsed?.ok === true && parsed.nanoseconds >= 0n ? nanosecondsToDuration(parsed.nanoseconds) : undefined;
}

const UID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
/** Name of a replacement's NodeClaim: it ends with the UID of the NodeClaim that is replaced. */
const NAME_OF_REPLACEMENT = /-curfew-[0-9a-f]{8}(?:-\d+)?$/;

/**
 * The UID of the node that a NodeClaim replaces, by its mark; undefined: it replaces none, or is being deleted. A mark that
 * somebody has copied to a NodeClaim of another name counts for nothing.
 */
export function replacedNode({ name, annotations, deletionTime }: NodeClaimView): string | undefined {
  const uid = annotations[REPLACES_ANNOTATION];
  const isOurs = uid !== undefined && UID.test(uid) && NAME_OF_REPLACEMENT.test(name);
  return isOurs && deletionTime === undefined ? uid : undefined;
}
