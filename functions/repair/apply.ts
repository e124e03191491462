/**
 * Takes back what repairs have left behind, then carries out the decision of a pass. Order of writes: pool (which nodes
 * are in flight) → limits → node (intent) → look again → act → node (outcome) → pool. A run that dies in between leaves
 * slots taken until the next pass, and never takes one too many. No act is repeated: an intent without an outcome is
 * resolved by looking (I4). Every call carries the UID, so it never reaches another object of that name (I10). A
 * termination needs no read of its NodeClaim: its first write has the listed version as a precondition (ADR 0023).
 */
import type { ActionContext, ActionOutcome, MadeObjects } from './action.ts';
import { createRemediation, endRemediations, intendedResource } from './custom-resource.ts';
import { requestDrain } from './drain.ts';
import { drainBeforeReboot, reboot } from './reboot.ts';
import { launchReplacement } from './replace.ts';
import { terminate } from './terminate.ts';
import { withAcceptedAttempt, newNode } from './rule/attempt.ts';
import { PASS_SPACING, type StillWanted, stillWanted } from './decide.ts';
import { judgeHealth } from './rule/health.ts';
import type { ActResult, ActOutcome, PassDeps } from './context.ts';
import { type GrantedRepair, poolAfter, type PoolDecision } from './rule/pool-decision.ts';
import { allActionsOf, isBeforeReboot } from './rule/ladder.ts';
import type { NodeFinding } from './rule/finding.ts';
import { giveBack, type OpenReservations } from './reservations.ts';
import type { ObservedPool } from './observe.ts';
import type { NodeRecord } from './node-record.ts';
import { afterActNotAccepted, type FindingChange } from './act-not-accepted.ts';
import { countRepairs, reportMissing, reportVerdicts } from './report.ts';
import { reportAct, reportUntold } from './attempt-report.ts';
import { loadPoolSettings, type PoolSettings } from './pool-settings.ts';
import { cleanUp } from './take-back.ts';
import { FOLLOW_CHECK, LAUNCH_CHECK } from './rule/verdict.ts';
import { poolSubject } from './passes.ts';
import { normalNode, normalPool, wroteFirst, saveNode, writeNodes, writePool } from './save.ts';
import { fewAtATime, inParallel } from '../../shared/cluster/in-parallel.ts';
import { getNodeClaimView, getNodeView } from '../../shared/cluster/lists.ts';
import { loadPodsOnNode } from '../../shared/cluster/protected-pods.ts';
import type { NodeClaimView } from '../../shared/domain/node-claim.ts';
import { indexOwners, ownerOf } from '../../shared/domain/node-owner.ts';
import type { NodeView } from '../../shared/domain/node.ts';
import type { PodView } from '../../shared/domain/pod.ts';
import type { RefusalCause } from '../../shared/domain/refusal.ts';
import { RUN_ENDS_WITHIN } from '../../shared/domain/run-end.ts';
import { addDuration, earliest, type EpochMs } from '../../shared/domain/time.ts';
import { joinFailures, messageOf, RetryableError, TerminalError } from '../../shared/errors.ts';
import { causeOf } from '../../shared/lifecycle/refusals.ts';

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
  const { pool, timedPoolRecord, poolRecord: poolBefore } = observed;
  // If this pass dies while it acts, the next one goes on.
  const wakeTime = addDuration(deps.clock.now(), RUN_ENDS_WITHIN);
  const value = normalPool({
    ...poolRecord,
    ramp: poolBefore.ramp,
    counts: poolBefore.counts,
    oldAttempts: poolBefore.oldAttempts,
  });
  const saved = await timedPoolRecord.save({ subject: poolSubject(pool), value, wakeTime, punctual: false });
  if (!saved.written) throw wroteFirst();
  const wanted = granted.map(({ finding }) => finding.node);
  const hasSlots = (await reserved?.reserve(inFlight, wanted)) ?? true;
  const intended = new Map<GrantedRepair, NodeRecord>();
  await fewAtATime(hasSlots ? granted : [], async each => {
    const { node } = each.finding;
    const planned = findings.find(({ node: { uid } }) => uid === node.uid)?.record;
    if (planned === undefined) return;
    const recordWithIntent = await withIntent(deps, observed, each, planned);
    if (await saveNode(deps, observed, node, normalNode(recordWithIntent))) intended.set(each, recordWithIntent);
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
): Promise<NodeRecord> {
  switch (granted.type) {
    case 'Replace':
      return { ...record, leftovers: { ...record.leftovers, replacement: granted.attempt.replacement } };
    case 'CustomResource': {
      const leftovers = await intendedResource(deps, observed, granted, record);
      return { ...record, ...(leftovers && { leftovers }) };
    }
    case 'Reboot':
    case 'Drain':
    case 'Terminate': {
      const maintains = granted.type === 'Reboot' || isBeforeReboot(granted.attempt);
      return maintains ? { ...record, leftovers: { ...record.leftovers, maintenance: true } } : record;
    }
  }
}

/**
 * Carries out the acts whose intent was recorded.
 * @param intended each with the record that has its intent
 * @param isCounted their slots are reserved in the limits of zone and cluster
 */
async function carryOut(
  deps: PassDeps,
  observed: ObservedPool,
  intended: ReadonlyMap<GrantedRepair, NodeRecord>,
  isCounted: boolean,
): Promise<readonly ActResult[]> {
  if (intended.size === 0) return [];
  // One read for all acts of this pass; each act awaits it.
  const poolSettings = loadPoolSettings(deps, observed.pool, observed.poolSettings);
  const launches = [...intended.keys()].filter(({ attempt }) => attempt.action === 'Replace');
  const results: ActResult[] = [];
  await fewAtATime([...intended], async ([granted, record]) => {
    let made: MadeObjects = {};
    const recordMade: ActionContext['recordMade'] = change => {
      made = change;
    };
    const launchRoom = { claims: observed.claims, earlierLaunches: Math.max(0, launches.indexOf(granted)) };
    const { attempt } = granted;
    const listedClaim =
      attempt.action === 'Terminate' && attempt.claim ? observed.claims.get(attempt.claim.uid) : undefined;
    const grantedAct = { granted, record, poolSettings, isCounted, recordMade, launchRoom };
    try {
      const byListedClaim = listedClaim && (await actOn(deps, observed, grantedAct, listedClaim));
      const outcome = byListedClaim ?? (await actOn(deps, observed, grantedAct)) ?? { kind: 'calledOff' };
      results.push({ granted, record, made, outcome });
    } catch (error) {
      results.push({ granted, record, made, outcome: { kind: 'unknown', error } });
    }
  });
  return results;
}

interface GrantedAct extends Pick<ActionContext, 'recordMade' | 'launchRoom'> {
  readonly granted: GrantedRepair;
  readonly record: NodeRecord;
  readonly poolSettings: Promise<PoolSettings>;
  readonly isCounted: boolean;
}

/** Node, NodeClaim, pods and settings as they are once the intent of an act is recorded. */
interface SecondLook {
  readonly now: EpochMs;
  readonly poolSettings: PoolSettings;
  readonly node: NodeView;
  readonly claim: NodeClaimView | undefined;
  /** The NodeClaim is the one that the pass has listed, not read again. */
  readonly isClaimListed: boolean;
  readonly pods: readonly PodView[];
}

/**
 * Looks at Node and NodeClaim once more, under the settings as they are by then, and acts.
 *
 * @param listedClaim the NodeClaim as the pass has listed it; without it the NodeClaim is read
 * @returns undefined if the listed NodeClaim does not suffice to decide: the caller calls again without it
 */
async function actOn(
  deps: PassDeps,
  observed: ObservedPool,
  act: GrantedAct,
  listedClaim?: NodeClaimView,
): Promise<ActOutcome | undefined> {
  const { granted, record, recordMade, launchRoom } = act;
  const { attempt, action, finding } = granted;
  const seen = await lookAgain(deps, act, listedClaim).catch(refusedBeforeAct);
  if ('kind' in seen) return seen;
  const wanted = judgeAgain(deps, observed, act, seen);
  if (wanted === 'readClaim') return undefined;
  if (wanted !== 'act') return { kind: wanted };
  const { leftovers, acts } = record;
  const ended = leftovers?.resources && (await endRemediations(deps, leftovers).catch(refusedBeforeAct));
  if (ended !== undefined && 'cause' in ended) return ended;
  const { now, node, claim, pods } = seen;
  const ofPool = { pool: observed.pool, nodePool: seen.poolSettings.nodePool };
  const { message } = finding.verdict;
  const outcome = await orRefusal(() =>
    perform(granted, { deps, now, leftovers, acts, node, claim, ...ofPool, launchRoom, pods, message, recordMade }),
  );
  switch (outcome.kind) {
    case 'done':
      if (ended?.untold !== undefined) await reportUntold(deps, observed.origin, finding.node, ended.untold);
      return { kind: 'accepted', pods, attempt: { ...attempt, until: addDuration(deps.clock.now(), action.timeout) } };
    case 'failed':
      return { kind: 'refused', message: outcome.message, reason: outcome.reason, cause: 'request' };
    case 'refused':
      return outcome;
    case 'changed':
      return seen.isClaimListed ? undefined : CALLED_OFF;
    case 'notYet':
      return refused(outcome.on, 'passing');
  }
}

const CALLED_OFF = { kind: 'calledOff' } as const;

/** Reads again what the act is about. `calledOff`: Node or NodeClaim is not there any more. */
async function lookAgain(
  deps: PassDeps,
  { granted: { attempt, finding }, poolSettings: loading }: GrantedAct,
  listedClaim: NodeClaimView | undefined,
): Promise<SecondLook | typeof CALLED_OFF> {
  const { name, uid } = finding.node;
  const [poolSettings, node, claim, pods] = await inParallel([
    loading,
    getNodeView(deps, name),
    listedClaim ?? (attempt.claim && getNodeClaimView(deps, attempt.claim.name)),
    attempt.action === 'Drain' ? [] : loadPodsOnNode(deps, name),
  ]);
  if (node?.uid !== uid || claim?.uid !== attempt.claim?.uid) return CALLED_OFF;
  return { now: deps.clock.now(), poolSettings, node, claim, isClaimListed: listedClaim !== undefined, pods };
}

/** Judges the node again, and says whether the act is still wanted. */
function judgeAgain(
  { decideNode }: PassDeps,
  { dueFacts }: ObservedPool,
  { granted: { attempt, finding }, record, isCounted }: GrantedAct,
  { now, node, claim, isClaimListed, poolSettings: { repair } }: SecondLook,
): StillWanted {
  const otherRequest = dueFacts?.otherRequests.get(node.name);
  const owner = ownerOf(node, indexOwners([node], claim === undefined ? [] : [claim]));
  const health = judgeHealth(node, { now, repair, record, episodes: record.episodes });
  const own = decideNode({ now, node, owner, repair, health, otherRequest });
  const { confirm } = finding.verdict.entryPolicy;
  return stillWanted({ key: attempt.key, confirm }, own, { repair, isClaimListed, isCounted });
}

const refused = (message: string, cause: RefusalCause): Extract<ActOutcome, { kind: 'refused' }> => ({
  kind: 'refused',
  message,
  reason: 'ActionRefused',
  cause,
});

/**
 * The outcome if a call before the act failed: nothing was carried out. Otherwise a reboot, which is never repeated,
 * would count as done.
 */
function refusedBeforeAct(error: unknown): Extract<ActOutcome, { kind: 'refused' }> {
  if (!(error instanceof RetryableError || error instanceof TerminalError)) throw error;
  return refused(messageOf(error), causeOf(error) ?? 'passing');
}

/** Returns a refusal of the API server or EC2 that surely had no effect as an outcome. Any other error is thrown. */
async function orRefusal(
  act: () => Promise<ActionOutcome>,
): Promise<ActionOutcome | Extract<ActOutcome, { kind: 'refused' }>> {
  try {
    return await act();
  } catch (error) {
    const cause = causeOf(error);
    if (cause === undefined || cause === 'passing') throw error;
    return refused(messageOf(error), cause);
  }
}

/** Carries a granted repair out, by the action that it is. */
function perform(granted: GrantedRepair, context: Omit<ActionContext, 'attempt'>): Promise<ActionOutcome> {
  switch (granted.type) {
    case 'Terminate':
      return terminate({ ...context, attempt: granted.attempt });
    case 'Reboot':
      return reboot({ ...context, attempt: granted.attempt });
    case 'Drain':
      return (isBeforeReboot(granted.attempt) ? drainBeforeReboot : requestDrain)({
        ...context,
        attempt: granted.attempt,
      });
    case 'Replace':
      return launchReplacement({ ...context, attempt: granted.attempt });
    case 'CustomResource':
      return createRemediation({ ...context, attempt: granted.attempt }, granted.action.template);
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
