/**
 * Takes back what repairs have left behind, then carries out the decision of a pass. Order of writes: pool (which nodes
 * are in flight) → limits → node (intent) → look again → act → node (outcome) → pool. A run that dies in between leaves
 * slots taken until the next pass, and never takes one too many. No act is repeated: an intent without an outcome is
 * resolved by looking (I4).
 */
import { isDeepStrictEqual } from 'node:util';
import { carryOut } from './carry-out.ts';
import { type NodeFinding, verdictOf } from './rule/finding.ts';
import { type NodeRecord, nodeSchema } from './node-record.ts';
import type { ObservedPool } from './observe.ts';
import type { PassDeps, ActResult, IntendedAct } from './context.ts';
import { type PoolRecord, poolSchema } from './pool-record.ts';
import { isRecordNeeded } from './rule/incident.ts';
import { poolSubject } from './passes.ts';
import { planResource, withPlanned } from './actions/custom-resource.ts';
import { withAcceptedAttempt, newNode } from './rule/attempt.ts';
import { PASS_SPACING } from './decide.ts';
import { type GrantedRepair, isWorthKeeping, poolAfter, type PoolDecision } from './rule/pool-decision.ts';
import { allActionsOf, isBeforeReboot } from './rule/ladder.ts';
import { giveBack } from './reservation-record.ts';
import type { OpenReservations } from './reservations.ts';
import { afterActNotAccepted, type FindingChange } from './act-not-accepted.ts';
import { countRepairs, reportMissing, reportVerdicts } from './report.ts';
import { reportAct } from './attempt-report.ts';
import { cleanUp } from './take-back.ts';
import { FOLLOW_CHECK, LAUNCH_CHECK } from './rule/verdict.ts';
import { nodeSubject } from '../../shared/domain/node.ts';
import { fewAtATime } from '../../shared/cluster/in-parallel.ts';
import { toJson } from '../../shared/domain/json.ts';
import { addDuration, type EpochMs, hours, earliest } from '../../shared/domain/time.ts';
import { contended, joinFailures } from '../../shared/errors.ts';
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
  const needsCleanUp = decision.findings.some(finding => finding.needsCleanUp || finding.news.length > 0);
  const cleaned = needsCleanUp
    ? await cleanUp(deps, observed, decision.findings)
    : { findings: decision.findings, failures: [], time: undefined };
  const results = await act(deps, { ...decision, findings: cleaned.findings }, observed, reserved);
  const changes = new Map<string, FindingChange>();
  for (const each of results) changes.set(each.granted.finding.node.uid, await afterAct(deps, observed, each));
  const findings = cleaned.findings.map((each): NodeFinding => ({ ...each, ...changes.get(each.node.uid)?.change }));
  for (const each of results) await reportAct(deps, observed, each);
  const reported = await reportVerdicts(deps, origin, findings, now);
  const wroteAll = await writeNodes(deps, observed, reported.findings, changes);
  const after = poolAfter(decision.poolRecord, results, findings, deps.clock.now());
  const missing = await reportMissing(deps, observed, after, now);
  const restTime = wroteAll ? undefined : addDuration(now, PASS_SPACING);
  const times = [decision.wakeTime, cleaned.time, reported.time, missing.time, restTime];
  const wakeTime = [...times, ...[...changes.values()].map(({ time }) => time)].reduce(earliest, undefined);
  await writePool(deps, observed, { ...after, ...missing.state }, wakeTime);
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
  const { pool } = observed;
  // If this pass dies while it acts, the next one goes on.
  const wakeTime = addDuration(deps.clock.now(), RUN_ENDS_WITHIN);
  const { ramp, counts, oldAttempts } = observed.poolRecord;
  await savePool(observed, { ...poolRecord, ramp, counts, oldAttempts }, { wakeTime, punctual: false });
  const wanted = granted.map(({ finding }) => finding.node);
  const hasSlots = (await reserved?.reserve(inFlight, wanted)) ?? true;
  const intended = new Map<GrantedRepair, IntendedAct>();
  await fewAtATime(hasSlots ? granted : [], async each => {
    const { node } = each.finding;
    const planned = findings.find(({ node: { uid } }) => uid === node.uid)?.record;
    if (planned === undefined) return;
    const act = await withIntent(deps, observed, each, planned);
    if (await saveNode(deps, observed, node, normalNode(act.record))) intended.set(each, act);
  });
  const results = await carryOut(deps, observed, intended, reserved !== undefined);
  // Another pass was faster, or the limits are full.
  const withoutIntent = granted.filter(each => !intended.has(each));
  const calledOff = withoutIntent.map((each): ActResult => {
    const recordBefore = each.finding.record ?? newNode(each.finding.node.name, pool);
    return { granted: each, record: recordBefore, made: {}, outcome: { kind: 'calledOff' } };
  });
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
      return { record: { ...record, leftovers: { ...leftovers, replacement: granted.attempt.replacement } } };
    case 'CustomResource': {
      const planned = await planResource(deps, observed, granted);
      const withIt = withPlanned(leftovers, planned);
      return { record: { ...record, ...(withIt && { leftovers: withIt }) }, planned };
    }
    case 'Reboot':
    case 'Drain':
    case 'Terminate': {
      const maintains = granted.type === 'Reboot' || isBeforeReboot(granted.attempt);
      return { record: maintains ? { ...record, leftovers: { ...leftovers, maintenance: true } } : record };
    }
  }
}

/** The change of a node's finding by its act. */
async function afterAct(deps: PassDeps, observed: ObservedPool, result: ActResult): Promise<FindingChange> {
  const { granted, record: intended, outcome, made } = result;
  const { attempt } = granted;
  const withMade: NodeRecord =
    Object.keys(made).length === 0 ? intended : { ...intended, leftovers: { ...intended.leftovers, ...made } };
  const time = addDuration(deps.clock.now(), attempt.action === 'Replace' ? LAUNCH_CHECK : FOLLOW_CHECK);
  if (outcome.kind !== 'accepted') return afterActNotAccepted(deps, observed, result, { outcome, withMade, time });
  const record = withAcceptedAttempt(withMade, outcome.attempt, allActionsOf(observed.poolSettings.repair));
  return { change: { record }, time };
}

/** The number of nodes whose records one pass writes, beside those that it acts on. */
const MAX_WRITES = 200;

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
  return (await timedNodeRecord(uid).save({ subject: nodeSubject({ name, uid }), value, wakeTime, punctual: false }))
    .written;
}

/**
 * Writes the records of nodes that have changed. The kernel would leave unchanged ones out by itself; here they must
 * not count among the writes of one pass. False: some are left for the next pass.
 */
async function writeNodes(
  deps: PassDeps,
  observed: ObservedPool,
  findings: readonly NodeFinding[],
  acted: Pick<ReadonlyMap<string, unknown>, 'has'>,
): Promise<boolean> {
  const wanted = findings.flatMap(finding => {
    const { node, record } = finding;
    const stored = observed.records.get(node.uid);
    const seen = { kind: finding.kind, isSaid: verdictOf(finding) !== undefined };
    const value = record && isRecordNeeded(record, seen) ? normalNode(record) : undefined;
    const isSame = isDeepStrictEqual(value, stored && normalNode(stored.value)) && stored?.needsRewrite !== true;
    return isSame ? [] : [{ node, value }];
  });
  const first = wanted.filter(({ node }) => acted.has(node.uid));
  const untouched = wanted.filter(({ node }) => !acted.has(node.uid));
  await fewAtATime([...first, ...untouched.slice(0, MAX_WRITES)], async ({ node, value }) => {
    if (value === undefined) await observed.timedNodeRecord(node.uid).closeNow();
    else await saveNode(deps, observed, node, value);
  });
  return untouched.length <= MAX_WRITES;
}

/** Writes the pool's record with the time of the next pass, or closes it when nothing is left to remember. */
async function writePool(
  deps: PassDeps,
  observed: ObservedPool,
  state: PoolRecord,
  wakeTime: EpochMs | undefined,
): Promise<void> {
  if (!isWorthKeeping(state) && wakeTime === undefined) {
    await observed.timedPoolRecord.closeNow();
    return;
  }
  const next = wakeTime ?? addDuration(deps.clock.now(), IDLE_POOL_CHECK);
  await savePool(observed, state, { wakeTime: next });
}

async function savePool(
  { pool, timedPoolRecord }: ObservedPool,
  state: PoolRecord,
  timer: { readonly wakeTime: EpochMs; readonly punctual?: boolean },
): Promise<void> {
  const value = poolSchema.parse(toJson(state));
  const { written } = await timedPoolRecord.save({ subject: poolSubject(pool), value, ...timer });
  if (!written) throw contended('another pass of the pool is at work');
}
