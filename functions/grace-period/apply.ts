/**
 * Carries a decision out: record (timer) → Node → Events → record, so that a run that dies leaves a timer that brings the next one here
 * (ADR 0048).
 */
import { ANNOTATIONS, KARPENTER } from '../../shared/contract/names.ts';
import { RESOURCES } from '../../shared/contract/resources.ts';
import { subjectOf, type KubernetesObject } from '../../shared/domain/kubernetes-object.ts';
import { earliest, isDue, type EpochMs } from '../../shared/domain/time.ts';
import { isRefused, type RefusedChange } from '../../shared/lifecycle/refusals.ts';
import { anotherTurn, DONE, type Turn } from '../../shared/lifecycle/settle.ts';
import type { RecordToSave } from '../../shared/lifecycle/timed-record.ts';
import { changeExactly } from '../../shared/ports/exact-change.ts';
import type { GracePeriodContext, GracePeriodDeps } from './context.ts';
import type { ProtectionCounts, GracePeriodDecision, RecordWrite } from './decide.ts';
import { effortAfter, type NodeWrite, type NodeChange } from './rule/node-change.ts';
import type { ObservedNode } from './observe.ts';
import type { GracePeriodRecord } from './record.ts';
import { announce, countProtectedPods, reportChange, reportRefusal } from './report.ts';

export async function apply(
  context: GracePeriodContext,
  decision: GracePeriodDecision,
  observed: ObservedNode,
): Promise<Turn> {
  switch (decision.kind) {
    case 'close':
      return closeRecord(context, decision, observed);
    case 'keep':
      return keepRecord(context, decision, observed);
  }
}

async function closeRecord(
  context: GracePeriodContext,
  decision: Extract<GracePeriodDecision, { kind: 'close' }>,
  observed: ObservedNode,
): Promise<Turn> {
  const record = { announcedKeys: observed.stored?.announcedKeys ?? {} };
  const changed = await changeNode(context, observed, decision, { record, wakeTime: undefined });
  if (changed.kind === 'again') return changed;
  const turn = afterChange(decision.node);
  return turn.kind === 'again' ? turn : observed.timedRecord.release();
}

type KeepDecision = Extract<GracePeriodDecision, { kind: 'keep' }>;

/** Writes the intent, changes the Node, says what is new, and writes the outcome. */
async function keepRecord(
  context: GracePeriodContext,
  { node, announcements, intent, outcome, counts }: KeepDecision,
  observed: ObservedNode,
): Promise<Turn> {
  const intended = await observed.timedRecord.save(intentToSave(observed, intent));
  if (intended.kind === 'again') return intended;

  const changed = await changeNode(context, observed, { node, counts }, intent);
  if (changed.kind === 'again') return changed;

  await announce(context, announcements);
  context.announcements = [...context.announcements, ...announcements];
  countProtectedPods(context.deps, counts);
  const saved = await saveOutcome(observed, outcome, { announcements, memory: changed.memory });
  // The wake-up for what is unsaid looks once more, too.
  return saved.kind === 'done' && !hasUnreported(outcome, observed) ? afterChange(node) : saved;
}

/** Writes the record as it is after the change of the Node and the Events, unless the intent said all of that. */
async function saveOutcome(
  observed: ObservedNode,
  { record, wakeTime }: RecordWrite,
  { announcements, memory }: Pick<KeepDecision, 'announcements'> & { readonly memory: ChangeMemory | undefined },
): Promise<Turn> {
  if (announcements.length === 0 && memory === undefined) return DONE;
  return observed.timedRecord.save(recordToSave(observed, { record: withMemory(record, memory), wakeTime }));
}

/** The end of a turn. After a release it looks once more: a pod may have come meanwhile, and its own run still found the node held. */
const afterChange = (change: NodeChange): Turn =>
  change.kind === 'release' ? anotherTurn('the node was released') : DONE;

/** `changed`: the Node changed in between, or is gone, so the run looks again. */
type AnnotateOutcome = { readonly kind: 'ok' | 'changed' };

/** Memory of changes of the Node. */
type ChangeMemory = Pick<GracePeriodRecord, 'effort' | 'refusals'>;

/** A `RecordWrite`; without `wakeTime` the record was to be closed. */
type Intent = Pick<RecordWrite, 'record'> & { readonly wakeTime: EpochMs | undefined };

type NodeChangeOutcome =
  | Extract<Turn, { kind: 'again' }>
  /** `memory`: absent where it does not change. */
  | { readonly kind: 'ok'; readonly memory: ChangeMemory | undefined };

/** Makes the change of the Node and reports it. A refusal is remembered, so that the next look waits with it. */
async function changeNode(
  context: GracePeriodContext,
  observed: ObservedNode,
  { node, counts }: { readonly node: NodeChange; readonly counts: ProtectionCounts },
  before: Intent,
): Promise<NodeChangeOutcome> {
  if (node.kind === 'leave') return { kind: 'ok', memory: undefined };
  const { effort, refusals: stored }: ChangeMemory = observed.stored ?? {};
  const { deps, reporter, backoff } = context;
  const report = (text: string, isRepeated: boolean): Promise<void> =>
    reportRefusal(reporter, observed, text, isRepeated);
  const change = { key: node.kind, stored, restsOn: observed.restsOn, report };
  const outcome = await backoff.try(change, () => annotate(deps, observed.object, node));
  if (isRefused(outcome)) return rememberRefusal(context, observed, before, outcome);
  if (outcome.kind === 'changed') return { kind: 'again', because: 'the Node changed' };
  await reportChange(reporter, observed, node, counts);
  const nextEffort = effortAfter(effort, node, deps.clock.now());
  const refusals = backoff.refusalsAfter(stored);
  const isSame = nextEffort === effort && refusals === stored;
  return { kind: 'ok', memory: isSame ? undefined : memoryOf(nextEffort, refusals) };
}

/** Remembers the refusal, so that the next look waits with this change and does the rest. */
async function rememberRefusal(
  { backoff }: GracePeriodContext,
  observed: ObservedNode,
  before: Intent,
  refused: RefusedChange,
): Promise<NodeChangeOutcome> {
  const { effort, refusals }: ChangeMemory = observed.stored ?? {};
  const record = withMemory(before.record, memoryOf(effort, backoff.refusalsAfter(refusals)));
  const { until, redeliveryError } = refused;
  // The next run comes in time by itself: the queue brings the message back, or the timer is due for what is unsaid.
  const comesAnyway = redeliveryError !== undefined || hasUnreported(before, observed);
  const wakeTime = (comesAnyway ? before.wakeTime : earliest(before.wakeTime, until)) ?? until;
  const saved = await observed.timedRecord.save({ ...intentToSave(observed, { record, wakeTime }), redeliveryError });
  return saved.kind === 'again' ? saved : { kind: 'again', because: `the Node was not changed: ${refused.message}` };
}

const memoryOf = (effort: ChangeMemory['effort'], refusals: ChangeMemory['refusals']): ChangeMemory => ({
  ...(effort !== undefined && { effort }),
  ...(refusals !== undefined && { refusals }),
});

/** Sets the memory of a record. @param memory undefined: as it is */
function withMemory(record: GracePeriodRecord, memory: ChangeMemory | undefined): GracePeriodRecord {
  return memory === undefined ? record : { announcedKeys: record.announcedKeys, ...memory };
}

/** The record as it is to be written, under the Node's UID. */
const recordToSave = (
  { object }: ObservedNode,
  { record, wakeTime }: RecordWrite,
): RecordToSave<GracePeriodRecord> => ({ subject: subjectOf(object), value: record, wakeTime });

/** The record as it is to be written before all is done and said: a timer that stays due is left to the sweep. */
const intentToSave = (observed: ObservedNode, intent: RecordWrite): RecordToSave<GracePeriodRecord> => ({
  ...recordToSave(observed, intent),
  hasOwnMessage: !hasUnreported(intent, observed),
});

/** Whether something is still to be said: the timer stays due, for the sweep alone. */
const hasUnreported = ({ wakeTime }: Intent, { observation: { now } }: ObservedNode): boolean =>
  wakeTime !== undefined && isDue(now, wakeTime);

/** Writes both annotations in one patch, on exactly the Node that was looked at. */
async function annotate(
  { kubernetes }: Pick<GracePeriodDeps, 'kubernetes'>,
  { metadata }: KubernetesObject,
  change: NodeWrite,
): Promise<AnnotateOutcome> {
  const ref = { type: RESOURCES.Node, name: metadata.name };
  const outcome = await changeExactly(kubernetes, ref, metadata, { annotations: annotationsFor(change) });
  return { kind: outcome.kind === 'ok' ? 'ok' : 'changed' };
}

function annotationsFor(change: NodeWrite): Readonly<Record<string, string | null>> {
  switch (change.kind) {
    case 'hold':
      return { [KARPENTER.doNotDisruptAnnotation]: 'true', [ANNOTATIONS.protectedUntil]: change.until };
    case 'release':
      return { [KARPENTER.doNotDisruptAnnotation]: null, [ANNOTATIONS.protectedUntil]: null };
    case 'disown':
      return { [ANNOTATIONS.protectedUntil]: null };
  }
}
