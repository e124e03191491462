/**
 * The rule of repair for a whole pool: which of its due nodes are repaired now, by rank, as far as guards, budgets,
 * limits and the ramp allow. It also says what the record of the pool keeps. What is found of each node is
 * `functions/repair/node/decide.ts`. Pure.
 *
 * | question | function | in | asked by |
 * |---|---|---|---|
 * | what becomes of the pool now, and when its next pass is | `decide` | `decide.ts` | `explained-node.ts`, `reconcile.ts` |
 * | what is found of its nodes | `judgePool` | `rule/judged-pool.ts` | `explained-node.ts`, `reconcile.ts` |
 * | what that asks to read | `nextRead`, `nodesToConfirm` | `rule/judged-pool.ts`, `rule/confirmation.ts` | `reconcile.ts` |
 * | what guards count | `guardInputsOf` | `rule/guard-inputs.ts` | `explained-node.ts`, `reconcile.ts` |
 * | whether freeze or zone may block | `mayBeOutage` | `rule/guards.ts` | `observe.ts` |
 * | since when an instance was ended | `instanceEndTimeOf` | `rule/guard-inputs.ts` | `observe.ts` |
 * | which pool a node is of | `poolOf` | `rule/pool-members.ts` | `common/settings.ts`, `explained-node.ts`, `policy-status/observe.ts`, `wake-ups.ts` |
 * | which of the listed nodes are of the pool | `nodesWithoutClaim`, `ownsNode` | `rule/pool-members.ts` | `observe.ts` |
 * | what several requests for a pass ask together | `mergeRequests` | `rule/pass-requests.ts` | `pass-queue.ts` |
 * | how many repairs zone and cluster allow | `createConcurrencyLimits` | `rule/concurrency-limits.ts` | `reservations.ts` |
 * | what the record of the pool keeps | `poolAfter` | `rule/pool-decision.ts` | `apply.ts` |
 * | how many terminated nodes are missing | `missingNodesOf` | `rule/missing-nodes.ts` | `report.ts` |
 */
import type { Incident } from './node/record.ts';
import { createAttempt, failureOf, newNode, withoutAttempt } from './node/rule/attempt.ts';
import {
  beingActedUntil,
  type DueFinding,
  dueVerdictOf,
  hasFailedLaunch,
  isDueFinding,
  type NodeFinding,
  nodesInFlight,
  type PresentNode,
  type RememberedFinding,
  withState,
} from './node/rule/finding.ts';
import { isBeforeReboot } from './node/rule/ladder.ts';
import { pauseExpires } from './node/rule/replacement.ts';
import { AT_ONCE, type Blocker, FOLLOW_CHECK, type Verdict } from './node/rule/verdict.ts';
import type { PoolRecord } from './pool-record.ts';
import { createSlots } from './rule/concurrency-limits.ts';
import { confirmationBlocker, otherWorkBlocker } from './rule/confirmation.ts';
import { futilityBlocker } from './rule/futility.ts';
import type { GuardInputs } from './rule/guard-inputs.ts';
import { blockedByRecovering, createGuards, type Guards } from './rule/guards.ts';
import { blockedNode, observedNode } from './rule/not-granted.ts';
import {
  type GrantDecision,
  type GrantedRepair,
  nextPoolState,
  type PoolDecision,
  type PoolObservation,
  terminationRetentionOf,
} from './rule/pool-decision.ts';
import {
  advanceRamp,
  countUndoneGrants,
  nextRamp,
  rampAllows,
  rampBlocker,
  rampWakeTime,
  withoutUndoneGrants,
} from './rule/ramp.ts';
import { isLaunch, scores, sortByRank } from './rule/rank.ts';
import { addDuration, earliest, type EpochMs } from '../../shared/domain/time.ts';

/** The number of nodes that one pass acts on; the others have the next pass. */
const MAX_ACTS_PER_PASS = 100;

/** Grants the repairs that due nodes need, as far as the pool allows. */
export function decide(observation: PoolObservation): PoolDecision {
  const { now, findings, poolRecord, repair, guardInputs } = observation;
  const inFlight = nodesInFlight(findings, poolRecord, now);
  if (!repair.gateOpen || guardInputs === undefined) {
    const { ramp, blockingGuards } = poolRecord;
    return complete(observation, { findings, granted: [], inFlight, ramp, blockingGuards });
  }

  const dueFindings = findings.filter(isDueFinding);
  const guards = createGuards(guardInputs);
  const blockers = new Map(dueFindings.map(each => [each, guards.blockerOf(each.node)]));
  const blockingGuards = [...new Set([...blockers.values()].flatMap(blocker => blocker?.guard ?? []))];
  const currentRamp =
    poolRecord.ramp && withoutUndoneGrants(poolRecord.ramp, countUndoneGrants(findings, poolRecord, now));
  const poolSize = guardInputs.poolNodes.length;
  const mayRamp = currentRamp !== undefined || poolRecord.blockingGuards.length > 0;
  const ramp = mayRamp
    ? nextRamp({ ramp: currentRamp, blockingGuards: poolRecord.blockingGuards }, { blockingGuards, poolSize }, now)
    : undefined;
  const outcomes = grant(dueFindings, { observation, guardInputs, guards, blockers, inFlight, ramp });
  const byUid = new Map(outcomes.map(({ finding }) => [finding.node.uid, finding]));
  const granted = outcomes.flatMap(({ granted: each }) => each ?? []);
  const next = findings.map(finding => byUid.get(finding.node.uid) ?? finding);
  const rampAfter = ramp && advanceRamp(ramp, granted.filter(({ isContinued }) => !isContinued).length, now);
  return complete(observation, { findings: next, granted, inFlight, ramp: rampAfter, blockingGuards });
}

/** Completes the decision: what the record of the pool keeps, and when the next pass is. */
function complete(observation: PoolObservation, decided: GrantDecision): PoolDecision {
  const { granted, inFlight, blockingGuards } = decided;
  const { findings, poolRecord } = nextPoolState(observation, decided);
  const isAnythingDue = observation.findings.some(each => dueVerdictOf(each) !== undefined);
  return {
    findings,
    granted,
    inFlight,
    poolRecord,
    wakeTime: nextPassTime(observation, findings, poolRecord),
    isOutage: isAnythingDue && blockingGuards.some(guard => guard !== 'threshold'),
  };
}

/** The time of the next pass, if no event asks for one before: at the end of a toleration it is the due time of that node. */
function nextPassTime(
  { now, repair, poolRecord: recordBefore }: PoolObservation,
  findings: readonly NodeFinding[],
  { inFlight, terminations, ramp, launchPause }: PoolRecord,
): EpochMs | undefined {
  const [oldest] = terminations;
  const window = terminationRetentionOf(repair);
  const times = [
    ...findings.map(each => each.nextLookTime),
    ...findings.flatMap(each => (each.state === 'inFlight' ? [] : (beingActedUntil(each, recordBefore, now) ?? []))),
    Object.keys(inFlight).length > 0 ? addDuration(now, FOLLOW_CHECK) : undefined,
    oldest && window && addDuration(oldest.time, window),
    ramp && rampWakeTime(ramp, now),
    launchPause && pauseExpires(launchPause),
  ];
  return times.reduce(earliest, undefined);
}

interface Granting {
  readonly observation: PoolObservation;
  readonly guardInputs: GuardInputs;
  readonly guards: Guards;
  readonly blockers: ReadonlyMap<DueFinding, Blocker | undefined>;
  readonly inFlight: ReadonlySet<string>;
  readonly ramp: PoolRecord['ramp'];
}

interface Grant {
  readonly finding: PresentNode;
  readonly granted?: GrantedRepair;
}

/** Decides on each due node, in their rank. */
function grant(dueFindings: readonly DueFinding[], granting: Granting): readonly Grant[] {
  const { blockers, guards, inFlight, ramp } = granting;
  const { now, pool, repair } = granting.observation;
  const isObserving = repair.mode === 'Observe';
  const slots = createSlots(granting.guardInputs, inFlight, granting.observation.concurrencyLimits?.(inFlight));
  const score = scores(dueFindings, now);
  const areLaunchesOver = granting.observation.findings.some(hasFailedLaunch);
  let granted = 0;
  let ramped = 0;
  return sortByRank(dueFindings, now).map((due, index): Grant => {
    const rank = { order: index + 1, of: dueFindings.length, score: Math.round(score(due) * 100) / 100 };
    const guarded = blockers.get(due);
    if (guarded !== undefined) return { finding: blockedNode(due, guarded, rank) };
    const recovering = blockedByRecovering(due, guards, now);
    const finding = inIncident(due, recovering.incident, pool);
    const blocker = recovering.blocker ?? blockerOf(finding, granting) ?? slots.blockerOf(finding);
    if (blocker !== undefined) return { finding: blockedNode(finding, blocker, rank) };
    const isContinued = continuesReboot(finding);
    if (!isObserving && !isContinued && ramp !== undefined && ramped >= rampAllows(ramp))
      return { finding: blockedNode(finding, rampBlocker(ramp, now), rank) };
    // A launch that has just failed stops those of the whole pool, which the next pass judges.
    const isPaused = areLaunchesOver && isLaunch(finding);
    if (!isObserving && (isPaused || granted >= MAX_ACTS_PER_PASS))
      return { finding: { ...finding, nextLookTime: addDuration(now, AT_ONCE) } };
    slots.take(finding);
    if (isObserving) return { finding: observedNode(finding, now) };
    granted += 1;
    if (!isContinued) ramped += 1;
    return grantedNode(finding, { rank, isContinued }, now);
  });
}

/** Whether the repair goes on with the reboot for which the node was drained. */
const continuesReboot = ({ record, verdict: { action } }: DueFinding): boolean =>
  action.type === 'Reboot' && record?.attempt !== undefined && isBeforeReboot(record.attempt);

function inIncident(finding: DueFinding, incident: Incident, pool: string | undefined): RememberedFinding {
  return { ...finding, record: { ...(finding.record ?? newNode(finding.node.name, pool)), incident } };
}

/** The blocker of a due node that the guards let through, before slots are counted; undefined: none. */
function blockerOf({ node, verdict }: DueFinding, { observation, guardInputs }: Granting): Blocker | undefined {
  const { now, poolRecord, answers } = observation;
  const { action, dueCondition } = verdict;
  const isReplacing = action.type === 'Terminate' || action.type === 'Replace';
  const mayBeFutile = isReplacing && guardInputs.settings.futility !== undefined;
  const futile = mayBeFutile
    ? futilityBlocker(guardInputs, failureOf(dueCondition), node, poolRecord.terminations)
    : undefined;
  return (
    otherWorkBlocker(guardInputs.requestsFault, now) ??
    futile ??
    confirmationBlocker(verdict, answers?.get(node.uid), now)
  );
}

/** Begins the attempt. The record keeps what the previous action made or requested, so that it can be taken back. */
function grantedNode(
  finding: RememberedFinding,
  { rank, isContinued }: Pick<GrantedRepair, 'rank' | 'isContinued'>,
  now: EpochMs,
): Grant {
  const { node, record } = finding;
  const { message } = finding.verdict;
  const created = createAttempt(finding, now);
  const { attempt } = created;
  const recordBefore = record.attempt === undefined ? record : withoutAttempt(record, record.attempt);
  const launched = isLaunch(finding) ? (record.launched ?? 0) + 1 : record.launched;
  const next = { ...recordBefore, ...(launched !== undefined && { launched }), attempt, number: attempt.number };
  const verdict: Verdict = { kind: 'repair', node, attempt, message };
  return {
    finding: withState({ ...finding, record: next, verdict }),
    granted: { ...created, finding, record: next, rank, isContinued },
  };
}
