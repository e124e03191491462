/**
 * Repair: look at a node, decide, act. A repair is record intent → look again → annotate and delete the NodeClaim → record
 * outcome; whoever finds an intent of a run that ended looks at the NodeClaim before anything else (I4).
 */
import { isDeepStrictEqual } from 'node:util';
import { terminateForcefully, withdrawTermination } from '../../shared/actions/forceful-termination.ts';
import type { InboxMessage } from '../../shared/contract/inbox-message.ts';
import { KARPENTER } from '../../shared/contract/names.ts';
import { EVENT_REASONS } from '../../shared/contract/reasons.ts';
import { toRepairState } from '../../shared/contract/repair-record.ts';
import type { KubernetesObject } from '../../shared/domain/kubernetes-object.ts';
import { sameIncident, type RepairRecord } from '../../shared/domain/repair-record.ts';
import { addDuration, isDue, toIsoText, type EpochMs } from '../../shared/domain/time.ts';
import { invariant, RetryableError } from '../../shared/errors.ts';
import { loadConfig } from '../../shared/cluster/configuration.ts';
import { inParallel } from '../../shared/cluster/in-parallel.ts';
import {
  isForgettable,
  loadRules,
  loadSubject,
  loadSurroundings,
  REPAIR_OWNER,
  repairRecordKey,
  type RepairRules,
  type RepairSubject,
  type RepairTarget,
} from '../../shared/observe/repair-subject.ts';
import {
  markPoolBlocked,
  wakeBlockedNodes,
  wakePostponed,
  wakeUnhealthyNodes,
} from '../../shared/observe/repair-wake-ups.ts';
import { reportRepairFaults } from '../../shared/observe/repair-faults.ts';
import type { ObjectEvent } from '../../shared/ports/event-recorder.ts';
import type { FunctionDeps, Reconcile } from '../../shared/ports/function-deps.ts';
import type { NewRecord, StoredRecord } from '../../shared/ports/record-store.ts';
import { putWithWakeUp, sendWakeUp } from '../../shared/timers/put-with-wake-up.ts';
import {
  decide,
  FINISHING_CHECK,
  isNews,
  needsSurroundings,
  OUTCOME_SETTLES_AFTER,
  reasonOf,
  type RepairDecision,
  type RepairObservation,
} from './decide.ts';

type Ports = Pick<FunctionDeps, 'kubernetes' | 'records' | 'wakeUps' | 'events' | 'audit' | 'metrics' | 'clock'>;
type Deps = Ports & { readonly rule: typeof decide };

const OWNER = REPAIR_OWNER;
/** Looks in one run before the message goes back to the queue: others are at work on this node. */
const MAX_LOOKS = 5;

/** @param rule another one than `decide`, for proofs of what a mistake in it would do */
export function createReconciler(ports: Ports, rule: typeof decide = decide): Reconcile {
  const deps: Deps = { ...ports, rule };
  return async message => {
    switch (message.kind) {
      case 'clusterEvent':
        return reconcileClusterEvent(deps, message.event);
      case 'wakeUp':
        if (message.subject.kind === 'Node') {
          await reconcileNode(deps, { ...message.subject, usedWakeTime: message.wakeTime });
        }
        if (message.subject.kind === 'NodePool') await wakePostponed(deps, message.subject.name);
        return;
      case 'tick':
      case 'busEvent':
        return;
    }
  };
}

type ClusterEvent = Extract<InboxMessage, { kind: 'clusterEvent' }>['event'];

async function reconcileClusterEvent(deps: Deps, { subject, change, changed, hints }: ClusterEvent): Promise<void> {
  switch (subject.kind) {
    case 'Node': {
      const flipped = changed.includes('conditions');
      const likely = change === 'Modified' && flipped ? { likely: { pool: hints.nodePool } } : {};
      const isHealthy = await reconcileNode(deps, { ...subject, ...likely });
      const recovered = isHealthy && flipped;
      if (recovered || change !== 'Modified') await wakeBlockedNodes(deps, hints.nodePool);
      return;
    }
    case 'NodeClaim':
      if (hints.nodeName !== undefined) await reconcileNode(deps, { name: hints.nodeName });
      // Before its node has registered, or for one that is written by hand: some node may have waited for it, or for its end.
      else if (hints.providerID !== undefined) await wakeBlockedNodes(deps, hints.nodePool);
      return;
    case 'NodePool':
      await reportRepairFaults(deps, subject);
      return wakeUnhealthyNodes(deps, subject.name);
    case 'NodeLifecyclePolicy':
      await reportRepairFaults(deps, subject);
      return wakeUnhealthyNodes(deps, undefined);
    case 'ConfigMap':
      await loadConfig(OWNER, deps);
      return wakeUnhealthyNodes(deps, undefined);
  }
}

interface Look extends RepairSubject {
  /** Where the repair block stands. */
  readonly source: string | undefined;
  readonly decision: RepairDecision;
}

/** `again`: somebody else wrote the record in between, perhaps after an older look at the node than this one. */
type Outcome = 'done' | 'recovered' | 'again';

/** Answers whether the node is healthy, or gone with an open incident. */
async function reconcileNode(deps: Deps, target: RepairTarget): Promise<boolean> {
  for (let looks = 0; looks < MAX_LOOKS; looks++) {
    const outcome = await reconcileOnce(deps, target);
    if (outcome !== 'again') return outcome === 'recovered';
  }
  throw new RetryableError(`the record of node ${target.name} changed ${MAX_LOOKS} times while it was looked at`);
}

async function reconcileOnce(deps: Deps, target: RepairTarget): Promise<Outcome> {
  const { uid } = target;
  const first = await look(deps, target);
  if (first === undefined) return uid === undefined ? 'done' : closeIncident(deps, uid);
  if (first.decision.kind !== 'repair') return apply(deps, first);

  const { incident, attempt } = first.decision;
  const settled = addDuration(attempt.intendedTime, OUTCOME_SETTLES_AFTER);
  // No message for this timer: it is needed only when this run dies, and the sweep hands it over before it is due.
  const outcome = await deps.records.put(
    toNewRecord(first.object, { incident, attempt }, settled),
    first.stored?.version ?? 0,
  );
  if (outcome.kind === 'lostRace') return 'again';
  const { version } = outcome.record;
  const again = await lookAgain(deps, first, version);
  if (again === undefined) return closeIncident(deps, first.node.uid);
  // Somebody wrote in between, say a run whose clock is behind and that still tolerates: the attempt is not ours any more.
  if (again.decision.kind === 'repair' && again.stored?.version !== version) return 'again';
  return apply(deps, again);
}

/**
 * The first look reads no more than it must: of a healthy node the record, of one whose time has not come no neighbours. Two steps
 * as a rule, because the event or the record says what will be needed; both are hints, and the live objects decide.
 */
async function look(deps: Deps, target: RepairTarget): Promise<Look | undefined> {
  const { likely } = target;
  const [subject, likelyRules] = await inParallel([loadSubject(deps, target), likely && loadRules(deps, likely.pool)]);
  if (subject === undefined) return undefined;
  if (isForgettable(subject)) return { ...subject, source: undefined, decision: HEALTHY };

  const { node, pool, record } = subject;
  const wasDue = record !== undefined && isDue(deps.clock.now(), record.incident.dueTime);
  const [rules, likelySurroundings] = await inParallel([
    likelyRules !== undefined && likely?.pool === pool ? likelyRules : loadRules(deps, pool),
    wasDue ? loadSurroundings(deps, node, pool) : undefined,
  ]);
  const now = deps.clock.now();
  const surroundings = needsSurroundings({ ...rules, node, now })
    ? (likelySurroundings ?? (await loadSurroundings(deps, node, pool)))
    : undefined;
  return judge(deps, subject, { ...rules, now, surroundings, ownsAttempt: false });
}

/**
 * The second look reads all that the first one did, at once: what the first one saw says where to look.
 *
 * @param ownedVersion the version of the record in which this very run reserved its attempt
 */
async function lookAgain(deps: Deps, first: Look, ownedVersion: number): Promise<Look | undefined> {
  const [subject, firstRules, firstSurroundings] = await inParallel([
    loadSubject(deps, { ...first.target, uid: first.node.uid }),
    loadRules(deps, first.pool),
    loadSurroundings(deps, first.node, first.pool),
  ]);
  if (subject === undefined) return undefined;
  if (isForgettable(subject)) return { ...subject, source: undefined, decision: HEALTHY };
  const { node, pool } = subject;
  // Moved to another pool in between, or known to the cloud by now: what was read is not about this node.
  const moved = pool !== first.pool || node.providerID !== first.node.providerID;
  const [rules, surroundings] = moved
    ? await inParallel([loadRules(deps, pool), loadSurroundings(deps, node, pool)])
    : [firstRules, firstSurroundings];
  const ownsAttempt = subject.stored?.version === ownedVersion;
  return judge(deps, subject, { ...rules, now: deps.clock.now(), surroundings, ownsAttempt });
}

const HEALTHY: RepairDecision = { kind: 'ignore', reason: 'Healthy', message: 'no condition counts as unhealthy' };

type Judged = RepairRules & Pick<RepairObservation, 'now' | 'surroundings' | 'ownsAttempt'>;

function judge(deps: Deps, subject: RepairSubject, { source, mode, ...observed }: Judged): Look {
  const { node, record } = subject;
  const decision = deps.rule({
    ...observed,
    node,
    record,
    observeOnly: mode === 'Observe',
    terminationTimestampAnnotation: KARPENTER.terminationTimestampAnnotation,
  });
  return { ...subject, source, decision };
}

async function apply(deps: Deps, seen: Look): Promise<Outcome> {
  const { decision, record, stored, object } = seen;
  const isTimer = stored?.nextWakeTime !== undefined && isDue(deps.clock.now(), stored.nextWakeTime);
  if (isNews(decision, record, isTimer)) report(deps, seen);
  switch (decision.kind) {
    case 'ignore':
    case 'refuse':
      await withdrawTermination(deps, record?.attempt);
      if (decision.kind === 'ignore' && decision.reason === 'NoNodeClaim') await markPoolBlocked(deps, seen.pool);
      if (stored !== undefined) await deps.records.delete(repairRecordKey(object.metadata.uid), stored.version);
      return decision.kind === 'ignore' && decision.reason === 'Healthy' ? 'recovered' : 'done';
    case 'tolerate': {
      await withdrawTermination(deps, record?.attempt);
      const isNew = record === undefined || !sameIncident(record.incident, decision.incident);
      if (isNew) await recordEvent(deps, 'Normal', EVENT_REASONS.nodeRepairScheduled, decision.message, object);
      return outcomeOf(await save(deps, seen, { incident: decision.incident }, decision.until));
    }
    case 'blocked':
      await withdrawTermination(deps, record?.attempt);
      if (isNews(decision, record, isTimer)) {
        await recordEvent(deps, 'Warning', EVENT_REASONS.nodeRepairBlocked, decision.message, object);
      }
      await markPoolBlocked(deps, seen.pool);
      return outcomeOf(
        await save(
          deps,
          seen,
          { incident: decision.incident, blocked: decision.message },
          nextCheck(deps, stored, decision.retryTime),
        ),
      );
    case 'settle':
      return record === undefined ? 'done' : outcomeOf(await save(deps, seen, record, decision.until));
    case 'finishing':
      return outcomeOf(
        await save(deps, seen, { ...record, incident: decision.incident }, nextCheck(deps, stored, decision.checkTime)),
      );
    case 'wouldRepair':
      await withdrawTermination(deps, record?.attempt);
      if (decision.alreadyReported) return 'done';
      await recordEvent(deps, 'Normal', EVENT_REASONS.nodeRepairObserved, decision.message, object);
      return outcomeOf(await save(deps, seen, { incident: decision.incident, reported: true }, undefined));
    case 'repair':
      return act(deps, seen, decision);
  }
}

/** Whoever wrote first may have seen an older state of the node, or have closed its record: his timer cannot be relied on. */
const outcomeOf = (saved: StoredRecord | undefined): Outcome => (saved === undefined ? 'again' : 'done');

async function act(deps: Deps, seen: Look, decision: Extract<RepairDecision, { kind: 'repair' }>): Promise<Outcome> {
  const { attempt, incident } = decision;
  invariant(seen.record?.attempt?.number === attempt.number, 'I4: the intent is recorded before the first call');
  await terminateForcefully(deps, attempt, decision);
  const finished: RepairRecord = { incident, attempt: { ...attempt, phase: 'accepted' } };
  const saved = await save(deps, seen, finished, addDuration(deps.clock.now(), FINISHING_CHECK));
  const { nodeClaimName: name, nodeClaimUid: uid } = attempt;
  const message = `NodeClaim ${name} is terminated forcefully: ${decision.message}`;
  const claim = { apiVersion: 'karpenter.sh/v1', kind: 'NodeClaim', metadata: { name, uid } };
  await recordEvent(deps, 'Warning', EVENT_REASONS.nodeRepairStarted, message, seen.object);
  await recordEvent(deps, 'Warning', EVENT_REASONS.nodeRepairStarted, message, claim);
  return outcomeOf(saved);
}

/** A periodic look that is planned already is not put off by the looks in between. */
function nextCheck(deps: Deps, stored: StoredRecord | undefined, time: EpochMs): EpochMs {
  const planned = stored?.nextWakeTime;
  return planned !== undefined && planned > deps.clock.now() && planned < time ? planned : time;
}

/** undefined when another run wrote first. */
async function save(
  deps: Deps,
  { target, object, stored, record: before }: Pick<Look, 'target' | 'object' | 'stored' | 'record'>,
  record: RepairRecord,
  nextWakeTime: EpochMs | undefined,
): Promise<StoredRecord | undefined> {
  const unchanged = stored !== undefined && stored.nextWakeTime === nextWakeTime && isDeepStrictEqual(record, before);
  if (unchanged) {
    // A wake-up that came early used up its message: send the next one. Any other message leaves that of the timer in the inbox,
    // and a duplicate of a wake-up that did its work must not live on as one more timer.
    if (nextWakeTime !== undefined && target.usedWakeTime === nextWakeTime) {
      await sendWakeUp(deps, { owner: OWNER, subject: subjectOf(object), wakeTime: nextWakeTime });
    }
    return stored;
  }
  const outcome = await putWithWakeUp(deps, toNewRecord(object, record, nextWakeTime), stored?.version ?? 0);
  return outcome.kind === 'written' ? outcome.record : undefined;
}

function toNewRecord(object: KubernetesObject, record: RepairRecord, nextWakeTime: EpochMs | undefined): NewRecord {
  return {
    ...repairRecordKey(object.metadata.uid),
    subject: subjectOf(object),
    state: toRepairState(record),
    ...(nextWakeTime !== undefined && { nextWakeTime }),
  };
}

const subjectOf = ({ metadata: { name, uid } }: KubernetesObject): NewRecord['subject'] => ({
  apiVersion: 'v1',
  kind: 'Node',
  name,
  uid,
});

/** The node is gone: its incident ended, whatever was promised. */
async function closeIncident(deps: Deps, uid: string): Promise<Outcome> {
  const stored = await deps.records.get(repairRecordKey(uid));
  if (stored === undefined) return 'done';
  await deps.records.delete(repairRecordKey(uid), stored.version);
  const { name } = stored.subject;
  deps.audit.write({
    function: OWNER,
    decision: 'close',
    reason: 'NodeGone',
    message: 'the node is gone, its incident is closed',
    kind: 'Node',
    name,
    uid,
  });
  return 'recovered';
}

async function recordEvent(
  deps: Deps,
  type: 'Normal' | 'Warning',
  reason: string,
  message: string,
  about: ObjectEvent['about'],
): Promise<void> {
  await deps.events.record({ type, reason, message, about });
}

/** One audit line per decision, with the numbers that it rests on. */
function report(deps: Deps, { decision, object, pool, source }: Look): void {
  deps.metrics.count('RepairDecision', 1, { decision: decision.kind });
  const incident = 'incident' in decision ? decision.incident : undefined;
  deps.audit.write({
    function: OWNER,
    decision: decision.kind,
    reason: reasonOf(decision),
    message: decision.message,
    kind: 'Node',
    name: object.metadata.name,
    uid: object.metadata.uid,
    details: {
      nodePool: pool,
      policy: source,
      ...(incident && {
        ...incident,
        dueTime: toIsoText(incident.dueTime),
        lastTransitionTime: toIsoText(incident.lastTransitionTime),
      }),
      ...(decision.kind === 'repair' && {
        attempt: decision.attempt.number,
        nodeClaim: decision.attempt.nodeClaimName,
      }),
    },
  });
}
