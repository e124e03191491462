/**
 * One termination, turn by turn: note down that it has begun → the steps in order, up to the first that is not done → what was
 * reached, as record, conditions and audit line. Every run starts at the first step; each step looks at the live state, so a run that
 * dies anywhere is made up for by the next one.
 */
import { EVENT_REASONS } from '../../shared/contract/reasons.ts';
import { addDuration, earliest, minutes, toTimestamp, type EpochMs } from '../../shared/domain/time.ts';
import type { Reporter } from '../../shared/lifecycle/reporter.ts';
import { DONE, type Turn } from '../../shared/lifecycle/settle.ts';
import { runSteps, type Step, type StepsOutcome } from '../../shared/lifecycle/steps.ts';
import type { Saved } from '../../shared/lifecycle/timed-record.ts';
import { showProgress } from './conditions.ts';
import type { TerminationDecision } from './decide.ts';
import { storedOrEmpty, type Look } from './observe.ts';
import type { TerminationRecord } from './record.ts';
import { tell, type RunMemory, type TerminationContext, type TerminationDeps } from './steps/context.ts';
import { deleteObjects } from './steps/delete-objects.ts';
import { drainNodes } from './steps/drain.ts';
import { hooksAt } from './steps/hooks.ts';
import { isGone, terminateInstance } from './steps/instance.ts';
import { releaseObjects } from './steps/release.ts';
import { taintNodes } from './steps/taint.ts';
import { awaitVolumes } from './steps/volumes.ts';

type Step_ = Step<TerminationContext>;

/** The order of DESIGN §3.3. */
export const TERMINATION_STEPS: readonly Step_[] = [
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
  readonly steps: readonly Step_[];
}

/** One turn. */
export async function terminate(
  { deps, reporter, run, steps }: TerminateOptions,
  decision: Extract<TerminationDecision, { kind: 'terminate' }>,
  look: Look,
): Promise<Turn> {
  let progress = storedOrEmpty(look);
  const { deadline, forced, finalizerNames } = decision;
  const wakeAt = (time: EpochMs | undefined): EpochMs => {
    const atDeadline = deadline !== undefined && deadline.time > look.now ? deadline.time : undefined;
    const net = addDuration(look.now, SAFETY_NET);
    return earliest(earliest(time, atDeadline), net) ?? net;
  };
  let { armed } = look;
  /** A timer ahead is kept: to put it off would send one message more for every run, and each of them would start a run. */
  const save = async (value: TerminationRecord, wanted: EpochMs, punctual = true): Promise<Saved> => {
    const { kind, apiVersion, metadata } = look.object;
    const subject = { kind, apiVersion, name: metadata.name, uid: metadata.uid };
    const wakeTime = earliest(wanted, isAhead(armed, look.now)) ?? wanted;
    const saved = await look.record.save({ subject, value, wakeTime, punctual: punctual || wakeTime === armed });
    if (saved.written) {
      progress = value;
      armed = wakeTime;
    }
    return saved;
  };
  /** While steps are at work: should this run die, the sweep brings the next one. */
  const saveMeanwhile = (value: TerminationRecord) => save(value, addDuration(look.now, minutes(1)), false);
  const context: TerminationContext = {
    deps,
    look,
    now: look.now,
    deadline,
    forced,
    finalizerNames,
    settings: look.termination.kind === 'custom' ? look.termination.settings : undefined,
    reporter,
    run,
    progress: () => progress,
    remember: async change => (await saveMeanwhile({ ...progress, ...change })).written,
  };

  const isNew = look.stored === undefined;
  const nodes = Object.fromEntries(look.nodes.map(({ metadata: { uid, name } }) => [uid, { name }]));
  const begun: TerminationRecord = {
    ...progress,
    finalizerNames: [...finalizerNames],
    nodes: { ...progress.nodes, ...nodes },
    ...(deadline !== undefined && { deadline }),
    ...(look.providerID !== undefined && { providerID: look.providerID }),
  };
  // Before anything else, so that the intent stands in the record when the first call is made (I4).
  const saved = await saveMeanwhile(begun);
  if (!saved.written) return saved;
  if (isNew) {
    await reportStart(context, decision);
    run.progressed = true;
    return DONE;
  }
  const wasForced = progress.reported?.startsWith(FORCED) ?? false;
  if (forced && !wasForced) await reportForce(context);

  const outcome = await runSteps(steps, context);
  if (run.progressed) return DONE;
  if (outcome.kind === 'done') return finish(context);
  const mark = `${forced ? FORCED : ''}${outcome.step}: ${outcome.kind === 'notYet' ? outcome.on : outcome.message}`;
  // Before the mark says that it is told: a run that dies in between is made up for.
  if (begun.reported !== mark) await showProgress(context, outcome);
  const turn = await save(
    { ...progress, reported: mark },
    wakeAt(outcome.kind === 'notYet' ? outcome.until : undefined),
  );
  if (!turn.written || begun.reported === mark) return turn;
  await reportWait(context, outcome);
  return turn;
}

const FORCED = 'forced ';

const isAhead = (armed: EpochMs | undefined, now: EpochMs): EpochMs | undefined =>
  armed !== undefined && armed > now ? armed : undefined;

/** Without an instance nothing runs on the Node: there is nothing to drain or detach (reference on Karpenter, §2.2 step 3). */
function unlessInstanceGone(step: Step_): Step_ {
  return {
    name: step.name,
    async run(context) {
      return (await isInstanceMissing(context)) ? { kind: 'done' } : step.run(context);
    },
  };
}

/** Only of Nodes that are not Ready: while a Node is Ready its kubelet speaks, whatever the cloud says (N18, N19). */
async function isInstanceMissing({ deps, look }: TerminationContext): Promise<boolean> {
  const { claim, nodes, providerID } = look;
  if (claim === undefined || providerID === undefined || nodes.some(isReady)) return false;
  return isGone((await deps.instances.describe(providerID))?.state);
}

function isReady({ status }: Look['object']): boolean {
  const conditions = status?.['conditions'];
  return (
    Array.isArray(conditions) &&
    conditions.some(
      (condition: { type?: unknown; status?: unknown }) => condition.type === 'Ready' && condition.status === 'True',
    )
  );
}

async function finish(context: TerminationContext): Promise<Turn> {
  await tell(context, {
    decision: 'release',
    reason: EVENT_REASONS.terminationFinished,
    message: `everything is done: ${context.finalizerNames.join(', ')} is off`,
    details: { providerID: context.look.providerID ?? null, forced: context.forced },
    metric: { name: 'TerminationFinished' },
  });
  return context.look.record.closeGone();
}

async function reportStart(
  context: TerminationContext,
  { badTimestamp }: Extract<TerminationDecision, { kind: 'terminate' }>,
): Promise<void> {
  const { deadline } = context;
  const end =
    deadline === undefined ? 'without a deadline' : `until ${toTimestamp(deadline.time)} (${deadline.source})`;
  await tell(context, {
    decision: 'terminate',
    reason: EVENT_REASONS.terminationStarted,
    message: `the termination has begun, ${end}`,
    details: { deadline: deadline === undefined ? null : toTimestamp(deadline.time) },
    metric: { name: 'TerminationStarted' },
    event: { type: 'Normal' },
  });
  if (badTimestamp === undefined) return;
  await tell(context, {
    decision: 'refuse',
    reason: EVENT_REASONS.invalidTerminationTimestamp,
    message: `the deadline annotation ${JSON.stringify(badTimestamp)} is not RFC 3339 and counts as absent`,
    event: { type: 'Warning' },
  });
}

async function reportForce(context: TerminationContext): Promise<void> {
  const { deadline } = context;
  const which = deadline === undefined ? '' : ` ${toTimestamp(deadline.time)} (${deadline.source})`;
  await tell(context, {
    decision: 'force',
    reason: EVENT_REASONS.terminationForced,
    message: `the deadline${which} has come: pods, volumes and hooks are not waited for any more`,
    metric: { name: 'TerminationForced' },
    event: { type: 'Warning' },
  });
}

async function reportWait(
  context: TerminationContext,
  outcome: Exclude<StepsOutcome, { kind: 'done' }>,
): Promise<void> {
  const message = outcome.kind === 'notYet' ? outcome.on : outcome.message;
  const reason = REASONS[outcome.step] ?? 'Waiting';
  await tell(context, {
    decision: 'wait',
    reason,
    message,
    details: { step: outcome.step, ...(outcome.kind === 'notYet' && { until: toTimestamp(outcome.until) }) },
  });
  const { claim, nodes } = context.look;
  const about = nodes[0] ?? claim;
  const isBlocked = outcome.step === 'Drain' && message.includes('must not go');
  if (about === undefined || (!isBlocked && outcome.step !== 'DetachVolumes')) return;
  await context.deps.events.record({ type: isBlocked ? 'Warning' : 'Normal', reason, message, about });
}

/** Per step: the reason of the wait, as Karpenter names it where it does. */
const REASONS: Readonly<Record<string, string>> = {
  Drain: EVENT_REASONS.failedDraining,
  DetachVolumes: EVENT_REASONS.awaitingVolumeDetachment,
  TerminateInstance: 'AwaitingInstanceTermination',
};
