/**
 * One termination, turn by turn: note down that it has begun → the steps in order, up to the first that is not done → what was
 * reached, as record, conditions and audit line. Every run starts at the first step; each step looks at the live state, so a run that
 * dies anywhere is made up for by the next one.
 */
import {
  addDuration,
  earliest,
  hours,
  isDue,
  minutes,
  parseTimestamp,
  type EpochMs,
} from '../../shared/domain/time.ts';
import { messageOf, RetryableError } from '../../shared/errors.ts';
import type { Reporter } from '../../shared/lifecycle/reporter.ts';
import { DONE, type Turn } from '../../shared/lifecycle/settle.ts';
import { runSteps, type Step } from '../../shared/lifecycle/steps.ts';
import { withAnswers } from './answers.ts';
import { showProgress } from './conditions.ts';
import type { TerminationDecision } from './decide.ts';
import { settingsInForce } from './kept-settings.ts';
import { isRegistered } from './objects.ts';
import type { Look } from './observe.ts';
import { openProgress, type Progress } from './progress.ts';
import type { TerminationRecord } from './record.ts';
import {
  messageOfWait,
  reportFinish,
  reportForce,
  reportOverdue,
  reportStart,
  reportStripped,
  reportWait,
  type Waiting,
} from './reports.ts';
import type { RunMemory, TerminationContext, TerminationDeps } from './steps/context.ts';
import { deleteObjects } from './steps/delete-objects.ts';
import { drainNodes } from './steps/drain.ts';
import { hooksAt } from './steps/hooks.ts';
import { reportAnswers } from './steps/hook-reports.ts';
import { terminateInstance } from './steps/instance.ts';
import { unlessInstanceGone } from './steps/missing-instance.ts';
import { releaseObjects } from './steps/release.ts';
import { taintNodes } from './steps/taint.ts';
import { awaitVolumes } from './steps/volumes.ts';

/** The order of DESIGN §3.3. */
export const TERMINATION_STEPS: readonly Step<TerminationContext>[] = [
  deleteObjects,
  taintNodes,
  hooksAt('before-drain'),
  unlessInstanceGone(drainNodes),
  unlessInstanceGone(awaitVolumes),
  hooksAt('before-terminate'),
  terminateInstance,
  hooksAt('after-terminate'),
  releaseObjects,
];

/** Whatever is waited for, a termination is looked at this often (I5). */
const SAFETY_NET = minutes(5);

export interface TerminateOptions {
  readonly deps: TerminationDeps;
  readonly reporter: Reporter;
  readonly run: RunMemory;
  readonly steps: readonly Step<TerminationContext>[];
}

/** One turn. */
export async function terminate(
  { deps, reporter, run, steps }: TerminateOptions,
  decision: Extract<TerminationDecision, { kind: 'terminate' }>,
  look: Look,
): Promise<Turn> {
  const { deadline, forced, finalizerNames } = decision;
  const progress = openProgress(look);
  const before = progress.value();
  const settings = settingsInForce(look.termination, look.stored);
  const context: TerminationContext = {
    deps,
    look,
    now: look.now,
    deadline,
    forced,
    finalizerNames,
    settings,
    reporter,
    run,
    progress: () => progress.value(),
    remember: async change => (await progress.saveMeanwhile({ ...progress.value(), ...change })).written,
  };

  const isNew = look.stored === undefined || look.stored.observed === true;
  const { observed: _, ...rest } = before;
  const nodes = Object.fromEntries(look.nodes.map(({ metadata: { uid, name } }) => [uid, { name }]));
  const begun: TerminationRecord = {
    ...rest,
    finalizerNames: [...finalizerNames],
    nodes: { ...before.nodes, ...nodes },
    hooks: withAnswers(before.hooks, run.answers, look.now),
    ...(deadline !== undefined && { deadline }),
    ...(look.providerID !== undefined && { providerID: look.providerID }),
    ...(settings !== undefined && { settings }),
  };
  // Before anything else, so that the intent stands in the record when the first call is made (I4).
  const saved = await progress.saveMeanwhile(begun);
  if (!saved.written) return saved;
  await reportAnswers(context, before.hooks);
  run.answers.clear();
  if (isNew) {
    await reportStart(context, decision);
    run.progressed = true;
    return DONE;
  }
  const wasForced = before.reported?.startsWith(FORCED) ?? false;
  if (forced && !wasForced) {
    await reportForce(context);
    // At once: the steps may fail for hours, and what was said is not said again.
    const marked = await progress.saveMeanwhile({ ...progress.value(), reported: FORCED });
    if (!marked.written) return marked;
  }

  const outcome = await runSteps(steps, context).catch((error: unknown) => sayWhenOverdue(context, error));
  if (run.progressed) return DONE;
  if (outcome.kind !== 'done') return wait(context, outcome, progress);
  await reportFinish(context);
  return look.record.closeGone();
}

const FORCED = 'forced ';

/** Ends the turn: what is waited on stands in the record, and is said when it is something else than before. */
async function wait(context: TerminationContext, outcome: Waiting, progress: Progress): Promise<Turn> {
  const { forced } = context;
  const value = progress.value();
  const stripped = strippedNodes(context);
  const mark = `${forced ? FORCED : ''}${outcome.step}: ${messageOfWait(outcome)}`;
  const isNews = value.reported !== mark;
  const gone = Object.fromEntries(stripped.map(([uid, node]) => [uid, { ...node, stripped: true }]));
  const becomesOverdue = value.overdue !== true && isOverdue(context);
  const next: TerminationRecord = {
    ...value,
    ...(becomesOverdue && { overdue: true }),
    nodes: { ...value.nodes, ...gone },
    reported: mark,
  };
  // Before the mark says that it is told: a run that dies in between is made up for.
  if (isNews) await showProgress(context, outcome);
  const turn = await progress.save(next, wakeTimeOf(context, outcome.kind === 'notYet' ? outcome.until : undefined));
  if (!turn.written) return turn;
  if (stripped.length > 0)
    await reportStripped(
      context,
      stripped.map(([, { name }]) => name),
    );
  if (becomesOverdue) await reportOverdue(context, messageOfWait(outcome));
  if (!isNews) return turn;
  await reportWait(context, outcome);
  return turn;
}

/** What cannot be found out is tried again; once that takes too long, somebody is told. */
async function sayWhenOverdue(context: TerminationContext, error: unknown): Promise<never> {
  const isNews = error instanceof RetryableError && context.progress().overdue !== true && isOverdue(context);
  if (isNews && (await context.remember({ overdue: true }))) await reportOverdue(context, messageOf(error));
  throw error;
}

/** Past its deadline by this much, somebody should look; without a deadline after a day. */
const OVERDUE_AFTER_DEADLINE = minutes(15);
const OVERDUE_WITHOUT_DEADLINE = hours(24);

function isOverdue({ now, deadline, look }: TerminationContext): boolean {
  const deletion = parseTimestamp(look.object.metadata.deletionTimestamp ?? '') ?? now;
  const due =
    deadline === undefined || deadline.time < deletion
      ? addDuration(deletion, deadline === undefined ? OVERDUE_WITHOUT_DEADLINE : OVERDUE_AFTER_DEADLINE)
      : addDuration(deadline.time, OVERDUE_AFTER_DEADLINE);
  return isDue(now, due);
}

function wakeTimeOf({ now, deadline }: TerminationContext, until: EpochMs | undefined): EpochMs {
  const atDeadline = deadline !== undefined && deadline.time > now ? deadline.time : undefined;
  const net = addDuration(now, SAFETY_NET);
  return earliest(earliest(until, atDeadline), net) ?? net;
}

/** Nodes that went while there is still something to do before they may: nobody but us releases them. */
function strippedNodes(context: TerminationContext): readonly (readonly [string, { name: string }])[] {
  const { look } = context;
  if (look.claim === undefined || look.sharedWith.length > 0 || !isRegistered(look.claim)) return [];
  const here = new Set(look.nodes.map(({ metadata }) => metadata.uid));
  return Object.entries(context.progress().nodes).filter(([uid, { stripped }]) => !here.has(uid) && stripped !== true);
}
