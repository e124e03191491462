/**
 * I5: a termination ends. When its deadline has come, or nothing is left that it may wait for, NodeClaim and Node are gone within five
 * minutes.
 */
import type { KubernetesObject } from '../../shared/domain/kubernetes-object.ts';
import { toEpochMs, toIsoText } from '../../shared/domain/time.ts';
import { providerIDOf } from './deadline.ts';
import { isOurFinalizer } from './finalizers.ts';
import { LONGEST_DELAY, type CheckContext, type MakeCheck } from './invariant.ts';
import {
  annotationOf,
  dig,
  instantOf,
  listOf,
  millisecondsOf,
  nameOf,
  poolNameOf,
  TERMINATION_TIMESTAMP,
} from './reading.ts';
import { protectionEnd, protectionFactsOf } from './protection-oracle.ts';
import { countsForDrain, isAttachedTo, terminationPlan, type TerminationPlan } from './termination-oracle.ts';

const KARPENTER_FINALIZER = 'karpenter.sh/termination';

export const checkTerminationEnd: MakeCheck = context => {
  const { mirror, now, quietSince, violate } = context;
  /** By UID: since when nothing holds its end. */
  const free = new Map<string, number>();
  return {
    onMinute() {
      const quiet = quietSince();
      if (quiet === undefined) return free.clear();
      const ending = [...mirror.all('nodeclaims').values(), ...mirror.all('nodes').values()].filter(
        isHeldByUs(context),
      );
      const uids = new Set(ending.map(({ metadata }) => metadata.uid));
      for (const uid of free.keys()) if (!uids.has(uid)) free.delete(uid);
      for (const object of ending) {
        const { uid } = object.metadata;
        if (isHeldUp(object, context)) {
          free.delete(uid);
          continue;
        }
        const since = Math.max(free.get(uid) ?? now(), quiet, ...denialsAround(object, context));
        free.set(uid, since);
        if (now() - since <= LONGEST_DELAY) continue;
        violate(
          'I5',
          `nothing holds the end of ${nameOf(object)} since ${toIsoText(toEpochMs(since))}, and it is not over`,
        );
        free.set(uid, Infinity);
      }
    },
  };
};

/** When a change of the object, or of what ends with it, was denied. Once its deadline forces, no pod of it holds the end. */
function denialsAround(object: KubernetesObject, context: CheckContext): readonly number[] {
  const { mirror, now } = context;
  const instance = providerIDOf(object);
  const claim = [...mirror.all('nodeclaims').values()].find(each => providerIDOf(each) === instance);
  const { plan } = planFor(claim ?? object, context);
  const isForced = plan !== 'unknown' && latestDeadline(claim ?? object, plan) <= now();
  const lastDenial = isForced ? context.lastDenialOfItself : context.lastDenial;
  return (['nodeclaims', 'nodes'] as const).flatMap(resource =>
    [...mirror.all(resource).values()]
      .filter(other => providerIDOf(other) === instance)
      .map(({ metadata }) => lastDenial(resource, metadata)),
  );
}

const isHeldByUs =
  ({ mirror }: CheckContext) =>
  ({ metadata }: KubernetesObject): boolean =>
    metadata.deletionTimestamp !== undefined && (metadata.finalizers ?? []).some(name => isOurFinalizer(name, mirror));

/** Whether anything may keep the termination from its end now: an object that is being deleted and has our finalizer. */
function isHeldUp(object: KubernetesObject, context: CheckContext): boolean {
  const { mirror, instanceState, failsInstance, now } = context;
  const instance = providerIDOf(object);
  const claims = [...mirror.all('nodeclaims').values()].filter(claim => providerIDOf(claim) === instance);
  const nodes = [...mirror.all('nodes').values()].filter(
    node => instance !== undefined && providerIDOf(node) === instance,
  );
  // Who shares an instance, or names none, is judged by nobody here.
  if (instance === undefined || claims.length > 1 || nodes.length > 1) return true;
  const [claim] = claims;
  if ((claim?.metadata.finalizers ?? []).includes(KARPENTER_FINALIZER) || failsInstance(instance)) return true;
  const { plan, isPoolGone } = planFor(claim ?? object, context);
  // What one that went had asked for holds if it was seen in time: nobody here knows.
  if (isPoolGone || plan === 'unknown') return true;
  if (latestDeadline(claim ?? object, plan) <= now()) return false;
  if (plan !== 'none' && plan.hooks.length > 0) return true;
  const state = instanceState(instance);
  const isGone = state === undefined || state === 'terminated';
  // While a Node is Ready its kubelet speaks, whatever the cloud says.
  const runsNothing = (node: KubernetesObject): boolean => state === 'stopped' || (isGone && !isReady(node));
  return nodes.some(node => !runsNothing(node) && isBusy(node, context));
}

function planFor(
  object: KubernetesObject,
  { mirror, policiesInForce }: CheckContext,
): { readonly plan: TerminationPlan | 'none' | 'unknown'; readonly isPoolGone: boolean } {
  const poolName = poolNameOf(object);
  const pool = mirror.named('nodepools', poolName);
  const isPoolGone = pool === undefined && mirror.lastPools().has(poolName ?? '');
  const policies = policiesInForce([...mirror.all('nodelifecyclepolicies').values()]);
  return { plan: terminationPlan(pool, policies), isPoolGone };
}

const isReady = (node: KubernetesObject): boolean =>
  listOf(dig(node, 'status', 'conditions')).some(
    condition => dig(condition, 'type') === 'Ready' && dig(condition, 'status') === 'True',
  );

/** What sets the deadline now; the one in force may be nearer. */
function latestDeadline(object: KubernetesObject, plan: TerminationPlan | 'none'): number {
  const declared = instantOf(annotationOf(object, TERMINATION_TIMESTAMP));
  const deletion = instantOf(object.metadata.deletionTimestamp);
  const period =
    millisecondsOf(dig(object, 'spec', 'terminationGracePeriod')) ?? (plan === 'none' ? undefined : plan.periodMs);
  return declared ?? (deletion === undefined || period === undefined ? Infinity : deletion + period);
}

/** A pod that may not go, or is on its way, or a volume that is attached. */
function isBusy(node: KubernetesObject, { mirror, now }: CheckContext): boolean {
  const { name } = node.metadata;
  const facts = protectionFactsOf(node, mirror);
  const namespaces = new Set(
    [...mirror.all('poddisruptionbudgets').values()].map(({ metadata }) => metadata.namespace),
  );
  const isStaying = (pod: KubernetesObject): boolean =>
    pod.metadata.deletionTimestamp !== undefined ||
    namespaces.has(pod.metadata.namespace) ||
    (protectionEnd(pod, facts) ?? 0) > now();
  const pods = mirror.podsOn(name);
  return (
    pods.some(pod => isStaying(pod) && (countsForDrain(pod, now()) || (protectionEnd(pod, facts) ?? 0) > now())) ||
    [...mirror.all('volumeattachments').values()].some(attachment => isAttachedTo(attachment, node))
  );
}
