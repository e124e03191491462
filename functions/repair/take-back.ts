/**
 * What is left of repairs that are over, or of attempts that were not carried out, is taken back (I7). Where the API
 * server refuses that, as admission policies can, it is said on the Node and tried again ever less often: no other
 * repair of the pool waits for it (I8).
 */
import type { DecisionOrigin, PassDeps } from './context.ts';
import { deleteRemediations, NOT_SERVED } from './custom-resource.ts';
import { cancelDrain } from './drain.ts';
import { afterTakeBack, type Left, leftOf, wantedBack, withoutTakenBack } from './rule/left.ts';
import { reportEnd, reportLeft, reportLost, reportRefusal } from './attempt-report.ts';
import type { ObservedPool } from './observe.ts';
import { endMaintenance } from './reboot.ts';
import type { NodeRecord } from './record.ts';
import { endReplacement } from './replace.ts';
import { reportCarriedOut } from './report.ts';
import { takeBackAnnotation } from './terminate.ts';
import type { NodeFinding, NodeName, Unreported } from './rule/verdict.ts';
import { loadPodsOnNode } from '../../shared/cluster/protected-pods.ts';
import { earliest, type EpochMs } from '../../shared/domain/time.ts';
import { createTries, isRefusal } from '../../shared/lifecycle/refusals.ts';

/** Of the refusals of a node: that what is left of its repair cannot be taken back. */
const TAKE_BACK = 'take back';

/** Answers the record with what could not be taken back, and when that is tried again. */
export async function takeBack(
  deps: PassDeps,
  origin: DecisionOrigin,
  left: Left & { readonly node: NodeName },
): Promise<{ readonly record: NodeRecord; readonly time: EpochMs | undefined }> {
  const { node, record, claims } = left;
  const wanted = wantedBack(left, deps.clock.now());
  if (wanted === undefined) return { record, time: undefined };
  const tries = createTries(deps.clock);
  const change = { key: TAKE_BACK, stored: record.refusals, restsOn: [JSON.stringify(wanted)] };
  const waits = tries.waiting(change);
  if (waits !== undefined) return { record, time: waits.until };
  const report = (text: string, isRepeated: boolean) => reportLeft(deps, origin, node, { text, isRepeated });
  const outcome = await tries.make({ ...change, report }, async () => {
    const { annotation, drain, maintenance, replacement } = wanted;
    const live = annotation && claims.get(annotation.claim.uid);
    if (annotation !== undefined) await takeBackAnnotation(deps, annotation, live);
    if (drain !== undefined) await cancelDrain(deps, { nodeName: node.name, requestId: drain });
    if (maintenance === true) await endMaintenance(deps, node, record.acts);
    await deleteRemediations(deps, node, wanted);
    const end = replacement && (await endReplacement(deps, replacement, node.uid));
    if (replacement !== undefined && end !== undefined) await reportEnd(deps, origin, node, { ...replacement, end });
  });
  const refusals = tries.after(record.refusals);
  const { refusals: _, ...rest } = record;
  const remembered = { ...rest, ...(refusals && { refusals }) };
  if (isRefusal(outcome)) {
    const { goesBack } = outcome;
    // The queue tries again within seconds, which is of no use where a kind is not served.
    if (goesBack !== undefined && goesBack.reason !== NOT_SERVED) throw goesBack;
    return { record: remembered, time: outcome.until };
  }
  return { record: withoutTakenBack(remembered, wanted), time: undefined };
}

/** Takes back what is not wanted any more, and says what runs that died left unreported. */
export async function cleanUp(deps: PassDeps, observed: ObservedPool, findings: readonly NodeFinding[]) {
  const failures: unknown[] = [];
  const next: NodeFinding[] = [];
  let time: EpochMs | undefined;
  for (const each of findings) {
    const { node } = each;
    for (const unreported of each.unreported) await reportLate(deps, observed, node, unreported);
    const record = leftOf(each, observed.records.get(node.uid)?.value);
    if (record === undefined) {
      next.push(each);
      continue;
    }
    try {
      const isGone = each.kind === 'gone';
      const left = await takeBack(deps, observed.origin, { node, record, claims: observed.claims, isGone });
      time = earliest(time, left.time);
      next.push(afterTakeBack(each, left.record, left.record.refusals?.[TAKE_BACK] !== undefined));
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
      return reportLost(deps, observed.origin, node, attempt);
    case 'carriedOut': {
      const message = `attempt ${attempt.number}, whose run ended before it could say so, counts as carried out`;
      return reportCarriedOut(deps, observed, { node, attempt, pods: await loadPodsOnNode(deps, node.name), message });
    }
    case 'failedLaunch':
      return reportRefusal(deps, observed.origin, {
        node,
        attempt,
        reason: 'ReplacementUnavailable',
        text: unreported.why,
      });
  }
}
