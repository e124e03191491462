/**
 * Repair:
 * - I3 a NodeClaim is terminated only for a node that the same run looked at after it had recorded its intent, that was unhealthy
 *   and due by what the run saw, in a pool below its threshold, with the gate open, without a veto, outside an outage of its zone or
 *   of the cluster, and with no more of the pool under way than its budget allows
 * - I5 what is due and allowed happens within five minutes
 */
import { EVENT_REASONS } from '../../shared/contract/reasons.ts';
import type { KubernetesObject } from '../../shared/domain/kubernetes-object.ts';
import { toIsoText, toEpochMs } from '../../shared/domain/time.ts';
import { createInstanceEndings } from './instance-endings.ts';
import { createConditionHistory, type ConditionHistory } from './condition-history.ts';
import { mayBeDoubted } from './confirmed.ts';
import { LONGEST_DELAY, type CheckContext, type MakeCheck, type PortCall, type Run } from './invariant.ts';
import {
  annotationOf,
  dig,
  instanceOfClaim,
  instanceOfNode,
  listOf,
  millisecondsOf,
  nameOf,
  poolNameOf,
  textOf,
  REPLACES_ANNOTATION,
} from './reading.ts';
import { isPolicyReadable } from './policy-oracle.ts';
import { isUnhealthy } from './unhealthy-conditions.ts';
import { claimOf } from './node-pool.ts';
import { isGateOpen, repairAnswer, type RepairFacts } from './repair-oracle.ts';
import { factsOf, overdueSince, type Ending, type UnderWay } from './repair-overdue.ts';
import { ownershipOf } from './repair-ownership.ts';
import { createRepairPast, type RepairPast } from './repair-past.ts';
import { profileOf } from './repair-conditions.ts';
import { createClimbers, type Climbers } from './ladder.ts';
import { wasDone } from './ladder-acts.ts';
import { profileIn } from './ladder-past.ts';
import type { Mirror } from './mirror.ts';
import {
  does,
  exactVersionOf,
  isKubernetes,
  isTermination,
  lastGet,
  lastList,
  lastRecordWrite,
  targetOf,
} from './run-journal.ts';
import { followConfiguration } from './refused-configuration.ts';

/** Every other reason for a hold is judged by the objects themselves. */
const HELD_BY_THE_PAST: readonly string[] = [
  'NotConfirmed',
  'RampUp',
  'FutileRepairs',
  'Settling',
  'ActionsExhausted',
  'BeingDisrupted',
  'ConcurrencyBudget',
  'DisruptionBudget',
  'ReplacementUnavailable',
  'ZoneConcurrencyBudget',
  'ClusterConcurrencyBudget',
];
/** A hold is said at least once an hour. */
const SAID_FOR = 65 * 60_000;
/** The time of a termination whose action has none of its own: what is in flight for longer is stuck, and holds nobody else. */
const STUCK_AFTER = 60 * 60_000;
/** Its time counts from the intent where the run that began it died. */
const SETTLES = 60_000;
/** The same in the words of an Event: the run may die before its audit line. */
const SAYS_SO = /no further action is set|left alone until|is tried again at|start again slowly|fail the same way/;

const text = (ms: number): string => toIsoText(toEpochMs(ms));

export const checkRepair: MakeCheck = context => {
  const { mirror, memoryOf, violate } = context;
  /** Whether some valid configuration opened the gate: one that does not parse leaves it as it was. */
  let wasOpen = false;
  const configuration = followConfiguration(mirror);
  const unhealthy = new Map<string, KubernetesObject>();
  const everReadable = new Set<string>();
  const climbers = createClimbers(context);
  const past = createRepairPast(context);
  const history = createConditionHistory(context);
  /** Nodes whose NodeClaims this function set out to delete, or whose instances to end, and that are still there, by UID. */
  const repaired = new Map<string, Ending>();
  const endings = createInstanceEndings(context);
  /** Of all lists so far: a termination keeps the time that it began with. */
  const terminationTimes = new Set([STUCK_AFTER]);
  /** UIDs of NodeClaims that it deleted, or that were being deleted when it gave them a deadline. */
  const ended = new Set<string>();
  const repairedIn = (poolName: string | undefined, stuckAfter: number): readonly string[] =>
    [...repaired].flatMap(([uid, { pool, time }]) =>
      pool === poolName && mirror.all('nodes').has(uid) && context.now() - time < stuckAfter ? [uid] : [],
    );
  /** A run may have ended between the annotation and the deletion, and what ends an instance may be refused. */
  const isEnding = (uid: string): boolean => {
    const ending = repaired.get(uid);
    if (ending?.call !== undefined) return wasDone(ending.call);
    const claim = mirror.all('nodeclaims').get(ending?.claimUid ?? '');
    return claim === undefined || claim.metadata.deletionTimestamp !== undefined;
  };
  /** That a termination is a repair, the table alone knows. */
  const isKnown = (uid: string): boolean => memoryOf(repaired.get(uid)?.time ?? -Infinity) === 'whole';
  /** At least, and at most. */
  const surelyUnderWay = (poolName: string | undefined): ReadonlySet<string> =>
    new Set([
      ...repairedIn(poolName, Math.min(...terminationTimes) - SETTLES - context.clockTolerance).filter(
        uid => isEnding(uid) && isKnown(uid),
      ),
      ...climbers.surelyOf(poolName),
    ]);
  const underWay = (poolName: string | undefined): ReadonlySet<string> =>
    new Set([...repairedIn(poolName, Math.max(...terminationTimes)), ...climbers.of(poolName)]);
  mirror.follow((resource, uid, object) => {
    for (const time of object === undefined ? [] : terminationTimesOf(object)) terminationTimes.add(time);
    if (resource === 'nodelifecyclepolicies' && object !== undefined && isPolicyReadable(object)) everReadable.add(uid);
    const isConfiguration = resource === 'configmaps' && object?.metadata.name === 'curfew-config';
    if (isConfiguration && isGateOpen(object) === true) wasOpen = true;
    if (resource !== 'nodes') return;
    if (object !== undefined && isUnhealthy(object)) unhealthy.set(uid, object);
    else unhealthy.delete(uid);
  });
  /** Nodes of which Curfew says that it holds their repair for a reason that lies in the past; by name. */
  const held = new Map<string, { readonly time: number; readonly reason?: string | undefined }>();
  /** Since when each node could be repaired and is not. */
  const waiting = new Map<string, number>();

  /** Its time counts from the first try that was not refused. */
  const endingOf = ({ metadata }: KubernetesObject): { readonly time: number } => ({
    time: isEnding(metadata.uid) ? (repaired.get(metadata.uid)?.time ?? context.now()) : context.now(),
  });
  /** A fault may keep the Event from being recorded: that it was tried is enough, for it comes again within the hour. */
  const hear = ({ args: [, event] }: PortCall): void => {
    if (textOf(dig(event, 'reason')) !== EVENT_REASONS.nodeRepairBlocked) return;
    const name = textOf(dig(event, 'involvedObject', 'name')) ?? '';
    const isSaid = SAYS_SO.test(textOf(dig(event, 'message')) ?? '');
    if (isSaid || held.has(name)) held.set(name, { ...held.get(name), time: context.now() });
  };
  const remember = (call: PortCall): void => {
    const claim = targetOfTermination(call, mirror);
    past.noteTry(claim && poolNameOf(claim));
    const instance = instanceOfClaim(claim);
    if (claim === undefined || instance === undefined) return;
    for (const node of mirror.ownership().nodesOf(instance)) {
      repaired.set(node.metadata.uid, { ...endingOf(node), pool: poolNameOf(claim), claimUid: claim.metadata.uid });
    }
  };

  return {
    onPast: (call, run) => climbers.onCall(call, run),
    onCall(call, run) {
      if (run.by === 'repair' && isKubernetes(call, 'create') && targetOf(call).resource === 'events') hear(call);
      const isTerminating = run.by === 'repair' && isTermination(call);
      const act = run.by === 'repair' ? climbers.actOf(call) : undefined;
      const claim = isTerminating ? targetOfTermination(call, mirror) : act && claimOf(act.node, mirror);
      const instance = instanceOfClaim(claim) ?? instanceOfNode(act?.node);
      if (instance !== undefined) {
        const known = { wasOpen, everReadable, underWay: surelyUnderWay, climbers, past, history };
        const isExact = isTerminating && exactVersionOf(call) !== undefined;
        const why = complainAboutAct({ instance, claim, isExact }, run, context, known);
        const what = isTerminating ? does(call) : `begins ${act?.kind ?? ''} for`;
        const whom = claim === undefined ? `instance ${instance}` : `nodeclaims ${claim.metadata.name}`;
        if (why !== undefined) violate('I3', `repair ${what} ${whom}: ${why}`);
      }
      climbers.onCall(call, run);
      if (isTerminating) remember(call);
      else if (act?.kind === 'Terminate') {
        endings.note(act, call);
        repaired.set(act.node.metadata.uid, { ...endingOf(act.node), pool: poolNameOf(act.node), claimUid: '', call });
      }
    },
    onBusEvent: event => climbers.onBusEvent(event),
    onAudit(record) {
      configuration.onAudit(record);
      const { function: by, decision, reason, kind, name } = record;
      // What cannot be read ends no hold.
      if (kind !== 'Node' || by !== 'repair' || reason === EVENT_REASONS.readRefused) return;
      const isSaid = ['exhausted', 'refused', 'retry'].includes(decision);
      if (isSaid || (decision === 'blocked' && HELD_BY_THE_PAST.includes(reason ?? '')))
        held.set(name, { time: context.now(), reason });
      else held.delete(name);
    },
    onWrite({ verb, resource, before }, by) {
      if (by !== 'repair' || resource.resource !== 'nodeclaims' || before === undefined) return;
      const { uid, deletionTimestamp } = before.metadata;
      if (verb === 'delete' || deletionTimestamp !== undefined) ended.add(uid);
      if (verb === 'delete') past.noteRepair(before);
    },
    onMinute() {
      const quietSince = context.quietSince();
      if (quietSince === undefined) return waiting.clear();
      for (const uid of waiting.keys()) if (!unhealthy.has(uid)) waiting.delete(uid);
      if (unhealthy.size === 0) return;
      const busy = [...mirror.all('nodes')].flatMap(([uid, node]) =>
        repaired.has(uid) || climbers.has(uid) ? [node] : [],
      );
      const wasActedOn = ({ metadata }: KubernetesObject): boolean =>
        repaired.has(metadata.uid) || climbers.has(metadata.uid);
      const facts = { ...factsOf(context, everReadable, history), busy, repaired, endings, ended, past, wasActedOn };
      for (const [uid, node] of unhealthy) {
        const hold = held.get(node.metadata.name);
        // A hold whose Event is recorded again and again is a wait that can be seen (I6), and another check's business.
        const isOver = hold?.reason === 'NotConfirmed' && !mayBeDoubted(node, context);
        const isHeld = hold !== undefined && !isOver && context.now() - hold.time <= SAID_FOR;
        const due =
          isHeld || configuration.isRefused() ? undefined : overdueSince(node, facts, context.now(), underWay);
        if (due === undefined) waiting.delete(uid);
        else if (context.now() < (climbers.nextTime(uid) ?? 0)) waiting.delete(uid);
        else if (!waiting.has(uid)) waiting.set(uid, Math.max(due, context.now() - 60_000));
        const since = Math.max(waiting.get(uid) ?? Infinity, quietSince, lastDenialOf(node, context));
        if (context.now() - since <= LONGEST_DELAY) continue;
        violate('I5', `${nameOf(node)} could be repaired since ${text(since)} and is not`);
        waiting.set(uid, Infinity);
      }
    },
  };
};

/** How long a termination may take before it is stuck, where its NodePool or policy says so; ms. */
const terminationTimesOf = ({ spec }: KubernetesObject): readonly number[] =>
  listOf(dig(spec, 'repair', 'actions'))
    .filter(action => dig(action, 'type') === 'Terminate')
    .flatMap(action => millisecondsOf(dig(action, 'timeout')) ?? []);

/** When a change of the node or of its NodeClaim was denied. */
const lastDenialOf = (node: KubernetesObject, { mirror, lastDenial }: CheckContext): number =>
  Math.max(lastDenial('nodes', node.metadata), lastDenial('nodeclaims', claimOf(node, mirror)?.metadata ?? {}));

/** What the check knows of the time before the run. */
interface Remembered {
  readonly wasOpen: boolean;
  readonly everReadable: ReadonlySet<string>;
  readonly underWay: UnderWay;
  readonly climbers: Climbers;
  readonly past: RepairPast;
  readonly history: ConditionHistory;
}

function targetOfTermination(call: PortCall, mirror: Mirror): KubernetesObject | undefined {
  const claim = mirror.named('nodeclaims', targetOf(call).name);
  return claim && annotationOf(claim, REPLACES_ANNOTATION) === undefined ? claim : undefined;
}

/** The run has written a record of this very node. */
const hasNoted = (run: Run, { metadata }: KubernetesObject): boolean =>
  run.calls.some(
    ({ port, method, args, outcome }) =>
      port === 'records' &&
      method === 'put' &&
      outcome.kind === 'answered' &&
      dig(outcome.value, 'kind') === 'written' &&
      dig(args[0], 'subject', 'uid') === metadata.uid,
  );

interface ActOnInstance {
  readonly instance: string;
  readonly claim: KubernetesObject | undefined;
  /** The API server refuses it after any change of the NodeClaim that the run has not seen. */
  readonly isExact: boolean;
}

function complainAboutAct(
  { instance, claim, isExact }: ActOnInstance,
  run: Run,
  { mirror, now, clockTolerance }: CheckContext,
  { wasOpen, everReadable, underWay, climbers, past, history }: Remembered,
): string | undefined {
  const seen = lastGet(run, 'nodes', node => instanceOfNode(node) === instance);
  if (seen?.object === undefined) return 'the run has not looked at its node';
  const node = seen.object;
  if (!hasNoted(run, node)) return 'the run has not recorded its intent for the node';
  if (seen.index < lastRecordWrite(run))
    return 'the run has not looked at the node again after it had recorded its intent';
  const named = textOf(dig(claim, 'status', 'nodeName'));
  if (named !== undefined && named !== node.metadata.name) return `it is not the NodeClaim of ${nameOf(node)}`;
  const nodes = lastList(run, 'nodes');
  // Nodes without a NodePool have none that could be listed.
  const claims = lastList(run, 'nodeclaims') ?? (poolNameOf(claim ?? node) === undefined ? [] : undefined);
  if (nodes === undefined || claims === undefined) return 'the run has not counted the unhealthy nodes';
  // The pass of a pool knows the NodeClaims that have its label.
  const own = claims.filter(each => poolNameOf(each) === poolNameOf(claim ?? each));
  const ownership = ownershipOf(nodes, own);
  if (ownership.nodesOf(instance).length > 1 || ownership.claimsOf(instance).length > 1) {
    return 'it is not certain whose NodeClaim it is';
  }
  const gate = isGateOpen(lastGet(run, 'configmaps')?.object);
  if (gate === false || (gate === undefined && !wasOpen)) return 'the gate is closed';
  const poolName = poolNameOf(claim ?? node);
  if (claim === undefined && poolName !== undefined) return 'Karpenter has a NodeClaim for it, or makes one';
  const pool = lastGet(run, 'nodepools', ({ metadata }) => metadata.name === poolName)?.object;
  const members = ownership.membersOf(poolName);
  const policies = lastList(run, 'nodelifecyclepolicies') ?? [];
  // By the clock of the function a veto may be over already.
  const latest = now() + clockTolerance;
  const sinceOf: RepairFacts['sinceOf'] = (...of) => history.startOf(...of)?.earliest;
  // What the guards count is `repair-guards.ts`.
  const heldBy = (): undefined => undefined;
  const profile = gate === undefined ? profileIn(mirror) : profileOf(lastGet(run, 'configmaps')?.object);
  const answer = repairAnswer({
    profile,
    now: latest,
    node,
    claim: (isExact ? claims.find(({ metadata }) => metadata.uid === claim?.metadata.uid) : undefined) ?? claim,
    pool,
    policies,
    everReadable,
    members,
    sinceOf,
    heldBy,
  });
  switch (answer.kind) {
    case 'unknown':
      return undefined;
    case 'never':
    case 'blocked':
      return `${nameOf(node)} must not be repaired: ${answer.why}`;
    case 'from': {
      // Whatever it is unhealthy with by now: an earlier action of the same repair did not help.
      const isClimbing = climbers.has(node.metadata.uid);
      const { flapping, futility, isPlain } = answer.past;
      if (answer.time > latest && !isClimbing && flapping === undefined) {
        return `${nameOf(node)} is tolerated until ${text(answer.time)} (${answer.condition})`;
      }
      if (futility !== undefined && isPlain) {
        const { condition } = answer;
        const futile = past.futile(node, poolName, { condition, window: futility.window });
        if (futile >= futility.repairs) {
          return `${futile} repairs of its pool for ${condition} did not help, futility stops it after ${futility.repairs}`;
        }
      }
      const others = [...underWay(poolName)].filter(uid => uid !== node.metadata.uid).length;
      // It keeps its slot from the first action on.
      if (isClimbing || answer.budget === undefined || others < answer.budget) return undefined;
      return `${others} repairs are under way in its pool, ${answer.budget} may be`;
    }
  }
}
