/** Explanations as text, for people. */
import { formatDuration } from '../../shared/domain/go-duration.ts';
import { DO_NOT_DISRUPT_ANNOTATION } from '../../shared/domain/pod.ts';
import { onOneLine } from '../../shared/domain/printable.ts';
import { quotedValue } from '../../functions/grace-period/explain.ts';
import type { EpochMs } from '../../shared/domain/time.ts';
import type { LifecycleExplanation } from './lifecycle.ts';
import { instant } from './instant.ts';
import { headline, renderLifecycle } from './render-lifecycle.ts';
import { inForceText } from './protection-rules.ts';
import { isKnown, withUnread } from './settings-in-force.ts';
import type { Deadline, NodeExplanation, PodExplanation } from './explain-node.ts';

/** Renders a pod, and as much about its node as concerns the pod. */
export function renderPod(pod: PodExplanation, node: NodeExplanation): string {
  const lines = [
    `Pod ${pod.namespace}/${pod.name} on node ${node.name}: ${pod.protected ? 'protected' : 'not protected'}`,
    `  ${describePod(pod, node)}`,
    ...(pod.protected ? [`  ${isKnown(node.unread) ? whatThen(pod) : UNTIL_NOT_KNOWN}`] : []),
    ...(pod.evictionRefusal === undefined ? [] : [`  ${pod.evictionRefusal}`]),
    `  ${describeDeadline(node.deadline, node.now)}`,
    `  ${describePolicy({ ...node, limits: limitsOfPod(pod) })}`,
  ];
  return lines.map(onOneLine).join('\n');
}

/** The limits of the pod's namespace alone. */
const limitsOfPod = ({ maxDuration }: PodExplanation): NodeExplanation['limits'] => ({
  maxDuration: maxDuration && formatDuration(maxDuration),
  namespaces: {},
});

export function renderNode(node: NodeExplanation, lifecycle?: LifecycleExplanation): string {
  const pool = node.nodePool === undefined ? '' : ` (NodePool ${node.nodePool})`;
  const pods = node.pods.flatMap(pod => [
    `    ${pod.namespace}/${pod.name}: ${describePod(pod, node)}`,
    ...(pod.evictionRefusal === undefined ? [] : [`      ${pod.evictionRefusal}`]),
  ]);
  const first = lifecycle && headline(lifecycle, node.now);
  const verdict = describeVerdict(node, first !== undefined);
  const lines = [
    `Node ${node.name}${pool}${first === undefined ? `: ${verdict}` : ` ${first}`}`,
    ...(first === undefined
      ? []
      : [
          `  disruption: ${verdict}${lifecycle?.repair.isForceful === true && node.verdict.kind !== 'open' ? '; its termination by repair does not wait for that' : ''}`,
        ]),
    ...(lifecycle === undefined ? [] : renderLifecycle(lifecycle, node.now).map(line => `  ${line}`)),
    `  ${describeAnnotation(node)}`,
    ...(pods.length === 0 ? [] : ['  pods that are annotated or cannot be evicted:', ...pods]),
    `  ${node.otherPods}${pods.length === 0 ? '' : ' other'} ${node.otherPods === 1 ? 'pod' : 'pods'}${pods.length === 0 ? ', none is annotated or held by a PodDisruptionBudget' : ''}`,
    `  ${describeDeadline(node.deadline, node.now)}`,
    `  ${describePolicy(node)}`,
  ];
  return lines.map(onOneLine).join('\n');
}

/** Whether Karpenter, `kubectl drain` and their like may empty the node now. */
function describeVerdict({ verdict, unread, now }: NodeExplanation, isWorkedOn: boolean): string {
  switch (verdict.kind) {
    case 'open':
      return `${isWorkedOn ? '' : 'nothing holds it: '}no pod is protected and no PodDisruptionBudget refuses an eviction`;
    case 'protectedUntil':
      return `protected until ${instant(verdict.until, now)}`;
    case 'protectedWithoutEnd':
      return isKnown(unread) ? 'protected without end' : `protected, ${UNTIL_NOT_KNOWN}`;
    case 'blocked':
      return 'held, although no pod is protected: by a PodDisruptionBudget or an annotation of the node, see below';
  }
}

function describeAnnotation({ annotation, pods }: NodeExplanation): string {
  // Karpenter honours a plain "true" on the pod itself.
  const holdable = pods.some(
    pod => pod.protected && pod.protection.kind !== 'none' && pod.protection.source !== 'True',
  );
  switch (annotation.kind) {
    case 'ours':
      return `Curfew holds ${DO_NOT_DISRUPT_ANNOTATION}: "true" on the node, ${annotation.until === 'indefinite' ? 'without end' : `until ${annotation.until}`}`;
    case 'replacement':
      return `Curfew holds ${DO_NOT_DISRUPT_ANNOTATION}: "true" on the node, which replaces another one, until that is gone`;
    case 'theirs': {
      const effect = annotation.value === 'true' ? 'Karpenter leaves the node alone' : 'it has no effect';
      return `${DO_NOT_DISRUPT_ANNOTATION}: ${quotedValue(annotation.value)} on the node is not Curfew's and stays: ${effect}`;
    }
    case 'none':
      return `Curfew holds no do-not-disrupt on the node${holdable ? NOT_HELD : ''}`;
  }
}

const NOT_HELD = ', although pods are protected: the grace-period function is late or not running';

/** Protected or not, by what, until when. */
function describePod({ value, protection, protected: active }: PodExplanation, node: NodeExplanation): string {
  if (value === undefined) return 'not annotated';
  const annotation = `${DO_NOT_DISRUPT_ANNOTATION}: ${quotedValue(value)}`;
  switch (protection.kind) {
    case 'none':
      return `${annotation} has no effect: ${NO_EFFECT[protection.reason]}`;
    case 'indefinite':
      if (protection.reason === 'NotStarted') return `${annotation} protects without end: its clock does not run yet`;
      return protection.source === 'Invalid'
        ? `${annotation} is not valid and to be safe protects without end`
        : `${annotation} protects without end`;
    case 'until': {
      const { expiry, cappedTo } = protection;
      const cap =
        cappedTo === undefined ? '' : `, limited to ${formatDuration(cappedTo)} by ${node.policy ?? 'policy'}`;
      return `${annotation} ${active ? 'protects until' : 'protected until'} ${instant(expiry, node.now)}${cap}`;
    }
  }
}

const NO_EFFECT = {
  NotAnnotated: 'not annotated',
  Finished: 'the pod has ended',
  Terminating: 'the pod is being deleted',
  Ignored: 'it is neither "true" nor a positive Go duration (compatibility: Karpenter)',
} as const;

/** A version that is not known may limit the protection. */
const UNTIL_NOT_KNOWN = 'until when is not known here: see the protection below';

function whatThen({ protection }: PodExplanation): string {
  return protection.kind === 'until'
    ? 'then it may be evicted, as far as PodDisruptionBudgets allow, and an Event DoNotDisruptGracePeriodElapsed says so'
    : 'it is not evicted before the annotation changes, the pod ends, or a deadline forces it';
}

function describeDeadline(deadline: Deadline, now: EpochMs): string {
  switch (deadline.kind) {
    case 'at':
      return `deadline: what is left at ${instant(deadline.time, now)} is removed by force, protected or not`;
    case 'observed':
      return `deadline: none in mode Observe; in mode Enforce it is ${instant(deadline.time, now)}: ${deadline.time > now ? 'what is left then is removed by force' : 'what is left is removed by force at once'}, protected or not`;
    case 'afterDeletion':
      return `deadline: none yet; ${formatDuration(deadline.gracePeriod)} after its deletion begins, what is left is removed by force`;
    case 'stored':
      return "deadline: not known here: it stands in Curfew's table (--stack NAME reads it)";
    case 'none':
      return deadline.terminating ? 'deadline: none, although it is being deleted' : 'deadline: none';
  }
}

const describePolicy = ({ policy, observed, unread, ...rules }: NodeExplanation): string =>
  `protection: ${withUnread(inForceText(policy, rules, observed), unread)}`;
