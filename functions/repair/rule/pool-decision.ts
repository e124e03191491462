/**
 * The decision of a pass for its pool: what it is made of, and what the record of the pool keeps of it, as decided and once
 * more after the acts. Pure.
 */
import type { Attempt } from '../node/attempt-record.ts';
import type { NodeRecord } from '../node/record.ts';
import type { PoolRecord } from '../pool-record.ts';
import { replacementOf, terminationOf } from '../node/rule/attempt.ts';
import {
  withState,
  hasFailedLaunch,
  hasTrait,
  nodesInFlight,
  type NodeFinding,
  type RememberedFinding,
} from '../node/rule/finding.ts';
import type { ConcurrencyLimits } from './concurrency-limits.ts';
import { notBlockedByRecovering } from '../node/rule/incident.ts';
import type { GuardInputs } from './guard-inputs.ts';
import { unexpiredRamp, withoutUndoneGrants } from './ramp.ts';
import { pauseAfterFailure, unexpiredPause } from '../node/rule/replacement.ts';
import type { ActionAttempt, Rank } from '../node/rule/verdict.ts';
import type { RepairInForce } from '../node/rule/settings-in-force.ts';
import type { RefusalCause } from '../../../shared/domain/refusal.ts';
import { addDuration, type DurationMs, type EpochMs, hours, isDue, toDurationMs } from '../../../shared/domain/time.ts';

export interface PoolObservation {
  readonly now: EpochMs;
  readonly pool: string | undefined;
  readonly repair: RepairInForce;
  readonly findings: readonly NodeFinding[];
  readonly poolRecord: PoolRecord;
  /** Facts that the guards count; undefined: nothing may be repaired. */
  readonly guardInputs: GuardInputs | undefined;
  /** Answers of EC2 about the nodes that it is to confirm, by UID. */
  readonly answers?: ReadonlyMap<string, string> | undefined;
  /** Creates the limits of zone and cluster, by the UIDs that the pool itself has in flight. */
  readonly concurrencyLimits?: ((own: ReadonlySet<string>) => ConcurrencyLimits) | undefined;
}

/** A repair that the pool allows. @property finding the node as it was before @property record the one with the attempt */
export type GrantedRepair = ActionAttempt & {
  readonly finding: RememberedFinding;
  readonly record: NodeRecord;
  readonly rank: Rank;
  /** It goes on with a repair that the ramp has counted: the reboot after its own drain. */
  readonly isContinued: boolean;
};

export interface PoolDecision {
  readonly findings: readonly NodeFinding[];
  readonly granted: readonly GrantedRepair[];
  /** UIDs that count as in flight before anything is granted. */
  readonly inFlight: ReadonlySet<string>;
  /** The record of the pool if all granted acts are accepted. */
  readonly poolRecord: PoolRecord;
  readonly wakeTime: EpochMs | undefined;
  /** A freeze or a zone outage blocks repairs: passes are a minute apart. */
  readonly isOutage: boolean;
}

/** Terminations are remembered for this long, or for the window of `futility` if that is longer. */
const TERMINATIONS_KEPT_FOR = hours(24);

const MAX_TERMINATIONS = 100;

export interface GrantDecision extends Pick<PoolDecision, 'findings' | 'granted' | 'inFlight'> {
  readonly ramp: PoolRecord['ramp'];
  readonly blockingGuards: readonly string[];
}

/**
 * The time for which terminations are remembered; undefined: the repair block is unreadable, so all of them are kept.
 */
export function terminationRetentionOf({ settings }: RepairInForce): DurationMs | undefined {
  if (settings !== undefined && 'invalid' in settings) return undefined;
  return toDurationMs(Math.max(settings?.futility?.window ?? 0, TERMINATIONS_KEPT_FOR));
}

/** The findings as they are written, and the record of the pool for the next pass. */
export function nextPoolState(
  { now, repair, poolRecord }: Pick<PoolObservation, 'now' | 'repair' | 'poolRecord'>,
  decided: GrantDecision,
): Pick<PoolDecision, 'findings' | 'poolRecord'> {
  const { inFlight, blockingGuards } = decided;
  const findings = decided.findings
    .map(each => (isLeftMarked(each) ? withState({ ...each, hasUselessLeftovers: true }) : each))
    .map(each => withTimeBlocked(each, now));
  const window = terminationRetentionOf(repair);
  const since = (uid: string): EpochMs => (inFlight.has(uid) ? (poolRecord.inFlight[uid] ?? now) : now);
  const nextInFlight = Object.fromEntries([...nodesInFlight(findings, poolRecord, now)].map(uid => [uid, since(uid)]));
  const isInWindow = ({ time }: { readonly time: EpochMs }) =>
    window === undefined || !isDue(now, addDuration(time, window));
  const { launchPause } = poolRecord;
  const pause = findings.some(hasFailedLaunch)
    ? pauseAfterFailure(launchPause, now)
    : launchPause && unexpiredPause(launchPause, now);
  const ramp = decided.ramp && unexpiredRamp(decided.ramp, now);
  const next = withFindings(
    {
      ...poolRecord,
      blockingGuards: blockingGuards.toSorted(),
      terminations: poolRecord.terminations.filter(isInWindow).slice(-MAX_TERMINATIONS),
    },
    findings,
    {
      ramp,
      pause,
      inFlight: nextInFlight,
      blocked: findings.filter(({ verdict }) => hasTrait(verdict, 'blocked')).length,
    },
  );
  return { findings, poolRecord: next };
}

/** The record of the pool with what its findings say. */
function withFindings(
  poolRecord: PoolRecord,
  findings: readonly NodeFinding[],
  {
    ramp,
    pause,
    inFlight,
    blocked,
  }: Pick<PoolRecord, 'ramp' | 'inFlight'> & {
    readonly pause: PoolRecord['launchPause'];
    readonly blocked: number;
  },
): PoolRecord {
  const { ramp: _, launchPause: __, ...otherMemory } = poolRecord;
  return {
    ...otherMemory,
    ...(ramp && { ramp }),
    ...(pause && { launchPause: pause }),
    inFlight,
    followed: findings.filter(each => isFollowed(each, inFlight)).map(({ node }) => node.uid),
    counts: { blocked, repairing: findings.filter(isRepairing).length },
  };
}

/** The finding, with the time in Settling added up unless nodes that have just come back block the node in this pass, too. */
function withTimeBlocked(finding: NodeFinding, now: EpochMs): NodeFinding {
  const { record, verdict } = finding;
  const isBlocked = verdict?.kind === 'blockedByPool' && verdict.blocker.kind === 'recovering';
  if (isBlocked || record?.incident === undefined) return finding;
  return { ...finding, record: { ...record, incident: notBlockedByRecovering(record.incident, now) } };
}

/** Whether a repair of the node is under way: an attempt whose time is over, after which nothing is left to try, is none. */
const isRepairing = ({ record, verdict, attemptState }: NodeFinding): boolean =>
  record?.attempt !== undefined && !(attemptState === 'ended' && hasTrait(verdict, 'blocked'));

/** Whether a refused attempt has left marks that nothing is about to use. */
const isLeftMarked = ({ record, verdict }: NodeFinding): boolean =>
  record?.leftovers !== undefined &&
  record.attempt === undefined &&
  verdict !== undefined &&
  !(verdict.kind === 'blockedByPool' && verdict.blocker.kind === 'others') &&
  !hasTrait(verdict, 'reuses');

/** Whether the node has to be followed and takes no slot in flight. */
const isFollowed = ({ node, state }: NodeFinding, inFlight: PoolRecord['inFlight']): boolean =>
  state !== 'idle' && !(node.uid in inFlight);

/** An act on a node, with its outcome. */
interface ActWithOutcome {
  readonly granted: {
    readonly finding: Pick<NodeFinding, 'node'>;
    readonly attempt: Attempt;
    readonly isContinued: boolean;
  };
  readonly outcome:
    | { readonly kind: 'refused'; readonly cause: RefusalCause }
    | { readonly kind: 'accepted' | 'overtaken' | 'calledOff' | 'unknown' };
}

/** The record of the pool after the acts of a pass. */
export function poolAfter(
  poolRecord: PoolRecord,
  results: readonly ActWithOutcome[],
  findings: readonly NodeFinding[],
  now: EpochMs,
): PoolRecord {
  const resultsOf = (...kinds: readonly ActWithOutcome['outcome']['kind'][]): readonly ActWithOutcome[] =>
    results.filter(({ outcome }) => kinds.includes(outcome.kind));
  const skippedOf = new Map(findings.map(({ node, record }) => [node.uid, record?.incident?.skippedLaunches]));
  // A refusal that may pass keeps its turn at first. Once the launch is skipped for it, it has failed.
  const isLaunchRefused = results.some(
    ({ granted: { attempt, finding }, outcome }) =>
      attempt.action === 'Replace' &&
      outcome.kind === 'refused' &&
      (outcome.cause === 'request' || skippedOf.get(finding.node.uid)?.includes(attempt.key) === true),
  );
  // One that has been in use before says nothing of the launches of today.
  const hasReplaced = resultsOf('accepted', 'overtaken').some(({ granted: { attempt } }) => {
    const replacement = attempt.action === 'Terminate' ? replacementOf(attempt) : undefined;
    return replacement !== undefined && replacement.releasedTime === undefined;
  });
  const notActedOn = resultsOf('calledOff', 'refused').map(({ granted }) => granted);
  const uidsNotActedOn = new Set(notActedOn.map(({ finding }) => finding.node.uid));
  const isNoLongerInFlight = (each: NodeFinding): boolean =>
    uidsNotActedOn.has(each.node.uid) && each.state !== 'inFlight';
  const uidsNoLongerInFlight = new Set(findings.filter(isNoLongerInFlight).map(({ node }) => node.uid));
  const countedUids = new Set(poolRecord.terminations.flatMap(({ node }) => node ?? []));
  const triedUids = new Set(results.map(({ granted }) => granted.finding.node.uid));
  // Terminations of runs that died before they had counted them.
  const uncounted = findings.flatMap(({ node: { uid }, record, unreported }) => {
    const lost = unreported.find(({ kind }) => kind === 'lost')?.attempt;
    const attempt = lost ?? (record?.attempt?.phase === 'accepted' ? record.attempt : undefined);
    return triedUids.has(uid) || attempt?.action !== 'Terminate' ? [] : [terminationOf(uid, attempt)];
  });
  const terminated = resultsOf('accepted').flatMap(({ granted: { attempt, finding } }) =>
    attempt.action === 'Terminate' ? [terminationOf(finding.node.uid, attempt)] : [],
  );
  const inFlight = Object.fromEntries(
    Object.entries(poolRecord.inFlight).filter(([uid]) => !uidsNoLongerInFlight.has(uid)),
  );
  const { launchPause, counts } = poolRecord;
  const ramp =
    poolRecord.ramp &&
    withoutUndoneGrants(poolRecord.ramp, notActedOn.filter(({ isContinued }) => !isContinued).length);
  const pause = isLaunchRefused ? pauseAfterFailure(launchPause, now) : hasReplaced ? undefined : launchPause;
  const newTerminations = [...uncounted, ...terminated].filter(({ node }) => !countedUids.has(node));
  const terminations = [...poolRecord.terminations, ...newTerminations];
  // A node whose act was refused waits for its next try.
  const blocked = counts.blocked + resultsOf('refused').length;
  return withFindings({ ...poolRecord, terminations }, findings, { ramp, pause, inFlight, blocked });
}

/** Whether the record of the pool says something that the next pass must know. */
export function isWorthKeeping(poolRecord: PoolRecord): boolean {
  const { inFlight, followed, blockingGuards, ramp, launchPause, terminations, oldAttempts = [], counts } = poolRecord;
  const lists = [Object.keys(inFlight), followed, blockingGuards, terminations, oldAttempts];
  return (
    lists.some(({ length }) => length > 0) || counts.blocked > 0 || ramp !== undefined || launchPause !== undefined
  );
}
