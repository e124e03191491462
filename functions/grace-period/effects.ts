/** What the grace-period function does to a Node, and what it says about it. */
import { GRACE_PERIOD_METRICS } from '../../shared/contract/metrics.ts';
import { ANNOTATIONS, KARPENTER } from '../../shared/contract/names.ts';
import { EVENT_REASONS } from '../../shared/contract/reasons.ts';
import { RESOURCES } from '../../shared/contract/resources.ts';
import type { JsonObject, KubernetesObject } from '../../shared/domain/kubernetes-object.ts';
import { earliest, seconds, toExactTimestamp } from '../../shared/domain/time.ts';
import { isRefusal, type Refused, type Tries } from '../../shared/lifecycle/refusals.ts';
import type { Reporter } from '../../shared/lifecycle/reporter.ts';
import type { FunctionDeps } from '../../shared/ports/function-deps.ts';
import type { Turn } from '../../shared/lifecycle/settle.ts';
import type { Wanted } from '../../shared/lifecycle/timed-record.ts';
import { EMPTY_RECORD, type GracePeriodRecord } from './announced.ts';
import type { Counts, GracePeriodDecision, Remembered } from './decide.ts';
import { effortAfter } from './effort.ts';
import type { NodeChange } from './node-change.ts';
import { restsOn, type Here } from './observe.ts';
import { OWNER } from './record.ts';
import type { Version } from './seen-objects.ts';

/** A change of the Node that is made. */
type MadeChange = Exclude<NodeChange, { kind: 'leave' }>;

type AnnotateOutcome =
  | { readonly kind: 'ok'; readonly object: KubernetesObject }
  /** The Node changed in between, or is gone: look again. */
  | { readonly kind: 'changed' };

/** What is remembered of changes of the Node. */
type Memory = Pick<GracePeriodRecord, 'effort' | 'refusals'>;
type Deps = Pick<FunctionDeps, 'kubernetes' | 'clock'> & { readonly reporter: Reporter; readonly tries: Tries };

type Changed =
  | Extract<Turn, { kind: 'again' }>
  /** `memory`: where it changes. `written`: the Node as it is now; absent when it was left as it is. */
  | { readonly kind: 'ok'; readonly memory: Memory | undefined; readonly written?: Version };

/** Makes the change of the Node and reports it. One that is refused is remembered, so that the next look waits with it. */
export async function changeNode(
  deps: Deps,
  seen: Here,
  { node, counts }: { readonly node: NodeChange; readonly counts: Counts },
  before: Remembered,
): Promise<Changed> {
  const { effort, refusals: stored } = seen.held ?? EMPTY_RECORD;
  if (node.kind === 'leave') return { kind: 'ok', memory: undefined };
  const made: MadeChange = node;
  const say = (text: string, isRepeated: boolean): Promise<void> => sayRefused(deps.reporter, seen, text, isRepeated);
  const change = { key: made.kind, stored, restsOn: restsOn(seen), say };
  const outcome = await deps.tries.make(change, () => annotate(deps, seen.object, made));
  if (outcome.kind === 'changed') return { kind: 'again', because: 'the Node changed' };
  if (!isRefusal(outcome)) {
    await reportChange(deps.reporter, seen.object, made, counts);
    const next = effortAfter(effort, made, deps.clock.now());
    const refusals = deps.tries.after(stored);
    const memory = next === effort && refusals === stored ? undefined : memoryOf(next, refusals);
    return { kind: 'ok', memory, written: outcome.object.metadata };
  }
  return rememberRefused(deps, seen, before, outcome);
}

/** The next look waits with the change, and sees to the rest. */
async function rememberRefused({ tries }: Deps, seen: Here, before: Remembered, refused: Refused): Promise<Changed> {
  const { effort, refusals } = seen.held ?? EMPTY_RECORD;
  const record = withMemory(before.record, memoryOf(effort, tries.after(refusals)));
  const wakeTime = (refused.goesBack === undefined && earliest(before.wakeTime, refused.until)) || before.wakeTime;
  const saved = await seen.record.save(wanted(seen, { ...before, record, wakeTime }));
  if (saved.kind !== 'again' && refused.goesBack !== undefined) throw refused.goesBack;
  return saved.kind === 'again' ? saved : { kind: 'again', because: `the Node was not changed: ${refused.message}` };
}

const sayRefused = (reporter: Reporter, { object }: Here, text: string, isRepeated: boolean): Promise<void> =>
  reporter.report({
    about: object,
    decision: 'refused',
    reason: EVENT_REASONS.nodeChangeRefused,
    message: `karpenter.sh/do-not-disrupt on the node cannot be changed, the API server refuses it: ${text}`,
    metric: { name: GRACE_PERIOD_METRICS.refused },
    isRepeated,
    event: { type: 'Warning' },
  });

/** Releases the Node; the wake-up that is sent finds it released, and says the rest. */
export async function releaseFirst(
  deps: Deps & Pick<FunctionDeps, 'wakeUps'>,
  decision: Extract<GracePeriodDecision, { kind: 'releaseFirst' }>,
  seen: Here,
): Promise<Changed> {
  const before = { record: seen.held ?? EMPTY_RECORD, wakeTime: seen.observation.now };
  const changed = await changeNode(deps, seen, decision, before);
  if (changed.kind === 'again') return changed;
  const { subject } = wanted(seen, before);
  await deps.wakeUps.send([{ wakeUp: { owner: OWNER, subject, wakeTime: decision.dueTime }, delay: seconds(0) }]);
  return changed;
}

const memoryOf = (effort: Memory['effort'], refusals: Memory['refusals']): Memory => ({
  ...(effort !== undefined && { effort }),
  ...(refusals !== undefined && { refusals }),
});

/** @param memory undefined: as it is */
export function withMemory(record: GracePeriodRecord, memory: Memory | undefined): GracePeriodRecord {
  if (memory === undefined) return record;
  const { announced, claimTime } = record;
  return { announced, ...(claimTime !== undefined && { claimTime }), ...memory };
}

/** The record as it is to be written, under the Node's UID. */
export function wanted(
  { object: { metadata } }: Here,
  { record, wakeTime, crashTime }: Remembered,
): Wanted<GracePeriodRecord> {
  const { name, uid } = metadata;
  const subject = { apiVersion: 'v1', kind: 'Node', name, uid };
  return { subject, value: record, wakeTime, crashTime };
}

/** Both annotations in one patch, on exactly the Node that was looked at. */
async function annotate(
  { kubernetes }: Pick<FunctionDeps, 'kubernetes'>,
  { metadata: { name, uid, resourceVersion } }: KubernetesObject,
  change: MadeChange,
): Promise<AnnotateOutcome> {
  const body = { metadata: { uid, resourceVersion, annotations: annotationsFor(change) } };
  const outcome = await kubernetes.patch({ type: RESOURCES.Node, name }, { type: 'merge', body });
  return outcome.kind === 'ok' ? outcome : { kind: 'changed' };
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
  about: KubernetesObject,
  change: MadeChange,
  { protectedPods, elapsedPods, nextExpiry }: Counts,
): Promise<void> {
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
    },
  });
}

const MESSAGES = {
  PodsProtected: 'pods on the node are protected: Curfew holds it',
  AnnotationRemoved: 'the annotation was removed while pods are protected: Curfew holds the node again',
  GracePeriodElapsed: 'released: the last protection on the node has ended',
  NothingProtected: 'released: no pod on the node is protected any more',
  AnnotationTakenOver: 'the annotation was changed by someone else: Curfew removed its mark',
} as const;
