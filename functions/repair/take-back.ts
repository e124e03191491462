/**
 * What is left of repairs that are over, or of attempts that were not carried out, is taken back (I7). Where the API server refuses that, as
 * admission policies can, it is said on the Node and tried again ever less often: no other repair of the pool waits for it (I8).
 */
import type { NodeClaimView } from '../../shared/domain/node-claim.ts';
import { heldUntil } from '../../shared/domain/refusal.ts';
import { isDue, type EpochMs } from '../../shared/domain/time.ts';
import { basisOf, createTries, isRefusal } from '../../shared/lifecycle/refusals.ts';
import type { ActionDeps } from './actions/action.ts';
import { cancelDrain } from './actions/drain.ts';
import { deleteRemediations, madeBy } from './actions/made-resources.ts';
import { endMaintenance } from './actions/reboot.ts';
import { takeBackAnnotation } from './actions/terminate.ts';
import { type End, endReplacement } from './actions/replace.ts';
import { replacementOf } from './rule/attempt.ts';
import { hasTime, isBeforeReboot } from './rule/ladder.ts';
import { unmarkTime } from './rule/replacement.ts';
import type { NodeRecord, Ours } from './rule/record.ts';
import type { NodeName } from './rule/verdict.ts';

/** Of the refusals of a node: that what is left of its repair cannot be taken back. */
export const TAKE_BACK = 'take back';

interface Context {
  readonly claims: ReadonlyMap<string, NodeClaimView>;
  /** The Node is. */
  readonly isGone?: boolean;
  /** Said of what cannot be taken back. */
  readonly say: (text: string, isRepeated: boolean) => Promise<void>;
  /** Said of a replacement that is not wanted any more, or stays for good. */
  readonly sayEnded: (replacement: string, end: End) => Promise<void>;
}

/** Answers the record with what could not be taken back, and when that is tried again. */
export async function takeBack(
  deps: ActionDeps,
  node: NodeName,
  record: NodeRecord,
  { claims, say, sayEnded, isGone = false }: Context,
): Promise<{ readonly record: NodeRecord; readonly time: EpochMs | undefined }> {
  const { ours } = record;
  const now = deps.clock.now();
  const wanted = ours && wantedBack(record, { claims, now, isGone });
  if (ours === undefined || wanted === undefined) return { record, time: undefined };
  const waits = heldUntil(record.refusals?.[TAKE_BACK], { basis: basis(wanted), now });
  if (waits !== undefined) return { record, time: waits };
  // By UID from now on: another object may have the name when it is tried again (I10).
  const resources = await madeBy(deps, node.uid, wanted);
  const tries = createTries(deps.clock);
  const change = { key: TAKE_BACK, stored: record.refusals, restsOn: [JSON.stringify(wanted)], say };
  const outcome = await tries.make(change, async () => {
    const { annotation, drain, maintenance, replacement } = wanted;
    const live = annotation && claims.get(annotation.claim.uid);
    if (annotation !== undefined) await takeBackAnnotation(deps, annotation, live);
    if (drain !== undefined) await cancelDrain(deps, { nodeName: node.name, requestId: drain });
    if (maintenance === true) await endMaintenance(deps, node, record.acts);
    await deleteRemediations(deps, resources);
    const end = replacement && (await endReplacement(deps, replacement, node.uid));
    if (replacement !== undefined && end !== undefined) await sayEnded(replacement.name, end);
  });
  const refusals = tries.after(record.refusals);
  const { refusals: _, ours: __, ...rest } = record;
  const remembered = { ...rest, ...(refusals && { refusals }) };
  if (isRefusal(outcome)) {
    if (outcome.goesBack !== undefined) throw outcome.goesBack;
    return { record: { ...remembered, ours }, time: outcome.until };
  }
  const left = without(ours, wanted);
  return { record: { ...remembered, ...(left && { ours: left }) }, time: undefined };
}

const basis = (wanted: Ours): string => basisOf([JSON.stringify(wanted)]);

/** Of what the repair has made: what nothing needs any more. */
function wantedBack(
  { ours = {}, attempt, illness }: NodeRecord,
  { claims, now, isGone }: { readonly claims: Context['claims']; readonly now: EpochMs; readonly isGone: boolean },
): Ours | undefined {
  const { annotation, drain, maintenance, resources, mayHaveMade, replacement } = ours;
  const unmarks = replacement && unmarkTime(replacement);
  const isUnused = unmarks === undefined && replacementOf(attempt) === undefined;
  const isDone = isGone || isUnused || (unmarks !== undefined && isDue(now, unmarks));
  const isDrained = attempt !== undefined && isBeforeReboot(attempt) && attempt.answer?.kind !== 'stopped';
  const isRebooting =
    isDrained || (attempt?.action === 'Reboot' && (attempt.phase === 'intended' || hasTime(attempt, now)));
  const isOver = attempt === undefined;
  // Who was asked for help before a termination is not needed once the node is well; its drain is.
  const isHelped = attempt?.action === 'Terminate' && illness?.wellTime !== undefined;
  const isClaimGone = isHelped && attempt.claim !== undefined && !claims.has(attempt.claim.uid);
  const wanted: Ours = {
    ...(annotation && { annotation }),
    ...(replacement && isDone && { replacement }),
    ...(drain !== undefined && (isOver || isClaimGone) && { drain }),
    ...(maintenance === true && !isRebooting && { maintenance }),
    ...(resources && (isOver || isHelped) && { resources }),
    ...(mayHaveMade && (isOver || isHelped) && { mayHaveMade }),
  };
  return Object.keys(wanted).length === 0 ? undefined : wanted;
}

function without(ours: Ours, taken: Ours): Ours | undefined {
  const left = Object.entries(ours).filter(([key]) => !(key in taken));
  return left.length === 0 ? undefined : Object.fromEntries(left);
}
