/**
 * Takes back what is left of repairs that are over or were not carried out (I7). If the API server refuses that, as
 * admission policies can, an Event on the Node says so. It is retried ever less often, and no other repair of the pool
 * waits for it (I8).
 */
import type { DecisionOrigin, PassDeps } from './context.ts';
import { NOT_PASSING } from './actions/action.ts';
import { deleteRemediations } from './actions/custom-resource.ts';
import { cancelDrain } from './actions/drain.ts';
import {
  afterTakeBack,
  leftoversToTakeBack,
  type RecordToCleanUp,
  recordWithLeftovers,
  withoutTakenBack,
} from './node/record-changes/leftovers.ts';
import { reportCarriedOut, reportEnd, reportLeft, reportLost, reportRefusal } from './attempt-report.ts';
import type { ObservedPool } from './observe.ts';
import { endMaintenance } from './actions/reboot.ts';
import type { NodeRecord, RepairLeftovers } from './node/record.ts';
import { endReplacement } from './actions/replace.ts';
import { takeBackAnnotation } from './actions/terminate.ts';
import type { ObjectIdentity } from './node/rule/verdict.ts';
import type { NodeFinding, UnreportedOutcome } from './node/rule/finding.ts';
import { loadPodsOnNode } from '../../shared/cluster/protected-pods.ts';
import { earliest, type EpochMs } from '../../shared/domain/time.ts';
import { createBackoff, isRefused, joinRefusals, type RefusedChange } from '../../shared/lifecycle/refusals.ts';

/** The beginning of a refusal's key: what follows cannot be taken back. */
const TAKE_BACK = 'take back';

const keyOf = (name: string): string => `${TAKE_BACK} ${name}`;

const owedKeys = ({ refusals = {} }: NodeRecord): readonly string[] =>
  Object.keys(refusals).filter(key => key.startsWith(TAKE_BACK));

/** The leftovers of a node after a try to take them back. */
export interface TakenBack {
  /** Record, with what could not be taken back. */
  readonly record: NodeRecord;
  /** Time at which that is tried again. */
  readonly retryTime: EpochMs | undefined;
  /** Failure that may pass within seconds: the queue tries again. */
  readonly failure?: { readonly error: unknown } | undefined;
}

/** Takes each leftover back by itself: a refused one does not stop the others. */
export async function takeBack(
  deps: PassDeps,
  origin: DecisionOrigin,
  leftBehind: RecordToCleanUp & { readonly node: ObjectIdentity },
): Promise<TakenBack> {
  const { node, record } = leftBehind;
  const parts = Object.entries(leftoversToTakeBack(leftBehind, deps.clock.now()) ?? {});
  const backoff = createBackoff(deps.clock);
  // An earlier version had one for all.
  for (const key of owedKeys(record)) if (!parts.some(([name]) => key === keyOf(name))) backoff.forget(key);
  const report = (text: string, isRepeated: boolean) => reportLeft(deps, origin, node, { text, isRepeated });
  const refused: RefusedChange[] = [];
  let taken: RepairLeftovers = {};
  for (const [name, value] of parts) {
    const part: RepairLeftovers = { [name]: value };
    const change = { key: keyOf(name), stored: record.refusals, restsOn: [JSON.stringify(part)], report };
    const outcome = await backoff.try(change, () => takePartBack(deps, origin, leftBehind, part));
    if (isRefused(outcome)) refused.push(outcome);
    else taken = { ...taken, ...part };
  }
  // The queue tries again within seconds, which is of no use for what lasts.
  const error = refused.find(
    ({ redeliveryError }) => redeliveryError !== undefined && redeliveryError.reason !== NOT_PASSING,
  )?.redeliveryError;
  const { refusals: refusalsBefore, ...recordAfter } = withoutTakenBack(record, taken);
  const refusals = backoff.refusalsAfter(refusalsBefore);
  const next = { ...recordAfter, ...(refusals && { refusals }) };
  return { record: next, retryTime: joinRefusals(refused).until, failure: error && { error } };
}

/** Takes one leftover back. @param part a record of leftovers that has this one alone */
async function takePartBack(
  deps: PassDeps,
  origin: DecisionOrigin,
  { node, record, claims }: RecordToCleanUp & { readonly node: ObjectIdentity },
  { annotation, drain, maintenance, replacement, ...made }: RepairLeftovers,
): Promise<'done'> {
  if (annotation !== undefined) await takeBackAnnotation(deps, annotation, claims.get(annotation.claim.uid));
  if (drain !== undefined) await cancelDrain(deps, { nodeName: node.name, requestId: drain });
  if (maintenance === true) await endMaintenance(deps, node, { acts: record.acts, claims: [...claims.values()] });
  await deleteRemediations(deps, node, made);
  const end = replacement && (await endReplacement(deps, replacement, node.uid));
  if (replacement !== undefined && end !== undefined) await reportEnd(deps, origin, node, { ...replacement, end });
  return 'done';
}

/** Takes back what is no longer wanted, and reports what runs that died have not reported. */
export async function cleanUp(deps: PassDeps, observed: ObservedPool, findings: readonly NodeFinding[]) {
  const failures: unknown[] = [];
  const next: NodeFinding[] = [];
  let nextLookTime: EpochMs | undefined;
  for (const each of findings) {
    const { node } = each;
    for (const outcome of each.unreported) await reportLate(deps, observed, node, outcome);
    const record = recordWithLeftovers(each, observed.records.get(node.uid)?.value);
    if (record === undefined) {
      next.push(each);
      continue;
    }
    try {
      const isGone = each.kind === 'gone';
      const takenBack = await takeBack(deps, observed.origin, { node, record, claims: observed.claims, isGone });
      nextLookTime = earliest(nextLookTime, takenBack.retryTime);
      if (takenBack.failure === undefined)
        next.push(afterTakeBack(each, takenBack.record, owedKeys(takenBack.record).length > 0));
      else {
        failures.push(takenBack.failure.error);
        next.push({ ...each, record: takenBack.record });
      }
    } catch (error) {
      failures.push(error);
      next.push({ ...each, record });
    }
  }
  return { findings: next, failures, nextLookTime };
}

async function reportLate(
  deps: PassDeps,
  observed: ObservedPool,
  node: ObjectIdentity,
  outcome: UnreportedOutcome,
): Promise<void> {
  const { attempt } = outcome;
  switch (outcome.kind) {
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
        text: outcome.why,
      });
  }
}
