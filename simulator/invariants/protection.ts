/**
 * Pods that must not be disrupted:
 * - I2 none is evicted or deleted while its protection is active, but for a deadline that its NodeClaim has
 * - I2 a node is not released while a pod on it is protected for a time
 * - I5 a node is held within five minutes of such a protection, and released within five minutes of the last one
 *
 * A decision is judged by what its run had seen; what happens between a look and the call is nobody's fault.
 */
import type { KubernetesObject } from '../../shared/domain/kubernetes-object.ts';
import { toEpochMs, toIsoText } from '../../shared/domain/time.ts';
import { deadlineOf } from './deadline.ts';
import { groupObjects } from '../grouping.ts';
import { LONGEST_DELAY, type CheckContext, type MakeCheck, type PortCall, type Run } from './invariant.ts';
import { isReadable, protectionEndOf, protectionInForce } from './protection-in-force.ts';
import { nodeNameOf, protectionEnd, protectionFactsOf, type ProtectionFacts } from './protection-oracle.ts';
import { annotationOf, dig, instantOf, nameOf, poolNameOf, REPLACES_ANNOTATION, textOf } from './reading.ts';
import { does, isKubernetes, lastGet, lastList, seenPod, targetOf } from './run-journal.ts';

const DO_NOT_DISRUPT = 'karpenter.sh/do-not-disrupt';
const MARK = 'curfew.dev/protected-until';
/** What stood for so long was seen by every function, whatever got lost; ms. */
const SURELY_SEEN = 65_000;

const until = (end: number): string => (end === Infinity ? 'without end' : `until ${toIsoText(toEpochMs(end))}`);

export const checkProtection: MakeCheck = context => {
  const { mirror, violate, clockTolerance } = context;
  /** Since when each node is not as it should be. */
  const wrong = new Map<string, { readonly what: string; readonly since: number }>();
  /** What may make a node's hold wrong: pods that ask for protection for a time, by node, and nodes that Curfew holds, by mark. */
  const askingPods = groupObjects(mirror, 'pods', pod => (isTimed(pod) ? nodeNameOf(pod) : undefined));
  const heldNodes = groupObjects(mirror, 'nodes', node => annotationOf(node, MARK));
  const { inForce, isForgotten } = protectionInForce(context);
  /** By the rules as they stand, or where one of them cannot be read, by what was readable last. */
  const lastEnd = (pod: KubernetesObject, run: Run): number | undefined => {
    return protectionEndOf(pod, factsOfRun(run, context), inForce);
  };

  return {
    onCall(call, run) {
      const isLast = (end: number | undefined): boolean => end === undefined || end <= context.now() + clockTolerance;
      if (isKubernetes(call, 'delete', 'evict') && targetOf(call).resource === 'pods') {
        const pod = seenPod(call, run);
        if (pod === undefined) return violate('I6', `${run.by} ${does(call)} a pod that the run has not looked at`);
        const end = lastEnd(pod, run);
        if (isLast(end) || isForced(pod, context, run)) return;
        violate('I2', `${run.by} ${does(call)} ${nameOf(pod)}, which is protected ${until(end ?? Infinity)}`);
      }
      if (!letsNodeGo(call)) return;
      const pods = lastList(run, 'pods');
      if (pods === undefined) return violate('I6', `${run.by} lets a node go without having looked at its pods`);
      for (const pod of timedPods(pods, targetOf(call).name)) {
        const end = lastEnd(pod, run);
        if (!isLast(end))
          violate(
            'I2',
            `${run.by} lets node ${targetOf(call).name ?? ''} go: ${nameOf(pod)} is protected ${until(end ?? Infinity)}`,
          );
      }
    },
    onMinute() {
      const now = context.now();
      const quietSince = context.quietSince();
      if (quietSince === undefined) return wrong.clear();
      const before = new Map(wrong);
      wrong.clear();
      /** What is in force in each pool; `forgotten`: it may be. */
      const byPool = new Map<string | undefined, ProtectionFacts | 'forgotten'>();
      const factsFor = (node: KubernetesObject): ProtectionFacts | undefined => {
        const poolName = poolNameOf(node);
        let known = byPool.get(poolName);
        if (known === undefined) {
          const facts = protectionFactsOf(node, mirror);
          known = isForgotten(facts) ? 'forgotten' : inForce(facts);
          byPool.set(poolName, known);
        }
        return known === 'forgotten' ? undefined : known;
      };
      const judge = (node: KubernetesObject): void => {
        const { uid } = node.metadata;
        const facts = factsFor(node);
        const what = facts && complainAboutNode(node, askingPods.get(node.metadata.name), facts, now);
        if (what === undefined) return;
        const known = before.get(uid);
        if (known?.what !== what) return void wrong.set(uid, { what, since: now - 60_000 });
        wrong.set(uid, known);
        const since = Math.max(known.since, quietSince, context.lastDenial('nodes', node.metadata));
        if (now - since <= LONGEST_DELAY) return;
        violate('I5', `${nameOf(node)} ${what} since ${toIsoText(toEpochMs(known.since))}`);
        wrong.set(uid, { what, since: Infinity });
      };
      for (const mark of heldNodes.keys()) heldNodes.get(mark).forEach(judge);
      for (const name of askingPods.keys()) {
        const node = mirror.named('nodes', name);
        if (node !== undefined && annotationOf(node, MARK) === undefined) judge(node);
      }
    },
  };
};

/** What the run saw of policies and pool, else what is there. */
function factsOfRun(run: Run, context: CheckContext): ProtectionFacts {
  const facts = protectionFactsOf(lastGet(run, 'nodes')?.object, context.mirror);
  const seen = lastGet(run, 'nodepools')?.object;
  return {
    pool: seen ?? (isTooNew(facts.pool, context) ? undefined : facts.pool),
    policies: lastList(run, 'nodelifecyclepolicies') ?? facts.policies,
  };
}

/** A NodePool that came and went at once, while faults were on, may have been seen by nobody who remembers it. */
function isTooNew(pool: KubernetesObject | undefined, { now, quietSince }: CheckContext): boolean {
  const created = instantOf(pool?.metadata.creationTimestamp) ?? -Infinity;
  return now() - created < SURELY_SEEN && (quietSince() ?? Infinity) > created;
}

function letsNodeGo(call: PortCall): boolean {
  if (!isKubernetes(call, 'patch') || targetOf(call).resource !== 'nodes') return false;
  const annotations = dig(call.args[1], 'body', 'metadata', 'annotations');
  // That of a replacement is no pod's.
  return dig(annotations, DO_NOT_DISRUPT) === null && dig(annotations, REPLACES_ANNOTATION) === undefined;
}

/** Pods of the node that are annotated with something else than a plain `"true"`, which Karpenter honours by itself. */
function timedPods(pods: readonly KubernetesObject[], nodeName: string | undefined): readonly KubernetesObject[] {
  return pods.filter(pod => isTimed(pod) && nodeNameOf(pod) === nodeName);
}

function isTimed(pod: KubernetesObject): boolean {
  const value = annotationOf(pod, DO_NOT_DISRUPT);
  return value !== undefined && value !== 'true';
}

function complainAboutNode(
  node: KubernetesObject,
  pods: readonly KubernetesObject[],
  facts: ProtectionFacts,
  now: number,
): string | undefined {
  if (node.metadata.deletionTimestamp !== undefined || !facts.policies.every(isReadable)) return undefined;
  const isProtected = pods.some(pod => (protectionEnd(pod, facts) ?? 0) > now);
  const held = annotationOf(node, DO_NOT_DISRUPT);
  if (isProtected && held === undefined) return 'has a pod that is protected for a time, and is not held';
  if (!isProtected && held === 'true' && annotationOf(node, MARK) !== undefined) return 'is held for no pod';
  return undefined;
}

/** A deadline of the pod's node bypasses protection from the instant at which the pod must begin to stop. */
function isForced(pod: KubernetesObject, { mirror, now, clockTolerance }: CheckContext, run: Run): boolean {
  const nodeName = nodeNameOf(pod);
  const graceMs = Number(dig(pod, 'spec', 'terminationGracePeriodSeconds') ?? 30) * 1000;
  const claims = [...mirror.all('nodeclaims').values()].filter(
    claim => textOf(dig(claim, 'status', 'nodeName')) === nodeName,
  );
  // Another run may have released it since this one looked.
  const claim = lastGet(run, 'nodeclaims')?.object;
  const node = lastGet(run, 'nodes')?.object;
  const released = [
    textOf(dig(claim, 'status', 'nodeName')) === nodeName ? claim : undefined,
    node?.metadata.name === nodeName ? node : undefined,
  ];
  return [...claims, mirror.named('nodes', nodeName), ...released].some(object => {
    const deadline = object && deadlineOf(object, mirror);
    return deadline !== undefined && deadline - graceMs <= now() + clockTolerance;
  });
}
