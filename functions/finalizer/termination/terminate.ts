/**
 * One termination, turn by turn: note down that it has begun → the steps in order, up to the first that is not done → what was
 * reached, as record, conditions and audit line. Every run starts at the first step; each step looks at the live state, so a run that
 * dies anywhere is made up for by the next one.
 */
import type { FinalizerDeps } from '../common/context.ts';
import { deletionTimeOf } from '../../../shared/domain/kubernetes-object.ts';
import { cutText } from '../../../shared/domain/cut-text.ts';
import { earliest, type EpochMs } from '../../../shared/domain/time.ts';
import type { Reporter } from '../../../shared/lifecycle/reporter.ts';
import { anotherTurn, PROGRESSED, type Turn } from '../../../shared/lifecycle/settle.ts';
import { orUnavailable } from '../../../shared/ports/read-answer.ts';
import type { Step } from './steps.ts';
import { showProgress } from './conditions.ts';
import { writeDeadline } from './deadline-annotation.ts';
import { type Announcement, deadlineText, nextAnnouncement, waitOfTurn } from './rule/turn.ts';
import type { TerminationDecision } from './decide.ts';
import { closeFinished } from './end.ts';
import { takeHookOwnership } from './hook-owner.ts';
import { type TerminationRecord, withReport } from './record.ts';
import type { ObservedTermination } from './observe.ts';
import { openRecordWriter, openStepContext, type RecordWriter, withTurnIntent } from './record-writer.ts';
import {
  messageOfWait,
  reportAnswers,
  reportBadTimestamp,
  reportDeadline,
  reportFinish,
  reportForce,
  reportOverdue,
  reportStart,
  reportWait,
  type StepWait,
} from './report.ts';
import { reportLostNodes } from './lost-nodes.ts';
import type { StepContext, TerminationRunState } from './context.ts';
import { deleteClaimWithoutFinalizer, deleteObjects } from './delete-objects.ts';
import { drainNodes } from './drain.ts';
import { deleteDuePods } from './due-pods.ts';
import { hooksAt } from './hooks.ts';
import { terminateInstance } from './instance.ts';
import { awaitOtherClaim } from './other-claims.ts';
import { unlessInstanceGone } from './missing-instance.ts';
import { runRefusableSteps } from './refusals.ts';
import { releaseObjects } from './release.ts';
import { taintNodes } from './taint.ts';
import { awaitVolumes } from './volumes.ts';

/** The order that docs/terminations.md promises. */
export const TERMINATION_STEPS: readonly Step<StepContext>[] = [
  awaitOtherClaim,
  deleteObjects,
  taintNodes,
  hooksAt('before-drain'),
  unlessInstanceGone(drainNodes),
  unlessInstanceGone(awaitVolumes),
  hooksAt('before-terminate'),
  terminateInstance,
  hooksAt('after-terminate'),
  deleteClaimWithoutFinalizer,
  releaseObjects,
];

export interface TerminateOptions {
  readonly deps: FinalizerDeps;
  readonly reporter: Reporter;
  readonly run: TerminationRunState;
  readonly steps: readonly Step<StepContext>[];
}

type Terminate = Extract<TerminationDecision, { kind: 'terminate' | 'force' }>;

/** Runs one turn: writes the intent into the record, reports what is new, runs the steps. Throws the error of a step. */
export async function terminate(
  { deps, reporter, run, steps }: TerminateOptions,
  decision: Terminate,
  observed: ObservedTermination,
): Promise<Turn> {
  const { deadline, finalizerNames } = decision;
  const isForced = decision.kind === 'force';
  const writer = openRecordWriter(observed, run);
  const storedRecord = writer.value();
  const turn = { observed, deadline, isForced, finalizerNames };
  const context = openStepContext({ deps, reporter, run }, turn, writer);
  // Before anything else, so that the intent is in the record when the first call is made (I4).
  const saved = await writer.saveForSweep(withTurnIntent(storedRecord, context));
  if (!saved.written) return saved;
  await reportAnswers(context, run.answers.keys(), storedRecord.hooks, writer.value().hooks);
  run.answers.clear();
  const shown = decision.badTimestamp && cutText(decision.badTimestamp, SHOWN_CHARS);
  for (;;) {
    const news = nextAnnouncement(writer.value(), { isForced, shown, deadline });
    if (news === undefined) break;
    // Recorded at once: the steps may fail for hours, and what was said is not said again.
    const marked = await writer.saveForSweep(await announce(context, news));
    if (!marked.written) return marked;
    if (news.kind === 'start') return PROGRESSED;
  }

  if (await writeDeadline(context)) {
    return PROGRESSED;
  }

  // Not a step: if our own records cannot be read, the run ends here, also past the deadline (I6).
  const hookOwner = await takeHookOwnership(context);
  if (hookOwner.kind === 'changed') return anotherTurn('another run noted down who calls the hooks');
  const outcome = await orUnavailable(runRefusableSteps(steps, { ...context, hookOwner }));
  if (outcome.kind === 'unavailable') {
    const podsDue = await deleteDuePods(context);
    if (podsDue !== undefined) await writer.save(writer.value(), podsDue);
    throw outcome.error;
  }
  if (outcome.kind !== 'done' && outcome.step !== releaseObjects.name) {
    const noticed = await reportLostNodes(context, writer);
    if (!noticed.written) return noticed;
  }
  if (outcome.kind === 'progressed') return PROGRESSED;
  if (outcome.kind !== 'done') return waitForStep(context, outcome, writer, await deleteDuePods(context, outcome));
  await reportFinish(context);
  return closeFinished(deps, observed, writer.value());
}

/** Most characters that are shown of an unreadable value. */
const SHOWN_CHARS = 64;

/** Makes the announcement, and answers the record with it. */
async function announce(context: StepContext, news: Announcement): Promise<TerminationRecord> {
  const reportedDeadline = deadlineText(context.deadline);
  switch (news.kind) {
    case 'start':
      await reportStart(context);
      return withReport({ ...context.record(), reportedDeadline }, news.report);
    case 'force':
      await reportForce(context);
      return withReport({ ...context.record(), reportedDeadline }, news.report);
    case 'deadline':
      await reportDeadline(context, news);
      return { ...context.record(), reportedDeadline };
    case 'badTimestamp':
      await reportBadTimestamp(context, news.shown);
      return { ...context.record(), badTimestamp: news.shown };
  }
}

/**
 * Ends the turn: the timer of what is waited on is in the record. News is reported first, and recorded as reported
 * afterwards. If the run dies in between, the next one repeats it (I9).
 */
async function waitForStep(
  context: StepContext,
  outcome: StepWait,
  writer: RecordWriter,
  podsDue: EpochMs | undefined,
): Promise<Turn> {
  const { now, deadline, isForced, observed } = context;
  const record = writer.value();
  const { step } = outcome;
  const on = messageOfWait(outcome);
  const deletion = deletionTimeOf(observed.object);
  const until = earliest(outcome.until, podsDue);
  const { wakeTime, report, isNew, becomesOverdue } = waitOfTurn({
    now,
    deletion,
    deadline,
    isForced,
    record,
    step,
    on,
    until,
  });
  if (isNew) await showProgress(context, outcome);
  const turn = await writer.save(record, wakeTime);
  if (!turn.written) return turn;
  if (becomesOverdue) await reportOverdue(context, on);
  if (isNew) await reportWait(context, outcome);
  if (!isNew && !becomesOverdue) return turn;
  const reportSaved = await writer.save(
    withReport(becomesOverdue ? { ...record, overdue: true } : record, report),
    wakeTime,
  );
  return reportSaved.written ? turn : reportSaved;
}
