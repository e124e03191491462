/** One NodeClaim with its Nodes, or one Node without a NodeClaim: look, decide, act, until nothing is left to do now. */
import type { FinalizerContext, TerminationDeps } from '../cluster/context.ts';
import type { HoldOutOfSight } from '../../../shared/cluster/out-of-sight.ts';
import type { KubernetesObject } from '../../../shared/domain/kubernetes-object.ts';
import { EMPTY_TERMINATION, waitOf, withWait, type TerminationRecord } from './record.ts';
import { oneByOne } from '../../../shared/cluster/in-parallel.ts';
import { KARPENTER } from '../../../shared/contract/names.ts';
import { readNodeClaim } from '../../../shared/domain/node-claim.ts';
import { addDuration, hours, minutes, type EpochMs } from '../../../shared/domain/time.ts';
import { createTries } from '../../../shared/lifecycle/refusals.ts';
import { again, settle, type Concern, type Observed, type Turn } from '../../../shared/lifecycle/settle.ts';
import type { Step } from '../../../shared/lifecycle/steps.ts';
import type { TimedRecord, UsedWakeUp } from '../../../shared/lifecycle/timed-record.ts';
import type { HookAnswer } from '../../../shared/contract/hook-answer.ts';
import type { ClaimHints } from './claim-hints.ts';
import type { decide, TerminationDecision } from './decide.ts';
import { close, closeUnheld, handOver, isUnheld, rest } from './end.ts';
import { claimUnderWay, isNoteOf } from './hook-owner.ts';
import { isLive, isRegistered, toTerminated } from './objects.ts';
import { createObserver, storedOrEmpty, type ObservedTermination, type TerminationSubject } from './observe.ts';
import { rememberPool } from './known-pools.ts';
import { prepare } from './prepare.ts';
import { awaitSettings } from './await-settings.ts';
import { checkReplace } from './replace-in-force.ts';
import { reportObserved } from './report.ts';
import { objectsOf, type RunMemory, type TerminationContext } from './context.ts';
import { terminate } from './terminate.ts';

/** A deletion that is only observed is looked at this often. */
const OBSERVED_CHECK = hours(24);
/** A Node that waits for its NodeClaim's termination looks this often. */
const CLAIM_CHECK = minutes(1);

/** What carries terminations out; other rules than the real ones prove what a mistake in them would do. */
export interface TargetContext extends FinalizerContext {
  readonly holdOutOfSight: HoldOutOfSight;
  readonly hints: ClaimHints;
  readonly decide: typeof decide;
  readonly steps: readonly Step<TerminationContext>[];
}

/**
 * @param answers of workers to hooks of this termination, by hook name
 * @returns false: there is no such object, and nothing is remembered of it
 */
export async function reconcileTarget(
  parts: TargetContext,
  target: TerminationSubject,
  wakeUp: UsedWakeUp | undefined,
  answers: ReadonlyMap<string, HookAnswer> = new Map(),
): Promise<boolean> {
  const { deps } = parts;
  let opened: { readonly record: TimedRecord<TerminationRecord>; readonly object?: KubernetesObject } | undefined;
  const observe = createObserver(deps, wakeUp, (record, object) => (opened = { record, ...(object && { object }) }));
  const run: RunMemory = {
    ownAttempt: undefined,
    ownHooks: new Set(),
    answers: new Map(answers),
    lostRaces: 0,
    tries: createTries(deps.clock),
  };
  let left: readonly TerminationSubject[] = [];
  let isKnown = false;
  const concern: Concern<ObservedTermination, TerminationDecision> = {
    what: `${target.kind} ${target.name}`,
    async observe(): Promise<Observed<ObservedTermination>> {
      const seen = await observe(target);
      isKnown ||= seen.kind !== 'nothing';
      if (seen.kind === 'here') {
        if (seen.observation.claim !== undefined) parts.hints.seen(seen.observation.claim);
        return { kind: 'here', observation: seen.observation };
      }
      if (seen.kind === 'gone') {
        left = await handOver(parts, seen);
        await close(parts, target, seen);
      }
      return { kind: 'over' };
    },
    decide: observed => parts.decide(toObservation(observed)),
    apply: (decision, observed) => apply(parts, run, decision, observed),
  };
  await parts.holdOutOfSight(() => settle(concern), {
    opened: () => opened?.record,
    first: (message, saidTime) => opened?.object && awaitedFirst(opened.object, { message, saidTime }),
    isRequest: answers.size > 0,
  });
  await oneByOne(left, async node => void (await reconcileTarget(parts, node, undefined)));
  return isKnown;
}

/** Whether anything of it is ours shows once its settings can be seen. */
const awaitedFirst = (
  { apiVersion, kind, metadata: { name, uid } }: KubernetesObject,
  unreadable: { readonly message: string; readonly saidTime: EpochMs },
) => ({
  subject: { apiVersion, kind, name, uid },
  value: withWait(EMPTY_TERMINATION, { kind: 'unreadable', ...unreadable }),
});

function toObservation({
  now,
  claim,
  nodes,
  termination,
  takesBackDeadline,
  stored,
}: ObservedTermination): Parameters<typeof decide>[0] {
  return {
    now,
    claim: claim && toTerminated(claim),
    isRegistered: claim !== undefined && isRegistered(claim),
    claimGracePeriod: claim && readNodeClaim(claim).terminationGracePeriod,
    terminationTimestamp: claim?.metadata.annotations?.[KARPENTER.terminationTimestampAnnotation],
    nodes: nodes.map(toTerminated),
    settings: termination,
    storedDeadline: stored?.deadline,
    takesBackDeadline,
    hasBegun: stored?.reported !== undefined,
    storedNames: stored?.finalizerNames ?? [],
  };
}

async function apply(
  parts: TargetContext,
  run: RunMemory,
  decision: TerminationDecision,
  observed: ObservedTermination,
): Promise<Turn> {
  const { deps, reporter, steps } = parts;
  switch (decision.kind) {
    case 'terminate':
      return (await awaitClaim(parts, observed)) ?? terminate({ deps, reporter, steps, run }, decision, observed);
    case 'prepare':
      return prepare({ deps, reporter, tries: run.tries }, decision, observed);
    case 'wouldTerminate':
      return watch(parts, decision, observed);
    case 'awaitSettings':
      return awaitSettings(parts, decision, observed);
    case 'refuse':
    case 'ignore':
      if (isUnheld(observed)) return closeUnheld(parts, observed);
      await checkReplace({ deps, reporter }, observed);
      await rememberPoolOf(deps, observed);
      return rest(observed);
  }
}

/**
 * A Node whose hooks are called in the termination of a NodeClaim begins none of its own before that one has ended. It may have gone without
 * anybody having heard of it: then its record is closed first, and the Node gets what was promised. undefined: there is none to wait for.
 */
async function awaitClaim(parts: TargetContext, observed: ObservedTermination): Promise<Turn | undefined> {
  const { object, stored, record, claim } = observed;
  const { hooksOf: uid } = stored ?? {};
  if (claim !== undefined || stored === undefined || uid === undefined || !isNoteOf(stored, uid)) return undefined;
  const other = await claimUnderWay(parts.deps, uid);
  if (other === undefined) return undefined;
  await reconcileTarget(parts, { kind: 'NodeClaim', name: other.name, uid }, undefined);
  if ((await claimUnderWay(parts.deps, uid)) === undefined) return again(`NodeClaim ${other.name} is gone`);
  const { kind, apiVersion, metadata } = object;
  const subject = { kind, apiVersion, name: metadata.name, uid: metadata.uid };
  return record.save({ subject, value: stored, wakeTime: addDuration(observed.now, CLAIM_CHECK) });
}

/** Where admission has put our finalizer on, nothing was there to do: what its NodePool asks for is remembered all the same. */
async function rememberPoolOf(
  deps: TerminationDeps,
  { claim, termination, nodePool }: ObservedTermination,
): Promise<void> {
  const isAsked = termination.kind === 'custom' && claim !== undefined && isLive(claim);
  // One that has gone is remembered as it was.
  if (isAsked && nodePool !== undefined && nodePool.metadata.uid !== '') await rememberPool(deps, nodePool);
}

/** Mode Observe: said once, as the record notes; a termination that was under way keeps what it had reached. */
async function watch(
  parts: TargetContext,
  decision: Extract<TerminationDecision, { kind: 'wouldTerminate' }>,
  observed: ObservedTermination,
): Promise<Turn> {
  const { object, record, stored, now } = observed;
  const { kind, apiVersion, metadata } = object;
  const value = withWait(storedOrEmpty({ stored }), { kind: 'observed' });
  const subject = { kind, apiVersion, name: metadata.name, uid: metadata.uid };
  // Said first: what the record says was said is not said again.
  if (waitOf(stored, 'observed') === undefined) await reportObserved(parts, objectsOf({ observed }), decision);
  return await record.save({ subject, value, wakeTime: addDuration(now, OBSERVED_CHECK) });
}
