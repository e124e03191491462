/** What the grace-period function does to a Node, and what it says about it. */
import { GRACE_PERIOD_METRICS } from '../../shared/contract/metrics.ts';
import { ANNOTATIONS, KARPENTER } from '../../shared/contract/names.ts';
import { EVENT_REASONS } from '../../shared/contract/reasons.ts';
import { RESOURCES } from '../../shared/contract/resources.ts';
import type { JsonObject, KubernetesObject } from '../../shared/domain/kubernetes-object.ts';
import { earliest, isDue, toExactTimestamp, type EpochMs } from '../../shared/domain/time.ts';
import { isRefusal, type Refused, type Tries } from '../../shared/lifecycle/refusals.ts';
import type { Reporter } from '../../shared/lifecycle/reporter.ts';
import type { FunctionDeps } from '../../shared/ports/function-deps.ts';
import type { Turn } from '../../shared/lifecycle/settle.ts';
import type { Wanted } from '../../shared/lifecycle/timed-record.ts';
import type { GracePeriodRecord } from './record.ts';
import type { Counts, Remembered } from './decide.ts';
import { annotatedPods } from './announcements.ts';
import { decidedBy } from './decided-by.ts';
import { effortAfter } from './effort.ts';
import type { NodeChange } from './node-change.ts';
import { restsOn, type ObservedNode } from './observe.ts';

/** A change of the Node that is made. */
type MadeChange = Exclude<NodeChange, { kind: 'leave' }>;

/** `changed`: the Node changed in between, or is gone, so the run looks again. */
type AnnotateOutcome = { readonly kind: 'ok' | 'changed' };

/** What is remembered of changes of the Node. */
type Memory = Pick<GracePeriodRecord, 'effort' | 'refusals'>;
type Deps = Pick<FunctionDeps, 'kubernetes' | 'clock'> & { readonly reporter: Reporter; readonly tries: Tries };

/** As `Remembered`; without `wakeTime` the record was to be closed. */
type Intent = Pick<Remembered, 'record'> & { readonly wakeTime: EpochMs | undefined };

type Changed =
  | Extract<Turn, { kind: 'again' }>
  /** `memory`: where it changes. */
  | { readonly kind: 'ok'; readonly memory: Memory | undefined };

/** Makes the change of the Node and reports it. One that is refused is remembered, so that the next look waits with it. */
export async function changeNode(
  deps: Deps,
  observed: ObservedNode,
  { node, counts }: { readonly node: NodeChange; readonly counts: Counts },
  before: Intent,
): Promise<Changed> {
  const { effort, refusals: stored }: Memory = observed.stored ?? {};
  if (node.kind === 'leave') return { kind: 'ok', memory: undefined };
  const made: MadeChange = node;
  const say = (text: string, isRepeated: boolean): Promise<void> =>
    sayRefused(deps.reporter, observed, text, isRepeated);
  const change = { key: made.kind, stored, restsOn: restsOn(observed), say };
  const outcome = await deps.tries.make(change, () => annotate(deps, observed.object, made));
  if (outcome.kind === 'changed') return { kind: 'again', because: 'the Node changed' };
  if (!isRefusal(outcome)) {
    await reportChange(deps.reporter, observed, made, counts);
    const next = effortAfter(effort, made, deps.clock.now());
    const refusals = deps.tries.after(stored);
    const memory = next === effort && refusals === stored ? undefined : memoryOf(next, refusals);
    return { kind: 'ok', memory };
  }
  return rememberRefused(deps, observed, before, outcome);
}

/** Remembers the refusal, so that the next look waits with this change and does the rest. */
async function rememberRefused(
  { tries }: Deps,
  observed: ObservedNode,
  before: Intent,
  refused: Refused,
): Promise<Changed> {
  const { effort, refusals }: Memory = observed.stored ?? {};
  const record = withMemory(before.record, memoryOf(effort, tries.after(refusals)));
  const { until, goesBack } = refused;
  const isKept = goesBack !== undefined || isUnsaid(before, observed);
  const wakeTime = (isKept ? before.wakeTime : earliest(before.wakeTime, until)) ?? until;
  const saved = await observed.record.save({
    ...wanted(observed, { record, wakeTime }),
    punctual: !isUnsaid({ record, wakeTime }, observed),
  });
  if (saved.kind !== 'again' && goesBack !== undefined) throw goesBack;
  return saved.kind === 'again' ? saved : { kind: 'again', because: `the Node was not changed: ${refused.message}` };
}

const sayRefused = (reporter: Reporter, { object }: ObservedNode, text: string, isRepeated: boolean): Promise<void> =>
  reporter.report({
    about: object,
    decision: 'refused',
    reason: EVENT_REASONS.nodeChangeRefused,
    message: `karpenter.sh/do-not-disrupt on the node cannot be changed, the API server refuses it: ${text}`,
    metric: { name: GRACE_PERIOD_METRICS.refused },
    isRepeated,
    event: { type: 'Warning' },
  });

const memoryOf = (effort: Memory['effort'], refusals: Memory['refusals']): Memory => ({
  ...(effort !== undefined && { effort }),
  ...(refusals !== undefined && { refusals }),
});

/** @param memory undefined: as it is */
export function withMemory(record: GracePeriodRecord, memory: Memory | undefined): GracePeriodRecord {
  return memory === undefined ? record : { announced: record.announced, ...memory };
}

/** The record as it is to be written, under the Node's UID. */
export function wanted(
  { object: { metadata } }: ObservedNode,
  { record, wakeTime }: Remembered,
): Wanted<GracePeriodRecord> {
  const { name, uid } = metadata;
  const subject = { apiVersion: 'v1', kind: 'Node', name, uid };
  return { subject, value: record, wakeTime };
}

/** Something is still to be said: the timer stays due, for the sweep alone. */
export const isUnsaid = ({ wakeTime }: Intent, { input: { now } }: ObservedNode): boolean =>
  wakeTime !== undefined && isDue(now, wakeTime);

/** Both annotations in one patch, on exactly the Node that was looked at. */
async function annotate(
  { kubernetes }: Pick<FunctionDeps, 'kubernetes'>,
  { metadata: { name, uid, resourceVersion } }: KubernetesObject,
  change: MadeChange,
): Promise<AnnotateOutcome> {
  const body = { metadata: { uid, resourceVersion, annotations: annotationsFor(change) } };
  const outcome = await kubernetes.patch({ type: RESOURCES.Node, name }, { type: 'merge', body });
  return { kind: outcome.kind === 'ok' ? 'ok' : 'changed' };
}

function annotationsFor(change: MadeChange): JsonObject {
  switch (change.kind) {
    case 'hold':
      return { [KARPENTER.doNotDisruptAnnotation]: 'true', [ANNOTATIONS.protectedUntil]: change.until };
    case 'release':
      return { [KARPENTER.doNotDisruptAnnotation]: null, [ANNOTATIONS.protectedUntil]: null };
    case 'disown':
      return { [ANNOTATIONS.protectedUntil]: null };
  }
}

/** One audit line per change of the Node, after it was made, with the numbers that it rests on. */
async function reportChange(
  reporter: Reporter,
  { object: about, pods, protection }: ObservedNode,
  change: MadeChange,
  { protectedPods, elapsedPods, nextExpiry }: Counts,
): Promise<void> {
  const settings = decidedBy(protection, annotatedPods(pods, protection.policy));
  await reporter.report({
    about,
    decision: change.kind,
    reason: change.reason,
    message: MESSAGES[change.reason],
    metric: { name: GRACE_PERIOD_METRICS.decision, dimensions: { decision: change.kind } },
    details: {
      protectedPods,
      elapsedPods,
      ...(change.kind === 'hold' && { protectedUntil: change.until }),
      ...(nextExpiry !== undefined && { nextExpiry: toExactTimestamp(nextExpiry) }),
      ...(settings.length > 0 && { decidedBy: settings }),
    },
  });
}

const MESSAGES = {
  PodsProtected: 'pods on the node are protected: Curfew holds it',
  AnnotationRemoved: 'the annotation was removed while pods are protected: Curfew holds the node again',
  GracePeriodElapsed: 'released: the last protection on the node has ended',
  NothingProtected: 'released: no pod on the node is protected any more',
  AnnotationTakenOver: 'the annotation was changed by someone else: Curfew removed its mark',
  ReplacementHeld: 'no pod is protected any more; a repair holds the node until it takes the place of another one',
} as const;
