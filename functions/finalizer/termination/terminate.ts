/**
 * One termination, turn by turn: note down that it has begun → the steps in order, up to the first that is not done → what was
 * reached, as record, conditions and audit line. Every run starts at the first step; each step looks at the live state, so a run that
 * dies anywhere is made up for by the next one.
 */
import { isDeepStrictEqual } from 'node:util';
import type { TerminationDeps } from '../cluster/context.ts';
import { cutText } from '../../../shared/domain/cut-text.ts';
import {
  addDuration,
  earliest,
  hours,
  isDue,
  minutes,
  parseTimestamp,
  type EpochMs,
} from '../../../shared/domain/time.ts';
import type { Reporter } from '../../../shared/lifecycle/reporter.ts';
import { again, ONWARD, type Turn } from '../../../shared/lifecycle/settle.ts';
import type { Step } from '../../../shared/lifecycle/steps.ts';
import { showProgress } from './conditions.ts';
import { writeDeadline } from './deadline-annotation.ts';
import type { TerminationDecision } from './decide.ts';
import { closeTermination } from './end.ts';
import { takeHookOwnership } from './hook-owner.ts';
import { lastReportOf, withReport } from './record.ts';
import { settingsInForce } from './settings-in-force.ts';
import type { ObservedTermination } from './observe.ts';
import { withTurnIntent, openStateWriter, type StateWriter } from './state-writer.ts';
import {
  messageOfWait,
  reportAnswers,
  reportBadTimestamp,
  reportFinish,
  reportForce,
  reportOverdue,
  reportStart,
  reportWait,
  type StepWait,
} from './report.ts';
import { reportStrippedNodes } from './stripped-nodes.ts';
import type { TerminationRun, TerminationContext } from './context.ts';
import { deleteObjects, deleteClaimWithoutFinalizer } from './delete-objects.ts';
import { drainNodes } from './drain.ts';
import { deleteDuePods } from './due-pods.ts';
import { hooksAt } from './hooks.ts';
import { terminateInstance } from './instance.ts';
import { unlessInstanceGone } from './missing-instance.ts';
import { runRefusableSteps } from './refusals.ts';
import { releaseObjects } from './release.ts';
import { taintNodes } from './taint.ts';
import { awaitVolumes } from './volumes.ts';

/** The order that docs/terminations.md promises. */
export const TERMINATION_STEPS: readonly Step<TerminationContext>[] = [
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

/** Whatever is waited for, a termination is looked at this often (I5). */
const SAFETY_NET = minutes(5);

export interface TerminateOptions {
  readonly deps: TerminationDeps;
  readonly reporter: Reporter;
  readonly run: TerminationRun;
  readonly steps: readonly Step<TerminationContext>[];
}

type Terminate = Extract<TerminationDecision, { kind: 'terminate' }>;

/** One turn: the intent into the record, what is new said, the steps. Throws the error of a step. */
export async function terminate(
  { deps, reporter, run, steps }: TerminateOptions,
  decision: Terminate,
  observed: ObservedTermination,
): Promise<Turn> {
  const { deadline, isForced, finalizerNames } = decision;
  const writer = openStateWriter(observed, run.tries);
  const before = writer.value();
  const context: TerminationContext = {
    deps,
    hookOwner: { kind: 'ours' },
    observed,
    now: observed.now,
    deadline,
    isForced,
    finalizerNames,
    settings: settingsInForce(observed.termination, observed.stored),
    reporter,
    run,
    state: () => writer.value(),
    saveState: async change => (await writer.saveForSweep({ ...writer.value(), ...change })).written,
  };
  // Before anything else, so that the intent is in the record when the first call is made (I4).
  const saved = await writer.saveForSweep(withTurnIntent(before, context));
  if (!saved.written) return saved;
  await reportAnswers(context, before.hooks);
  run.answers.clear();
  const last = lastReportOf(before);
  if (last === undefined) {
    await reportStart(context);
    const marked = await writer.saveForSweep(withReport(writer.value(), { isForced: false, text: STARTED }));
    if (!marked.written) return marked;
    return ONWARD;
  }
  if (isForced && !last.isForced) {
    await reportForce(context);
    // At once: the steps may fail for hours, and what was said is not said again.
    const marked = await writer.saveForSweep(withReport(writer.value(), { isForced, text: '' }));
    if (!marked.written) return marked;
  }

  const shown = decision.badTimestamp && cutText(decision.badTimestamp, SHOWN_CHARS);
  if (shown !== undefined && shown !== before.badTimestamp) {
    await reportBadTimestamp(context, shown);
    const marked = await writer.saveForSweep({ ...writer.value(), badTimestamp: shown });
    if (!marked.written) return marked;
  }

  if (await writeDeadline(context)) {
    return ONWARD;
  }

  // Here and not in a step: what our own records do not answer ends the run, also past the deadline (I6).
  const hookOwner = await takeHookOwnership(context);
  if (hookOwner.kind === 'changed') return again('another run noted down who calls the hooks');
  const outcome = await runRefusableSteps(steps, { ...context, hookOwner });
  if (outcome.kind !== 'done' && outcome.step !== releaseObjects.name) {
    const noticed = await reportStrippedNodes(context, writer);
    if (!noticed.written) return noticed;
  }
  if (outcome.kind === 'notYet' && outcome.onward === true) return ONWARD;
  if (outcome.kind !== 'done') return waitForStep(context, outcome, writer, await deleteDuePods(context, outcome));
  await reportFinish(context);
  return closeTermination(deps, observed, writer.value());
}

const STARTED = 'started';
/** How much of an unreadable value is shown. */
const SHOWN_CHARS = 64;

/**
 * Ends the turn: the timer of what is waited on is in the record; what is new is reported first and recorded as
 * reported afterwards, so that the next run repeats it after one that dies in between (I9).
 */
async function waitForStep(
  context: TerminationContext,
  outcome: StepWait,
  writer: StateWriter,
  podsDue: EpochMs | undefined,
): Promise<Turn> {
  const { isForced } = context;
  const value = writer.value();
  const report = { isForced, text: `${outcome.step}: ${messageOfWait(outcome)}` };
  const isNews = !isDeepStrictEqual(lastReportOf(value), report);
  const becomesOverdue = value.overdue !== true && isOverdue(context);
  if (isNews) await showProgress(context, outcome);
  const wakeTime = wakeTimeOf(context, earliest(outcome.until, podsDue));
  const turn = await writer.save(value, wakeTime);
  if (!turn.written) return turn;
  if (becomesOverdue) await reportOverdue(context, messageOfWait(outcome));
  if (isNews) await reportWait(context, outcome);
  if (!isNews && !becomesOverdue) return turn;
  const said = await writer.save(withReport(becomesOverdue ? { ...value, overdue: true } : value, report), wakeTime);
  return said.written ? turn : said;
}

/** Past its deadline by this much, somebody should look; without a deadline after a day. */
const OVERDUE_AFTER_DEADLINE = minutes(15);
const OVERDUE_WITHOUT_DEADLINE = hours(24);

function isOverdue({ now, deadline, observed }: TerminationContext): boolean {
  const deletion = parseTimestamp(observed.object.metadata.deletionTimestamp ?? '') ?? now;
  const due =
    deadline === undefined || deadline.time < deletion
      ? addDuration(deletion, deadline === undefined ? OVERDUE_WITHOUT_DEADLINE : OVERDUE_AFTER_DEADLINE)
      : addDuration(deadline.time, OVERDUE_AFTER_DEADLINE);
  return isDue(now, due);
}

function wakeTimeOf({ now, deadline }: TerminationContext, until: EpochMs | undefined): EpochMs {
  const atDeadline = deadline !== undefined && deadline.time > now ? deadline.time : undefined;
  const net = addDuration(now, SAFETY_NET);
  return earliest(earliest(until, atDeadline), net);
}
