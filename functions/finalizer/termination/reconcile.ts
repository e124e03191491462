/** One NodeClaim with its Nodes, or one Node without a NodeClaim: look, decide, act, until nothing is left to do now. */
import { oneByOne } from '../../../shared/cluster/in-parallel.ts';
import type { HookAnswer } from '../../../shared/domain/hook-answer.ts';
import { subjectOf, type KubernetesObject } from '../../../shared/domain/kubernetes-object.ts';
import { addDuration, minutes } from '../../../shared/domain/time.ts';
import { createBackoff } from '../../../shared/lifecycle/refusals.ts';
import { anotherTurn, DONE, settle, type Concern, type Observed, type Turn } from '../../../shared/lifecycle/settle.ts';
import { openRecords, type TimedRecord, type UsedWakeUp } from '../../../shared/lifecycle/timed-record.ts';
import { orUnavailable } from '../../../shared/ports/read-answer.ts';
import { apply } from './apply.ts';
import { armForDuePods } from './due-pods.ts';
import type { ReplaceableRules, TerminationRunState, TerminationContext } from './context.ts';
import { decide, type TerminationDecision } from './decide.ts';
import { closeGone, handOverToNodes } from './end.ts';
import { claimUnderWay } from './hook-owner.ts';
import {
  observe,
  toObservation,
  type ObservedTermination,
  type TerminationObserverContext,
  type TerminationSubject,
} from './observe.ts';
import { TERMINATION_CODEC, terminationRecordId, type TerminationRecord } from './record.ts';
import { TERMINATION_STEPS } from './terminate.ts';
import { awaitedFirst, firstIfEnding, noteUnread } from './unread.ts';

/** The rules that a termination goes by. */
export const REPLACEABLE_RULES: ReplaceableRules = { decide, steps: TERMINATION_STEPS };

/** Time between looks of a Node that waits for its NodeClaim's termination. */
const CLAIM_CHECK = minutes(1);

/**
 * Looks at a NodeClaim or Node and acts until nothing is left to do now.
 *
 * @param answers of workers to hooks of this termination, by hook name
 *
 * @returns false: there is no such object, and nothing is remembered of it
 */
export async function reconcileTarget(
  context: TerminationContext,
  target: TerminationSubject,
  wakeUp: UsedWakeUp | undefined,
  answers: ReadonlyMap<string, HookAnswer> = new Map(),
): Promise<boolean> {
  const { deps } = context;
  let opened: { readonly timedRecord: TimedRecord<TerminationRecord>; readonly object?: KubernetesObject } | undefined;
  const records = openRecords(deps, TERMINATION_CODEC, wakeUp);
  const reader: TerminationObserverContext = {
    timedRecordOf(uid) {
      const timedRecord = records(terminationRecordId(target.kind, uid));
      opened = { timedRecord };
      return timedRecord;
    },
    onFound: (timedRecord, object) => void (opened = { timedRecord, object }),
  };
  const run: TerminationRunState = {
    ownAttempt: undefined,
    ownHooks: new Set(),
    releasedNodes: new Set(),
    answers: new Map(answers),
    lostRaces: 0,
    backoff: createBackoff(deps.clock),
  };
  const waitToRead = async (error: Error): Promise<Turn> => {
    await noteUnread(context, error, {
      backoff: run.backoff,
      timedRecord: opened?.timedRecord,
      first: firstIfEnding(opened?.object, { message: error.message, reportedTime: deps.clock.now() }),
      isRequest: run.answers.size > 0,
    });
    return DONE;
  };
  let nodesWithFinalizer: readonly TerminationSubject[] = [];
  let isKnown = false;
  const concern: Concern<ObservedTermination, TerminationDecision> = {
    what: `${target.kind} ${target.name}`,
    async observe(): Promise<Observed<ObservedTermination>> {
      const look = await orUnavailable(observe(deps, reader, target));
      if (look.kind === 'unavailable') {
        isKnown = true;
        return { kind: 'over', turn: await waitToRead(look.error) };
      }
      isKnown ||= look.kind !== 'nothing';
      if (look.kind === 'here') {
        if (look.observation.claim !== undefined) context.claimCache.note(look.observation.claim);
        return { kind: 'here', observation: look.observation };
      }
      if (look.kind === 'gone') {
        nodesWithFinalizer = await handOverToNodes(context, look);
        await closeGone(context, run.backoff, target, look);
      }
      return { kind: 'over' };
    },
    decide: observed => context.decide(toObservation(observed)),
    async apply(decision, observed) {
      const { settingsError } = observed;
      if (settingsError !== undefined && decision.kind !== 'force') {
        if (decision.kind === 'terminate') await armForDuePods({ ...context, run }, decision.deadline, observed);
        return waitToRead(settingsError);
      }
      const isBegun = decision.kind === 'terminate' || decision.kind === 'force';
      return (
        (isBegun ? await awaitClaim(context, observed) : undefined) ?? apply({ ...context, run }, decision, observed)
      );
    },
  };
  await context.pauseIfNotServed(() => settle(concern), {
    openedRecord: () => opened?.timedRecord,
    firstState: (message, reportedTime) => opened?.object && awaitedFirst(opened.object, { message, reportedTime }),
    isRequest: answers.size > 0,
  });
  // The Node goes on with the hooks, and needs the answers that came with this message.
  await oneByOne(nodesWithFinalizer, async node => void (await reconcileTarget(context, node, undefined, run.answers)));
  return isKnown;
}

/**
 * Waits for the termination of the NodeClaim in which the hooks of this Node are called: the Node begins none of its own before that one has
 * ended. The NodeClaim may have gone without anybody having heard of it: then its record is closed first, and the Node gets what was promised.
 * undefined: there is none to wait for.
 */
async function awaitClaim(context: TerminationContext, observed: ObservedTermination): Promise<Turn | undefined> {
  const { object, stored, timedRecord, claim } = observed;
  if (claim !== undefined || stored?.reportState.kind !== 'hookOwner') return undefined;
  const { claimUid: uid } = stored.reportState;
  const other = await claimUnderWay(context.deps, uid);
  if (other === undefined) return undefined;
  await reconcileTarget(context, { kind: 'NodeClaim', name: other.name, uid }, undefined);
  if ((await claimUnderWay(context.deps, uid)) === undefined) return anotherTurn(`NodeClaim ${other.name} is gone`);
  const subject = subjectOf(object);
  return timedRecord.save({ subject, value: stored, wakeTime: addDuration(observed.now, CLAIM_CHECK) });
}
