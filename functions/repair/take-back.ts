/**
 * What is left of repairs that are over, or of attempts that were not carried out, is taken back (I7). Where the API
 * server refuses that, as admission policies can, it is said on the Node and tried again ever less often: no other
 * repair of the pool waits for it (I8).
 */
import { replacementOf, withoutAttempt } from './rule/attempt.ts';
import type { DecisionScope, PassDeps } from './context.ts';
import { deleteRemediations, madeBy } from './custom-resource.ts';
import { cancelDrain } from './drain.ts';
import { isRebootUnderWay } from './rule/ladder.ts';
import { reportEnd, reportLeft, reportLost, reportRefusal } from './attempt-report.ts';
import type { ObservedPool } from './observe.ts';
import { endMaintenance } from './reboot.ts';
import type { NodeRecord, Ours } from './record.ts';
import { endReplacement } from './replace.ts';
import { unmarkTime } from './rule/replacement.ts';
import { reportCarriedOut } from './report.ts';
import { takeBackAnnotation } from './terminate.ts';
import type { NodeFinding, NodeName, Unreported } from './rule/verdict.ts';
import { loadPodsOnNode } from '../../shared/cluster/protected-pods.ts';
import type { NodeClaimView } from '../../shared/domain/node-claim.ts';
import { earliest, type EpochMs, isDue } from '../../shared/domain/time.ts';
import { createTries, isRefusal } from '../../shared/lifecycle/refusals.ts';

/** Of the refusals of a node: that what is left of its repair cannot be taken back. */
const TAKE_BACK = 'take back';

interface Left {
  readonly node: NodeName;
  readonly record: NodeRecord;
  readonly claims: ReadonlyMap<string, NodeClaimView>;
  /** The Node is. */
  readonly isGone?: boolean;
}

/** Answers the record with what could not be taken back, and when that is tried again. */
export async function takeBack(
  deps: PassDeps,
  scope: DecisionScope,
  left: Left,
): Promise<{ readonly record: NodeRecord; readonly time: EpochMs | undefined }> {
  const { node, record, claims } = left;
  const { ours } = record;
  const now = deps.clock.now();
  const wanted = ours && wantedBack(left, now);
  if (ours === undefined || wanted === undefined) return { record, time: undefined };
  const tries = createTries(deps.clock);
  const change = { key: TAKE_BACK, stored: record.refusals, restsOn: [JSON.stringify(wanted)] };
  const waits = tries.waiting(change);
  if (waits !== undefined) return { record, time: waits.until };
  // By UID from now on: another object may have the name when it is tried again (I10).
  const resources = await madeBy(deps, node, wanted);
  const report = (text: string, isRepeated: boolean) => reportLeft(deps, scope, node, { text, isRepeated });
  const outcome = await tries.make({ ...change, report }, async () => {
    const { annotation, drain, maintenance, replacement } = wanted;
    const live = annotation && claims.get(annotation.claim.uid);
    if (annotation !== undefined) await takeBackAnnotation(deps, annotation, live);
    if (drain !== undefined) await cancelDrain(deps, { nodeName: node.name, requestId: drain });
    if (maintenance === true) await endMaintenance(deps, node, record.acts);
    await deleteRemediations(deps, resources);
    const end = replacement && (await endReplacement(deps, replacement, node.uid));
    if (replacement !== undefined && end !== undefined) await reportEnd(deps, scope, node, { ...replacement, end });
  });
  const refusals = tries.after(record.refusals);
  const { refusals: _, ours: __, ...rest } = record;
  const remembered = { ...rest, ...(refusals && { refusals }) };
  if (isRefusal(outcome)) {
    if (outcome.goesBack !== undefined) throw outcome.goesBack;
    return { record: { ...remembered, ours }, time: outcome.until };
  }
  const kept = Object.entries(ours).filter(([key]) => !(key in wanted));
  return { record: { ...remembered, ...(kept.length > 0 && { ours: Object.fromEntries(kept) }) }, time: undefined };
}

/** Of what the repair has made: what nothing needs any more. */
function wantedBack(
  { record: { ours = {}, attempt, incident }, claims, isGone = false }: Left,
  now: EpochMs,
): Ours | undefined {
  const { annotation, asked, drain, maintenance, resources, mayHaveMade, replacement } = ours;
  const unmarks = replacement && unmarkTime(replacement);
  const isUnused = unmarks === undefined && replacementOf(attempt) === undefined;
  const isDone = isGone || isUnused || (unmarks !== undefined && isDue(now, unmarks));
  const isOver = attempt === undefined;
  // Who was asked for help before a termination is not needed once the node is well; its drain is.
  const isHelped = attempt?.action === 'Terminate' && incident?.healthySince !== undefined;
  const isClaimGone = isHelped && attempt.claim !== undefined && !claims.has(attempt.claim.uid);
  const wanted: Ours = {
    ...(annotation && { annotation }),
    ...(asked && isOver && { asked }),
    ...(replacement && isDone && { replacement }),
    ...(drain !== undefined && (isOver || isClaimGone) && { drain }),
    ...(maintenance === true && !isRebootUnderWay(attempt, now) && { maintenance }),
    ...(resources && (isOver || isHelped) && { resources }),
    ...(mayHaveMade && (isOver || isHelped) && { mayHaveMade }),
  };
  return Object.keys(wanted).length === 0 ? undefined : wanted;
}

/** Takes back what is not wanted any more, and says what runs that died left unreported. */
export async function cleanUp(deps: PassDeps, observed: ObservedPool, findings: readonly NodeFinding[]) {
  const failures: unknown[] = [];
  const next: NodeFinding[] = [];
  let time: EpochMs | undefined;
  for (const each of findings) {
    const { node } = each;
    for (const unreported of each.unreported) await reportLate(deps, observed, node, unreported);
    const stored = observed.records.get(node.uid)?.value;
    // Of a node that is gone: what its last attempt has set is to be taken back, too.
    const last = stored?.attempt === undefined ? stored : withoutAttempt(stored, stored.attempt);
    const record = each.record ?? (each.takesBack ? last : undefined);
    if (!each.takesBack || record === undefined) {
      next.push(each);
      continue;
    }
    try {
      const isGone = each.kind === 'gone';
      const left = await takeBack(deps, observed.scope, { node, record, claims: observed.claims, isGone });
      time = earliest(time, left.time);
      const isOwed = left.record.refusals?.[TAKE_BACK] !== undefined;
      const kept = each.record !== undefined || isOwed ? left.record : undefined;
      const isOver = kept?.attempt === undefined && each.verdict?.kind !== 'stuck';
      const isFollowed = isOwed || (each.state === 'followed' && !isOver);
      const state = each.state === 'inFlight' ? each.state : isFollowed ? 'followed' : 'idle';
      next.push({ ...each, record: kept, state });
    } catch (error) {
      failures.push(error);
      next.push({ ...each, record });
    }
  }
  return { findings: next, failures, time };
}

async function reportLate(
  deps: PassDeps,
  observed: ObservedPool,
  node: NodeName,
  unreported: Unreported,
): Promise<void> {
  const { attempt } = unreported;
  switch (unreported.kind) {
    case 'lost':
      return reportLost(deps, observed.scope, node, attempt);
    case 'carriedOut': {
      const message = `attempt ${attempt.number}, whose run ended before it could say so, counts as carried out`;
      return reportCarriedOut(deps, observed, { node, attempt, pods: await loadPodsOnNode(deps, node.name), message });
    }
    case 'failedLaunch':
      return reportRefusal(deps, observed.scope, {
        node,
        attempt,
        reason: 'ReplacementUnavailable',
        text: unreported.why,
      });
  }
}
