/**
 * Takes back what repairs have left behind, then carries out the decision of a pass. Order of writes: pool (which nodes
 * are in flight) → limits → node (intent) → look again → act → node (outcome) → pool. A run that dies in between leaves
 * slots taken until the next pass, and never takes one too many. No act is repeated: an intent without an outcome is
 * resolved by looking (I4).
 */
import { isDeepStrictEqual } from 'node:util';
import { carryOut } from './carry-out.ts';
import { recordsToWrite } from './node/record-changes/records-to-write.ts';
import { type NodeFinding, withState } from './node/rule/finding.ts';
import { type NodeRecord, nodeSchema } from './node/record.ts';
import type { ObservedPool } from './observe.ts';
import type { ActResult, IntendedAct, PassDeps } from './context.ts';
import { type PoolRecord, poolSchema } from './pool-record.ts';
import { PASS_SPACING, poolSubject } from './pass-queue.ts';
import { planResource, withPlanned } from './actions/custom-resource.ts';
import { afterAct } from './node/record-changes/after-act.ts';
import { type GrantedRepair, isWorthKeeping, poolAfter, type PoolDecision } from './rule/pool-decision.ts';
import { allActionsOf, isBeforeReboot } from './node/rule/ladder.ts';
import { giveBack } from './reservation-record.ts';
import type { OpenReservations } from './reservations.ts';
import { type ActChange, afterActNotAccepted } from './act-not-accepted.ts';
import { countRepairs, reportMissing, reportVerdicts } from './report.ts';
import { reportAct } from './attempt-report.ts';
import { cleanUp } from './take-back.ts';
import { nodeSubject } from '../../shared/domain/node.ts';
import { fewAtATime } from '../../shared/cluster/in-parallel.ts';
import { toJson } from '../../shared/domain/json.ts';
import { addDuration, earliest, type EpochMs, hours } from '../../shared/domain/time.ts';
import { contendedError, joinFailures } from '../../shared/errors.ts';
import { RUN_ENDS_WITHIN } from '../../shared/domain/run-end.ts';

/**
 * Takes back leftovers, acts, reports, and writes the records of a pass.
 * @param reserved undefined: no limit of zone or cluster is in force
 */
export async function apply(
  deps: PassDeps,
  decision: PoolDecision,
  observed: ObservedPool,
  { now, reserved }: { readonly now: EpochMs; readonly reserved: OpenReservations | undefined },
): Promise<void> {
  const { pool, poolSettings, origin } = observed;
  const needsCleanUp = decision.findings.some(finding => finding.needsCleanUp || finding.unreported.length > 0);
  const cleaned = needsCleanUp
    ? await cleanUp(deps, observed, decision.findings)
    : { findings: decision.findings, failures: [], nextLookTime: undefined };
  const results = await act(deps, { ...decision, findings: cleaned.findings }, observed, reserved);
  const changes = new Map<string, ActChange>();
  for (const each of results) changes.set(each.granted.finding.node.uid, await changeByAct(deps, observed, each));
  const findings = cleaned.findings.map((each): NodeFinding => {
    const changed = changes.get(each.node.uid);
    return changed === undefined ? each : withState({ ...each, ...changed.change });
  });
  for (const each of results) await reportAct(deps, observed, each);
  const reported = await reportVerdicts(deps, origin, findings, now);
  const wroteAll = await writeNodes(deps, observed, reported.findings, changes);
  const after = poolAfter(decision.poolRecord, results, findings, deps.clock.now());
  const missing = await reportMissing(deps, observed, after, now);
  const restTime = wroteAll ? undefined : addDuration(now, PASS_SPACING);
  const times = [decision.wakeTime, cleaned.nextLookTime, reported.nextLookTime, missing.nextLookTime, restTime];
  const wakeTime = [...times, ...[...changes.values()].map(each => each.nextLookTime)].reduce(earliest, undefined);
  await writePool(deps, observed, { ...after, ...missing.change }, wakeTime);
  if (reserved !== undefined) await reserved.release(new Set(Object.keys(after.inFlight)));
  else if (poolSettings.repair.limits !== undefined) await giveBack(deps, pool, after);
  await countRepairs(deps, observed, after, findings);
  const ofActs = results.flatMap(({ outcome }) => (outcome.kind === 'unknown' ? [outcome.error] : []));
  const ofChanges = [...changes.values()].flatMap(({ failure }) => (failure === undefined ? [] : [failure.error]));
  const failures = [...cleaned.failures, ...ofActs, ...ofChanges];
  if (failures.length > 0) throw joinFailures(failures);
}

/**
 * Reserves the granted attempts, in the pool's record, in the limits and in their nodes' records (I4), and carries them
 * out.
 */
async function act(
  deps: PassDeps,
  { granted, inFlight, findings, poolRecord }: PoolDecision,
  observed: ObservedPool,
  reserved: OpenReservations | undefined,
): Promise<readonly ActResult[]> {
  if (granted.length === 0) return [];
  // If this pass dies while it acts, the next one goes on.
  const wakeTime = addDuration(deps.clock.now(), RUN_ENDS_WITHIN);
  const { ramp, counts, oldAttempts, blockingGuards: guardsBefore } = observed.poolRecord;
  // The ramp begins with an act: until then, the guards that had blocked stay with those that block now (I12).
  const blockingGuards = [...new Set([...guardsBefore, ...poolRecord.blockingGuards])];
  await savePool(
    observed,
    { ...poolRecord, ramp, counts, oldAttempts, blockingGuards },
    { wakeTime, hasOwnMessage: false },
  );
  const wanted = granted.map(({ finding }) => finding.node);
  const hasSlots = (await reserved?.reserve(inFlight, wanted)) ?? true;
  const recordsByUid = new Map(findings.map(({ node: { uid }, record }) => [uid, record]));
  const intended: IntendedAct[] = [];
  await fewAtATime(hasSlots ? granted : [], async each => {
    const { node } = each.finding;
    const act = await withIntent(deps, observed, each, recordsByUid.get(node.uid) ?? each.record);
    if (await saveNode(deps, observed, node, normalNode(act.record))) intended.push(act);
  });
  const results = await carryOut(deps, observed, intended, reserved !== undefined);
  // Another pass was faster, or the limits are full.
  const acted = new Set<GrantedRepair>(intended.map(act => act.granted));
  const withoutIntent = granted.filter(each => !acted.has(each));
  const calledOff = withoutIntent.map((each): ActResult => ({
    granted: each,
    record: each.finding.record,
    made: {},
    outcome: { kind: 'calledOff' },
  }));
  return [...results, ...calledOff];
}

/**
 * Adds to the record what an act is going to make, before it is made: if the run dies in between, the next one can look
 * for it (I7).
 */
async function withIntent(
  deps: PassDeps,
  observed: ObservedPool,
  granted: GrantedRepair,
  record: NodeRecord,
): Promise<IntendedAct> {
  const { leftovers } = record;
  switch (granted.type) {
    case 'Replace':
      return {
        granted,
        record: { ...record, leftovers: { ...leftovers, replacement: granted.attempt.replacement } },
      };
    case 'CustomResource': {
      const planned = await planResource(deps, observed, granted);
      const withIt = withPlanned(leftovers, planned);
      return { granted, record: { ...record, ...(withIt && { leftovers: withIt }) }, planned };
    }
    case 'Reboot':
    case 'Drain':
    case 'Terminate': {
      const maintains = granted.type === 'Reboot' || isBeforeReboot(granted.attempt);
      return { granted, record: maintains ? { ...record, leftovers: { ...leftovers, maintenance: true } } : record };
    }
  }
}

/** The change of a node's finding by its act. */
async function changeByAct(deps: PassDeps, observed: ObservedPool, result: ActResult): Promise<ActChange> {
  const { outcome } = result;
  if (outcome.kind !== 'accepted') return afterActNotAccepted(deps, observed, result, outcome);
  const ladder = allActionsOf(observed.poolSettings.repair);
  return afterAct({ ...outcome, ladder }, result, deps.clock.now());
}

/** A pool that is remembered and waits for nothing is looked at again after this long. */
const IDLE_POOL_CHECK = hours(1);

/** The timer of a node's record: it is looked at again after this long, whether or not the node is unhealthy. */
const NODE_CHECK = hours(25);

/** The record without fields that are undefined, so that equal records compare as equal. */
const normalNode = (value: NodeRecord): NodeRecord => nodeSchema.parse(toJson(value));

/**
 * Writes the record of a node; only passes do. False: another pass was faster. Then the intent has no outcome, and the
 * next pass resolves it by looking (I4).
 */
async function saveNode(
  { clock }: PassDeps,
  { timedNodeRecord }: ObservedPool,
  { name, uid }: NodeFinding['node'],
  value: NodeRecord,
): Promise<boolean> {
  const wakeTime = addDuration(clock.now(), NODE_CHECK);
  return (
    await timedNodeRecord(uid).save({ subject: nodeSubject({ name, uid }), value, wakeTime, hasOwnMessage: false })
  ).written;
}

/** Writes the records of nodes that have changed. False: some are left for the next pass. */
async function writeNodes(
  deps: PassDeps,
  observed: ObservedPool,
  findings: readonly NodeFinding[],
  acted: Pick<ReadonlyMap<string, unknown>, 'has'>,
): Promise<boolean> {
  // The kernel would leave unchanged ones out by itself; here they must not count among the writes of one pass.
  const isStored = (uid: string, record: NodeRecord | undefined): boolean => {
    const stored = observed.records.get(uid);
    const isSame = isDeepStrictEqual(record && normalNode(record), stored && normalNode(stored.value));
    return isSame && stored?.needsRewrite !== true;
  };
  const { writes, areAll } = recordsToWrite(findings, { acted, isStored });
  await fewAtATime(writes, async ({ node, record }) => {
    if (record === undefined) await observed.timedNodeRecord(node.uid).closeNow();
    else await saveNode(deps, observed, node, normalNode(record));
  });
  return areAll;
}

/** Writes the pool's record with the time of the next pass, or closes it when nothing is left to remember. */
async function writePool(
  deps: PassDeps,
  observed: ObservedPool,
  poolRecord: PoolRecord,
  wakeTime: EpochMs | undefined,
): Promise<void> {
  if (!isWorthKeeping(poolRecord) && wakeTime === undefined) {
    await observed.timedPoolRecord.closeNow();
    return;
  }
  const next = wakeTime ?? addDuration(deps.clock.now(), IDLE_POOL_CHECK);
  await savePool(observed, poolRecord, { wakeTime: next });
}

async function savePool(
  { pool, timedPoolRecord }: ObservedPool,
  poolRecord: PoolRecord,
  timer: { readonly wakeTime: EpochMs; readonly hasOwnMessage?: boolean },
): Promise<void> {
  const value = poolSchema.parse(toJson(poolRecord));
  const { written } = await timedPoolRecord.save({ subject: poolSubject(pool), value, ...timer });
  if (!written) throw contendedError('another pass of the pool is at work');
}
