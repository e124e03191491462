/** Carries out what a NodeClaim or Node needs: its termination, our finalizers, a report alone, or the end of its record. */
import type { FinalizerContext, FinalizerDeps } from '../common/context.ts';
import { subjectOf } from '../../../shared/domain/kubernetes-object.ts';
import { addDuration, hours } from '../../../shared/domain/time.ts';
import type { Turn } from '../../../shared/lifecycle/settle.ts';
import type { SaveOutcome } from '../../../shared/lifecycle/timed-record.ts';
import type { TerminationRunState, TerminationContext } from './context.ts';
import type { TerminationDecision } from './decide.ts';
import { withAnswers } from './rule/hook-progress.ts';
import { closeWithoutFinalizer, closeUnneeded } from './end.ts';
import { hasLostFinalizer } from './rule/turn.ts';
import { rememberPool } from './known-pools.ts';
import { isLive } from './rule/objects.ts';
import { storedOrEmpty, type ObservedTermination } from './observe.ts';
import { prepare } from './prepare.ts';
import { waitOf, withWait } from './record.ts';
import { checkReplace } from './replace-in-force.ts';
import { reportAnswers, reportObserveMode } from './report.ts';
import { terminate } from './terminate.ts';
import { awaitSettings } from './unreadable-settings.ts';

/** Time between looks at a deletion that is only observed. */
const OBSERVED_CHECK = hours(24);

/** Context that a turn acts with. */
type ApplyContext = Pick<TerminationContext, 'deps' | 'reporter' | 'steps'> & { readonly run: TerminationRunState };

export async function apply(
  context: ApplyContext,
  decision: TerminationDecision,
  observed: ObservedTermination,
): Promise<Turn> {
  const { deps, reporter, run } = context;
  switch (decision.kind) {
    case 'terminate':
    case 'force':
      return terminate(context, decision, observed);
    case 'prepare':
      return prepare({ deps, reporter, backoff: run.backoff }, decision, observed);
    case 'wouldTerminate':
      return keepingAnswers(context, observed, seen => observeOnly(context, decision, seen));
    case 'awaitSettings':
      return keepingAnswers(context, observed, seen => awaitSettings(context, decision, seen));
    case 'refuse':
    case 'ignore':
      if (hasLostFinalizer(observed)) return closeWithoutFinalizer(context, observed);
      await checkReplace({ deps, reporter }, observed);
      await rememberPoolOf(deps, observed);
      return closeUnneeded(observed);
  }
}

/** Stores answers of workers while nothing is done: they count when the termination goes on, and nobody answers twice (I9). */
async function keepingAnswers(
  context: ApplyContext,
  observed: ObservedTermination,
  wait: (seen: ObservedTermination) => Promise<SaveOutcome>,
): Promise<Turn> {
  const { answers } = context.run;
  const { stored, now } = observed;
  if (stored === undefined || answers.size === 0) return wait(observed);
  const hooks = withAnswers(stored.hooks, answers, now);
  const saved = await wait({ ...observed, stored: { ...stored, hooks } });
  if (!saved.written) return saved;
  await reportAnswers({ ...context, observed }, answers.keys(), stored.hooks, hooks);
  answers.clear();
  return saved;
}

/** Remembers the NodePool of a NodeClaim that needs no change: where admission has put our finalizer on, nothing else remembers it. */
async function rememberPoolOf(
  deps: FinalizerDeps,
  { claim, termination, nodePool }: ObservedTermination,
): Promise<void> {
  const isAsked = termination.kind === 'custom' && claim !== undefined && isLive(claim);
  if (isAsked && nodePool !== undefined) await rememberPool(deps, nodePool);
}

/** Reports a termination in mode Observe once, as the record notes; a termination that was under way keeps what it had reached. */
async function observeOnly(
  context: FinalizerContext,
  decision: Extract<TerminationDecision, { kind: 'wouldTerminate' }>,
  observed: ObservedTermination,
): Promise<SaveOutcome> {
  const { object, timedRecord, stored, now } = observed;
  const value = withWait(storedOrEmpty({ stored }), { kind: 'observed' });
  const subject = subjectOf(object);
  // Said first: what the record says was said is not said again.
  if (waitOf(stored, 'observed') === undefined) await reportObserveMode({ ...context, observed }, decision);
  return await timedRecord.save({ subject, value, wakeTime: addDuration(now, OBSERVED_CHECK) });
}
