/**
 * I5: one failure holds one thing. While the API server refuses changes of one pod, those beside it that may go are asked to go within five
 * minutes: of a node that ends, those of the class that goes now; of one that is drained, those whose mode is to go at once.
 */
import type { KubernetesObject } from '../../shared/domain/kubernetes-object.ts';
import { toEpochMs, toIsoText } from '../../shared/domain/time.ts';
import { drainConfig, isDrainable, STATE_LABEL, type DrainConfig } from './drain-oracle.ts';
import { isOurFinalizer } from './finalizers.ts';
import { LONGEST_DELAY, type CheckContext, type MakeCheck } from './invariant.ts';
import { configurationIn } from './mirror.ts';
import { protectionEnd, protectionFactsOf } from './protection-oracle.ts';
import { dig, instanceOfNode, nameOf, poolNameOf } from './reading.ts';
import { classOf, countsForDrain, terminationPlan } from './termination-oracle.ts';

export const checkHeldBack: MakeCheck = context => {
  const { mirror, now, quietSince, refusedUntil, violate } = context;
  /** By the UID of a pod: since when it may go and another one on its node is refused. */
  const free = new Map<string, number>();
  return {
    onMinute() {
      const quiet = quietSince();
      if (quiet === undefined) return free.clear();
      const seen = new Set<string>();
      const isRefused = (pod: KubernetesObject): boolean => refusedUntil('pods', pod.metadata) >= now();
      const refused = new Set(
        [...mirror.all('pods').values()].filter(isRefused).map(pod => dig(pod, 'spec', 'nodeName')),
      );
      if (refused.size === 0) return free.clear();
      for (const node of mirror.all('nodes').values()) {
        if (!refused.has(node.metadata.name)) continue;
        const pods = mirror.podsOn(node.metadata.name);
        for (const pod of goingFrom(node, pods, context)) {
          const { uid, deletionTimestamp } = pod.metadata;
          if (deletionTimestamp !== undefined || isRefused(pod) || isKept(pod, node, context)) continue;
          seen.add(uid);
          const since = Math.max(free.get(uid) ?? now(), quiet);
          free.set(uid, since);
          if (now() - since <= LONGEST_DELAY) continue;
          violate(
            'I5',
            `nothing holds ${nameOf(pod)} on ${nameOf(node)} since ${toIsoText(toEpochMs(since))}, but that another pod is refused, and it was not asked to go`,
          );
          free.set(uid, Infinity);
        }
      }
      for (const uid of free.keys()) if (!seen.has(uid)) free.delete(uid);
    },
  };
};

/** The pods that whoever empties the node has to do with now. */
function goingFrom(
  node: KubernetesObject,
  pods: readonly KubernetesObject[],
  context: CheckContext,
): readonly KubernetesObject[] {
  if (isEnding(node, context)) {
    const counting = pods.filter(pod => countsForDrain(pod, context.now()));
    const lowest = Math.min(...counting.map(classOf));
    return counting.filter(pod => classOf(pod) === lowest);
  }
  const config = drainedBy(node, context);
  return config === undefined ? [] : pods.filter(pod => isDrainable(pod) && config.modeOf(pod) === 'Immediate');
}

/** Under our finalizer, on a machine that runs, without hooks that may come first. */
function isEnding(node: KubernetesObject, { mirror, instanceState }: CheckContext): boolean {
  const { deletionTimestamp, finalizers = [] } = node.metadata;
  if (deletionTimestamp === undefined || !finalizers.some(name => isOurFinalizer(name, mirror))) return false;
  if (instanceState(instanceOfNode(node) ?? '') !== 'running') return false;
  const pool = mirror.named('nodepools', poolNameOf(node));
  const plan = terminationPlan(pool, [...mirror.all('nodelifecyclepolicies').values()]);
  return plan !== 'none' && plan !== 'unknown' && plan.hooks.length === 0;
}

function drainedBy(node: KubernetesObject, { mirror }: CheckContext): DrainConfig | undefined {
  if (node.metadata.deletionTimestamp !== undefined || node.metadata.labels?.[STATE_LABEL] !== 'draining')
    return undefined;
  const config = drainConfig(configurationIn(mirror));
  return config?.custom === undefined ? config : undefined;
}

/** By a budget or its protection. */
function isKept(pod: KubernetesObject, node: KubernetesObject, { mirror, now }: CheckContext): boolean {
  const budgets = [...mirror.all('poddisruptionbudgets').values()];
  return (
    budgets.some(({ metadata }) => metadata.namespace === pod.metadata.namespace) ||
    (protectionEnd(pod, protectionFactsOf(node, mirror)) ?? 0) > now()
  );
}
