/**
 * Drains, by what each run of the function had seen and what went over the bus:
 * - I2 a pod is disrupted for a drain that somebody asked for and nobody took back, in the way that the configuration says, after the
 *   warning that belongs to it, and in mode Observe for a drain alone that had begun; a Node is called drained when no pod is left that counts
 * - I4 a custom resource is made again once at most
 * - I7 only from a Node that is kept free, and only our own custom resources are deleted
 */
import type { KubernetesObject } from '../../shared/domain/kubernetes-object.ts';
import { checkDrainEnd } from './drain-end.ts';
import { checkDrainNews } from './drain-news.ts';
import { checkDrainLeft } from './drain-left.ts';
import { drainConfig, isComplete, isDrainable, isLeftBehind, STATE_LABEL } from './drain-oracle.ts';
import { createDrainRequests, type DrainRequests } from './drain-requests.ts';
import { CLOCK_LAG, LONGEST_DELAY, type CheckContext, type MakeCheck, type PortCall, type Run } from './invariant.ts';
import { annotationOf, dig, instantOf, labelOf, listOf, millisecondsOf, nameOf, poolNameOf } from './reading.ts';
import { isPolicyReadable, isSelecting, modeFor } from './policy-oracle.ts';
import { does, failedReads, isKubernetes, lastGet, lastList, lastSeen, seenPod, targetOf } from './run-journal.ts';

const MARK = 'curfew.dev/drain';
/** The first one, and one more when somebody removed it. */
const MAX_RESOURCES = 2;

export const checkDrain: MakeCheck = context => {
  const { now, quietSince, violate } = context;
  const requests = createDrainRequests(context);
  const end = checkDrainEnd(context, requests);
  const lookForLeft = checkDrainLeft(context, requests);
  const news = checkDrainNews(context, requests);
  /** When a policy or NodePool was changed last, so that another mode may have come into force. */
  let policyChange = 0;
  context.mirror.follow(resource => {
    if (resource === 'nodelifecyclepolicies' || resource === 'nodepools') policyChange = now();
  });
  /** UIDs of pods that were warned of. */
  const warned = new Set<string>();
  /** Custom resources made, by name. */
  const made = new Map<string, number>();
  /** Nodes of which a custom resource was seen to be complete. */
  const complete = new Set<string>();
  return {
    ...end,
    onMinute() {
      end.onMinute?.();
      lookForLeft();
      news.onMinute();
    },
    onBuried: news.onBuried,
    onBusEvent: event => requests.onBusEvent(event),
    onAudit(record) {
      end.onAudit?.(record);
      news.onAudit(record);
      if (record.decision === 'warn' && record.uid !== undefined) warned.add(record.uid);
    },
    onCall(call, run) {
      if (call.port === 'bus') {
        for (const entry of listOf(call.args[0])) {
          requests.onBusEvent({ detailType: String(dig(entry, 'detailType')), detail: dig(entry, 'detail') });
        }
      }
      if (run.by !== 'drain') return;
      const resource = lastGet(run, 'drainrequests')?.object;
      if (resource !== undefined && isComplete(resource)) complete.add(String(dig(resource, 'spec', 'nodeName')));
      if (isKubernetes(call, 'evict', 'delete') && targetOf(call).resource === 'pods') {
        const why = complainAboutPod(call, run, { context, requests, warned });
        if (why !== undefined) violate('I2', `drain ${does(call)} pods ${targetOf(call).name ?? ''}: ${why}`);
        const node = lastSeen(run, 'nodes');
        if (node !== undefined && !isKeptFree(node)) {
          violate('I7', `drain ${does(call)} pods of ${nameOf(node)}, which nobody keeps free`);
        }
      }
      const label = dig(call.args[1], 'body', 'metadata', 'labels', STATE_LABEL);
      if (isKubernetes(call, 'patch') && label === 'draining') {
        const since = Math.max(policyChange, quietSince() ?? Infinity);
        const node = lastGet(run, 'nodes')?.object;
        // What had begun before shows it within that time, unless its change of the Node was refused.
        const isNew = node !== undefined && !isDraining(node) && context.lastDenial('nodes', node.metadata) <= 0;
        if (isNew && since + LONGEST_DELAY <= now() && isObserved(node, run, context)) {
          violate('I7', `drain begins on ${nameOf(node)} although the mode is Observe`);
        }
      }
      if (!isKubernetes(call, 'patch') || label !== 'drain-succeeded') return;
      const unknown = failedReads(run, [targetOf(call).name]).filter(read => read.includes('"pods"'));
      if (unknown.length > 0) {
        violate('I6', `drain calls node ${targetOf(call).name ?? ''} drained although it could not read its pods`);
      }
      if (quietSince() === undefined) return;
      const why = leftOn(targetOf(call).name, run, complete, now());
      if (why !== undefined) violate('I2', `drain calls node ${targetOf(call).name ?? ''} drained: ${why}`);
    },
    onWrite(write, by) {
      const { verb, resource, before, after } = write;
      news.onWrite(write, by);
      if (by !== 'drain' || resource.resource !== 'drainrequests') return;
      if (verb === 'create' && after !== undefined) {
        const times = (made.get(after.metadata.name) ?? 0) + 1;
        made.set(after.metadata.name, times);
        if (times > MAX_RESOURCES) violate('I4', `drain makes ${nameOf(after)} for the ${times}. time`);
      }
      if (verb === 'delete' && before !== undefined && annotationOf(before, MARK) === undefined) {
        violate('I7', `drain deletes ${nameOf(before)}, which it has not made`);
      }
    },
  };
};

/** Its drain has begun. */
const isDraining = (node: KubernetesObject): boolean => labelOf(node, STATE_LABEL) === 'draining';

/** Cordoned, or in quarantine. */
const isKeptFree = (node: KubernetesObject): boolean =>
  dig(node, 'spec', 'unschedulable') === true || annotationOf(node, 'quarantineHealthEvent') !== undefined;

interface Known {
  readonly context: CheckContext;
  readonly requests: DrainRequests;
  readonly warned: ReadonlySet<string>;
}

function complainAboutPod(call: PortCall, run: Run, { context, requests, warned }: Known): string | undefined {
  const { now, clockTolerance, quietSince } = context;
  const pod = seenPod(call, run);
  const node = lastGet(run, 'nodes')?.object;
  if (pod === undefined || node === undefined) return undefined;
  const since = Math.max(now() - LONGEST_DELAY, 0);
  const open = requests.open(node.metadata.name, (quietSince() ?? Infinity) <= since ? since : 0);
  if (open.length === 0) return 'nobody asks for a drain of its node';
  if (!isDraining(node) && isObserved(node, run, context)) return 'the mode is Observe';
  const config = drainConfig(lastGet(run, 'configmaps')?.object);
  if (open.every(({ allPods }) => allPods === true))
    return call.method === 'evict' && isDrainable(pod) ? undefined : 'it is not to be evicted';
  if (config === undefined || open.some(({ allPods }) => allPods === true)) return undefined;
  const rule = config.modeOf(pod);
  if (!isDrainable(pod) || rule === undefined) return 'it is none of the drain’s';
  if (config.custom !== undefined && config.custom.fallback === undefined) return 'the custom drain is to end it';
  const first = Math.min(...open.map(({ time }) => time));
  if (call.method === 'delete' && now() + clockTolerance + CLOCK_LAG >= first + shortestForcedMs(node, run, context))
    return undefined;
  const mode = open.some(({ force }) => force) && rule !== 'Immediate' ? 'any' : rule;
  switch (mode) {
    case 'AllowCompletion':
      return 'it may complete';
    case 'Immediate':
      return call.method === 'evict' ? undefined : 'its mode is Immediate, which evicts';
    case 'DeleteAfterTimeout': {
      if (call.method === 'evict') return 'its mode is DeleteAfterTimeout, which does not evict';
      if (now() + clockTolerance + CLOCK_LAG < first + config.deleteAfterMs) return 'its time is not over';
      return warned.has(pod.metadata.uid) ? undefined : 'its owner was not warned';
    }
    default:
      return undefined;
  }
}

/** After which a drain may delete what is left, by any policy for the node that is there or that the run saw; Infinity: never. */
function shortestForcedMs(node: KubernetesObject, run: Run, { mirror }: CheckContext): number {
  const pool = poolSeen(node, run, mirror);
  const policies = [...(lastList(run, 'nodelifecyclepolicies') ?? []), ...mirror.all('nodelifecyclepolicies').values()];
  const drains = policies.filter(policy => isSelecting(policy, pool)).map(policy => dig(policy, 'spec', 'drain'));
  const forced = drains.filter(drain => dig(drain, 'onDeadline') === 'Force');
  return Math.min(Infinity, ...forced.map(drain => millisecondsOf(dig(drain, 'deadline')) ?? Infinity));
}

/** By what the run saw of the policies; false where one of them cannot be read. */
function isObserved(node: KubernetesObject, run: Run, { mirror }: CheckContext): boolean {
  const policies = lastList(run, 'nodelifecyclepolicies') ?? [];
  if (!policies.every(isPolicyReadable)) return false;
  return modeFor(poolSeen(node, run, mirror), policies, 'drain') === 'Observe';
}

/** The NodePool of a Node as the run saw it, else as it was last. */
function poolSeen(node: KubernetesObject, run: Run, mirror: CheckContext['mirror']): KubernetesObject | undefined {
  const name = poolNameOf(node);
  const seen = lastGet(run, 'nodepools', ({ metadata }) => metadata.name === name)?.object;
  return seen ?? mirror.lastPools().get(name ?? '');
}

/** Why a Node is not drained, by what the run saw; pods that came lately may have come in between. */
function leftOn(name: string | undefined, run: Run, complete: ReadonlySet<string>, now: number): string | undefined {
  const config = drainConfig(lastGet(run, 'configmaps')?.object);
  if (config === undefined || complete.has(name ?? '')) return undefined;
  const left = (lastList(run, 'pods') ?? []).find(
    pod =>
      dig(pod, 'spec', 'nodeName') === name &&
      isDrainable(pod) &&
      config.modeOf(pod) !== undefined &&
      !isLeftBehind(pod, now) &&
      (instantOf(pod.metadata.creationTimestamp) ?? Infinity) < now - LONGEST_DELAY,
  );
  return left === undefined ? undefined : `${nameOf(left)} is still there`;
}
