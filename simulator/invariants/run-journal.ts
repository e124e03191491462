/** Journal of what one run has seen and done, out of its calls. */
import type { KubernetesObject } from '../../shared/domain/kubernetes-object.ts';
import type { PortCall, Run } from './invariant.ts';
import { dig, fieldsOf, instantOf, listOf, objectOf, TERMINATION_TIMESTAMP, textOf } from './reading.ts';

/** `patch nodeclaims nc1`: the resource and the name of a Kubernetes call. */
export interface Target {
  readonly resource: string;
  readonly namespace: string | undefined;
  readonly name: string | undefined;
}

/** Without a name for a list or a create. */
export function targetOf({ method, args }: PortCall): Target {
  const [first] = args;
  // `list` and `create` take the type, the other verbs a reference.
  const type = method === 'list' || method === 'create' ? first : dig(first, 'type');
  return {
    resource: textOf(dig(type, 'resource')) ?? '',
    namespace: textOf(dig(first, 'namespace')),
    name: textOf(dig(first, 'name')),
  };
}

export const isKubernetes = (call: PortCall, ...methods: readonly string[]): boolean =>
  call.port === 'kubernetes' && methods.includes(call.method);

/** The answered writes of records that the run made after a call. */
export const putsAfter = (call: PortCall, { calls }: Run): readonly PortCall[] =>
  calls
    .slice(calls.indexOf(call))
    .filter(({ port, method, outcome }) => port === 'records' && method === 'put' && outcome.kind === 'answered');

/** Whether one of them was stored. */
export const isStoredAfter = (call: PortCall, run: Run): boolean =>
  putsAfter(call, run).some(({ outcome }) => outcome.kind === 'answered' && dig(outcome.value, 'kind') === 'written');

/** The version that the object must still have: the API server refuses the call after any change that the run has not seen. */
export const exactVersionOf = ({ method, args }: PortCall): string | undefined =>
  textOf(dig(args[1], ...(method === 'delete' ? ['preconditions'] : ['body', 'metadata']), 'resourceVersion'));

/** Further than any clock of a function is ahead. */
const AHEAD = 60_000;

/**
 * Of a NodeClaim: a delete, or the annotation that makes a termination forceful. An instant that lies ahead does not: it is what somebody
 * else had set, and comes back when a repair is called off.
 */
export function isTermination(call: PortCall): boolean {
  if (!isKubernetes(call, 'delete', 'patch') || targetOf(call).resource !== 'nodeclaims') return false;
  if (call.method === 'delete') return true;
  const instant = instantOf(dig(call.args[1], 'body', 'metadata', 'annotations', TERMINATION_TIMESTAMP));
  return instant !== undefined && instant <= call.time + AHEAD;
}

/** The last answered read of one object of a resource, and its place among the calls. */
export function lastGet(
  run: Run,
  resource: string,
  isMeant: (object: KubernetesObject) => boolean = () => true,
): { readonly object: KubernetesObject | undefined; readonly index: number } | undefined {
  const index = run.calls.findLastIndex(call => {
    if (!isKubernetes(call, 'get') || call.outcome.kind !== 'answered') return false;
    const object = answerOf(call);
    return targetOf(call).resource === resource && (object === undefined || isMeant(object));
  });
  const call = run.calls[index];
  return call && { object: answerOf(call), index };
}

/** The object as the run saw it last: read, or in the answer to a patch of its own. */
export function lastSeen(run: Run, resource: string): KubernetesObject | undefined {
  const read = lastGet(run, resource);
  const patched = run.calls.findLast(
    (call, index) =>
      index > (read?.index ?? -1) &&
      isKubernetes(call, 'patch') &&
      targetOf(call).resource === resource &&
      answerOf(call),
  );
  return (patched && answerOf(patched)) ?? read?.object;
}

/** The object in the answer to a `get` or `patch`; undefined: there was none. */
export const answerOf = ({ outcome }: PortCall): KubernetesObject | undefined =>
  outcome.kind === 'answered' ? objectOf(dig(outcome.value, 'object')) : undefined;

/** The objects of the last answered list of a resource. */
export function lastList(run: Run, resource: string): readonly KubernetesObject[] | undefined {
  const call = run.calls.findLast(
    each => isKubernetes(each, 'list') && each.outcome.kind === 'answered' && targetOf(each).resource === resource,
  );
  return call && shownBy(call);
}

/** The objects in the answer to a list. */
const shownBy = ({ outcome }: PortCall): readonly KubernetesObject[] =>
  outcome.kind === 'answered' ? listOf(dig(outcome.value, 'objects')).flatMap(item => objectOf(item) ?? []) : [];

/** The pod of the call as the run saw it last. */
export function seenPod(call: PortCall, run: Run): KubernetesObject | undefined {
  const { name, namespace } = targetOf(call);
  const isMeant = ({ metadata }: KubernetesObject): boolean =>
    metadata.name === name && metadata.namespace === namespace;
  const got = lastGet(run, 'pods')?.object;
  return got !== undefined && isMeant(got) ? got : lastList(run, 'pods')?.find(isMeant);
}

/** One run may act on several of these, and what it cannot learn of one is nothing to the others. */
const ACTED_ON_ONE_BY_ONE: readonly string[] = ['nodes', 'nodeclaims', 'pods'];
/** The API groups of kinds that Curfew itself knows. Each other kind is that of a user's template. */
const KNOWN_GROUPS = /^(?:|apps|policy|.+\.k8s\.io|karpenter\..+|curfew\.dev|.+\.medik8s\.io|.+\.nvidia\.com)$/;

/**
 * Reads that failed without a later successful one of the same object, by itself or in a list. That the Node of a NodeClaim was looked at
 * again is I3's to check.
 * An Event that is counted up says nothing of the world. The templates of custom resources stand in the ConfigMap of the configuration,
 * and are read one by one: once the configuration was looked at again after the intent, a read that fails is that of a template.
 * The answer of a custom resource only ends a wait before its time: the checks of hooks, drains and ladders know how long that is.
 *
 * @param targets names of the object that is acted on and of its Node: a failed read of other single objects, and of the pods on other
 *   Nodes, is left out
 */
export function failedReads(run: Run, targets: readonly (string | undefined)[]): readonly string[] {
  /** By what was asked; the value names the single object that was. */
  const failed = new Map<string, string>();
  const intent = lastRecordWrite(run);
  let hasConfiguration = false;
  for (const [index, call] of run.calls.entries()) {
    if (!isKubernetes(call, 'get', 'list') && !(call.port === 'records' && call.method === 'get')) continue;
    // The pass of another pool knows nothing of what this one could not read.
    if (beginsPass(call)) failed.clear();
    const { resource, namespace, name } = targetOf(call);
    if (isKubernetes(call, 'get', 'list') && resource === 'events') continue;
    if (isKubernetes(call, 'get') && !KNOWN_GROUPS.test(textOf(dig(call.args[0], 'type', 'group')) ?? '')) continue;
    if (isKubernetes(call, 'get') && ACTED_ON_ONE_BY_ONE.includes(resource) && !targets.includes(name)) continue;
    const ofNode = /^spec\.nodeName=(.*)$/.exec(textOf(dig(call.args[1], 'fieldSelector')) ?? '')?.[1];
    if (isKubernetes(call, 'list') && ofNode !== undefined && !targets.includes(ofNode)) continue;
    const isConfiguration = isKubernetes(call, 'get') && resource === 'configmaps';
    if (isConfiguration && hasConfiguration) continue;
    hasConfiguration ||= isConfiguration && index > intent && call.outcome.kind === 'answered';
    const key = `${call.port} ${call.method} ${JSON.stringify(call.args)}`;
    if (call.outcome.kind === 'failed') failed.set(key, placeOf(resource, namespace, name));
    if (call.outcome.kind !== 'answered') continue;
    failed.delete(key);
    if (failed.size === 0 || !isKubernetes(call, 'list')) continue;
    const shown = new Set(shownBy(call).map(({ metadata }) => placeOf(resource, metadata.namespace, metadata.name)));
    for (const [read, place] of failed) if (shown.has(place)) failed.delete(read);
  }
  return [...failed.keys()];
}

/** One run may make the passes of several pools, one after the other. */
const beginsPass = ({ port, args: [key] }: PortCall): boolean =>
  port === 'records' && (textOf(dig(key, 'id')) ?? '').startsWith('round/pass/');

const placeOf = (...parts: readonly (string | undefined)[]): string => parts.join('/');

/** Whether the run knows of a promise: it wrote a record of its own, or read one that an earlier run had written. */
export function knowsRecord(run: Run): boolean {
  if (lastRecordWrite(run) >= 0) return true;
  return run.calls.some(
    ({ port, method, outcome }) =>
      port === 'records' && method === 'get' && outcome.kind === 'answered' && outcome.value !== undefined,
  );
}

/** Records of settings that were read: the configuration, and policies that stay in force. */
const OF_SETTINGS = /^(?:configuration$|(?:kept-)?policy\/)/;

/** Index of the last write of a record that was taken, among the calls; -1 for none. A record of settings is no intent. */
export function lastRecordWrite(run: Run): number {
  return run.calls.findLastIndex(
    ({ port, method, args, outcome }) =>
      port === 'records' &&
      method === 'put' &&
      outcome.kind === 'answered' &&
      fieldsOf(outcome.value)['kind'] === 'written' &&
      !OF_SETTINGS.test(textOf(dig(args[0], 'id')) ?? ''),
  );
}

/** The call's method in the third person: `deletes`, `patches`. */
export const does = ({ method }: PortCall): string => (method.endsWith('ch') ? `${method}es` : `${method}s`);
