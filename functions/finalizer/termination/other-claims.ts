/**
 * NodeClaims of one instance that are deleted together: it ends in the termination of one of them (`endingClaim`). The others wait
 * for that, up to their own deadline. Each NodeClaim that is left gets to know which hooks were called, so that none is called again
 * (I4).
 */
import { isDeepStrictEqual } from 'node:util';
import type { FinalizerDeps } from '../common/context.ts';
import { subjectOf } from '../../../shared/domain/kubernetes-object.ts';
import { addDuration } from '../../../shared/domain/time.ts';
import type { StepOutcome } from './steps.ts';
import { safetyLook, stepDone, waitFor, type StepContext } from './context.ts';
import { HANDED_ON_CHECK, hookCallsOf, ownedHookCalls } from './hook-owner.ts';
import { otherClaimsOf } from './instance-sharing.ts';
import { isLive, isManaged } from './rule/objects.ts';
import { openTermination, type TerminationRecord } from './record.ts';
import { withCalls } from './rule/hook-progress.ts';

/** Waits for the other NodeClaim's termination, but no longer than its own deadline, which is a promise all the same (I5). */
export const awaitOtherClaim = {
  name: 'AwaitOtherNodeClaim',
  run(context: StepContext): Promise<StepOutcome> {
    const { endedWith } = context.observed;
    if (endedWith === undefined || context.isForced) return Promise.resolve(stepDone);
    const on = `its instance is ended in the termination of NodeClaim ${endedWith.name}`;
    return Promise.resolve(waitFor(on, safetyLook(context)));
  },
};

/**
 * Puts the calls of a termination into the records of the other NodeClaims of its instance. One that lives on has them for its
 * own deletion: it may have come when the Node was about to go.
 *
 * @param value the record of the termination
 * @param of the instance, and the UID of the NodeClaim or Node that it was
 * @returns false: another run wrote one of those records first
 */
export async function handHooksOn(
  deps: FinalizerDeps,
  value: TerminationRecord,
  of: { readonly providerID: string; readonly uid: string | undefined },
): Promise<boolean> {
  if (Object.keys(value.hooks).length === 0) return true;
  const hookKeyUid = value.hookKeyUid ?? of.uid;
  const calls = hookCallsOf({ ...value, ...(hookKeyUid !== undefined && { hookKeyUid }) });
  for (const claim of await otherClaimsOf(deps, of)) {
    const { uid } = claim.metadata;
    const timedRecord = openTermination(deps, 'NodeClaim', uid);
    const loaded = await timedRecord.load();
    // One that came a moment ago has no finalizer yet.
    if (loaded.kind === 'newer' || (loaded.kind === 'none' && !isManaged(claim) && !isLive(claim))) continue;
    const first = isLive(claim) ? ownedHookCalls(calls, uid) : calls;
    const next = loaded.kind === 'known' ? withCalls(loaded.value, calls) : first;
    if (loaded.kind === 'known' && isDeepStrictEqual(next, loaded.value)) continue;
    const wakeTime = addDuration(deps.clock.now(), HANDED_ON_CHECK);
    const saved = await timedRecord.save({ subject: subjectOf(claim), value: next, wakeTime });
    if (!saved.written) return false;
  }
  return true;
}
