/** Who of the due nodes is repaired now: ranked, within ramp and budget. Pure. */
import { TERMINATION_TIMESTAMP_ANNOTATION } from '../../../shared/domain/node-claim.ts';
import type { NodeView } from '../../../shared/domain/node.ts';
import type { RepairSettings } from '../../../shared/domain/repair-policy.ts';
import { addDuration, isDue, minutes, seconds, toTimestamp, type EpochMs } from '../../../shared/domain/time.ts';
import type { DueNode } from '../decide.ts';
import type { Awaited } from '../limits/concurrent.ts';
import type { Gate } from './gate.ts';
import { rungDeadline, rungsOf } from './attempts.ts';
import { budgetHold, type Hold } from './guards.ts';
import { hasBegun } from './place.ts';
import type { CarriedOut, PoolState, Ramp, RepairAttempt } from './pool.ts';

/** More than so many at once are granted by the passes that follow, one a second. */
const MAX_GRANTS = 200;
/** A pool's attempts stand in one record, whose size is limited; further repairs wait. */
const MAX_ATTEMPTS = 1_000;

/** A node that is due. */
export interface Candidate {
  readonly node: NodeView;
  readonly due: DueNode;
  /** What holds it whatever the others do. */
  readonly hold: Hold | undefined;
  /** Place on the ladder `repair.actions` that is its turn, from 0. */
  readonly rung: number;
  /** The attempt at the rung before. */
  readonly previous: RepairAttempt | undefined;
  /** An attempt that another run did not carry out. */
  readonly stale: RepairAttempt | undefined;
}

export type Outcome =
  | { readonly kind: 'granted'; readonly candidate: Candidate; readonly attempt: RepairAttempt }
  | { readonly kind: 'held'; readonly candidate: Candidate; readonly hold: Hold }
  /** Nothing holds it; the next pass takes it on. */
  | { readonly kind: 'later'; readonly candidate: Candidate; readonly until: EpochMs };

export interface Limits {
  readonly now: EpochMs;
  readonly settings: RepairSettings;
  readonly observeOnly: boolean;
  readonly scope: string;
  /** UIDs of the nodes whose repairs are under way: each goes on in its own place. */
  readonly inFlight: ReadonlySet<string>;
  /** `maxConcurrentRepairs` of this pool. */
  readonly budget: number | undefined;
  readonly ramp: Ramp | undefined;
  /** The limits of zone and cluster; undefined: there is none. */
  readonly gate?: Gate | undefined;
}

/** One outcome each, ranked. A node whose repair is under way goes on in its place and takes none anew. */
export function grant(candidates: readonly Candidate[], limits: Limits): readonly Outcome[] {
  const { now, scope, budget, ramp, gate } = limits;
  let inFlight = limits.inFlight.size;
  let granted = 0;
  return candidates.toSorted(byRank).map((candidate): Outcome => {
    const held = (hold: Hold): Outcome => ({ kind: 'held', candidate, hold });
    const needsPlace = !limits.inFlight.has(candidate.node.uid);
    if (candidate.hold !== undefined) return held(candidate.hold);
    if (needsPlace && budget !== undefined && inFlight >= budget) return held(budgetHold(scope, inFlight, budget, now));
    const full = needsPlace ? gate?.hold(candidate.node, candidate.due.incident.dueTime) : undefined;
    if (full !== undefined) return held(full);
    if (ramp !== undefined && granted >= rampAllows(ramp)) return held(rampHold(ramp, now));
    if (granted >= MAX_GRANTS || (needsPlace && inFlight >= MAX_ATTEMPTS)) {
      return { kind: 'later', candidate, until: addDuration(now, seconds(1)) };
    }
    granted += 1;
    if (needsPlace) {
      inFlight += 1;
      gate?.take(candidate.node);
    }
    return { kind: 'granted', candidate, attempt: createAttempt(candidate, limits) };
  });
}

/** What is full that due nodes wait for, and since when the first of them is due. @param outcomes ranked */
export function awaitedBy(outcomes: readonly Outcome[]): Awaited {
  const awaited: Record<string, Awaited[string]> = {};
  for (const outcome of outcomes) {
    if (outcome.kind !== 'held' || outcome.hold.awaits === undefined) continue;
    const { key, most } = outcome.hold.awaits;
    awaited[key] ??= { since: outcome.candidate.due.incident.dueTime, most };
  }
  return awaited;
}

/** Longest past due first; of those that are due at the same time the less healthy one. */
function byRank(a: Candidate, b: Candidate): number {
  return (
    a.due.incident.dueTime - b.due.incident.dueTime ||
    b.due.severity - a.due.severity ||
    (a.node.name < b.node.name ? -1 : 1)
  );
}

function createAttempt({ node, due, rung, previous, stale }: Candidate, limits: Limits): RepairAttempt {
  const { now, settings, observeOnly } = limits;
  const step = rungsOf(settings)[rung] ?? { type: 'Terminate', timeout: seconds(0) };
  const claim = due.claim && { name: due.claim.name, uid: due.claim.uid };
  const isSameAct = stale?.action === step.type;
  // Who takes an act over has the rest of its time; where none is left the act has never had any, and has it now.
  const hasTime = isSameAct && stale.until !== undefined && !isDue(now, stale.until);
  const until = hasTime ? stale.until : rungDeadline(step, now);
  const asked = step.type === 'Drain' || step.type === 'CustomResource' ? `${node.uid}.${now}` : undefined;
  // The termination after a drain carries its id, so that the drain can still be called off.
  const drained = previous?.action === 'Drain' && step.type === 'Terminate' ? previous.requestId : undefined;
  const requestId = (isSameAct ? stale.requestId : undefined) ?? asked ?? drained;
  const { resources, mayHaveMade } = previous ?? stale ?? {};
  const carriedOut = observeOnly ? previous && carriedOutBy(previous) : undefined;
  return {
    number: (previous?.number ?? stale?.number ?? 0) + 1,
    phase: observeOnly ? 'observed' : 'intended',
    intendedTime: now,
    node: { name: node.name, uid: node.uid },
    ...(claim && { claim }),
    incident: due.incident,
    rung,
    action: step.type,
    ...(((previous !== undefined && hasBegun(previous)) || stale?.escalates === true) && { escalates: true }),
    ...(carriedOut && { carriedOut }),
    ...(until !== undefined && { until }),
    ...(step.type === 'Reboot' && node.bootID !== undefined && { bootID: node.bootID }),
    ...(requestId !== undefined && { requestId }),
    ...(resources && { resources }),
    ...(mayHaveMade && { mayHaveMade }),
    ...(step.type === 'Terminate' && !observeOnly && annotationOf(due, stale, now)),
  };
}

function carriedOutBy(attempt: RepairAttempt): CarriedOut | undefined {
  const { phase, rung, action, carriedOut } = attempt;
  if (phase === 'observed') return carriedOut;
  return hasBegun(attempt) ? { rung, action } : undefined;
}

/** What a termination writes on the NodeClaim, and in place of what (I7). */
function annotationOf(
  { claim }: DueNode,
  stale: RepairAttempt | undefined,
  now: EpochMs,
): Pick<RepairAttempt, 'terminationTimestamp' | 'previousTimestamp'> {
  if (claim === undefined) return {};
  // An annotation of the attempt before is still known as ours, and so is what it stands in place of.
  const left = stale?.claim?.uid === claim.uid ? stale : undefined;
  const set = claim.annotations[TERMINATION_TIMESTAMP_ANNOTATION];
  const previousTimestamp = set === left?.terminationTimestamp ? left?.previousTimestamp : set;
  return {
    terminationTimestamp: left?.terminationTimestamp ?? toTimestamp(now),
    ...(previousTimestamp !== undefined && { previousTimestamp }),
  };
}

/** How long one step of the ramp lasts. */
const RAMP_STEP = minutes(1);

/** The ramp of this pass; undefined when repairs are not slowed down. */
export function nextRamp(
  { ramp, outages }: Pick<PoolState, 'ramp' | 'outages'>,
  current: { readonly outages: readonly string[]; readonly isAnythingDue: boolean },
  now: EpochMs,
): Ramp | undefined {
  const isStepOver = ramp !== undefined && ramp.granted > 0 && now >= ramp.stepTime + RAMP_STEP;
  if (!current.isAnythingDue) return ramp === undefined || ramp.granted === 0 || isStepOver ? undefined : ramp;
  const hasEnded = outages.some(outage => !current.outages.includes(outage));
  if (hasEnded) return { step: 0, stepTime: now, granted: 0 };
  return isStepOver ? { step: ramp.step + 1, stepTime: now, granted: 0 } : ramp;
}

/** The ramp without repairs that were granted in its step and not carried out: they have shown nothing, and their places are free. */
export function withoutUndone(
  { ramp }: Pick<PoolState, 'ramp'>,
  undone: readonly Pick<RepairAttempt, 'intendedTime'>[],
): Ramp | undefined {
  if (ramp === undefined) return undefined;
  const inStep = undone.filter(({ intendedTime }) => intendedTime >= ramp.stepTime);
  return inStep.length === 0 ? ramp : { ...ramp, granted: Math.max(0, ramp.granted - inStep.length) };
}

/** The same after so many more repairs have begun. */
export function advanceRamp(ramp: Ramp | undefined, granted: number, now: EpochMs): Ramp | undefined {
  if (ramp === undefined || granted === 0) return ramp;
  return { ...ramp, stepTime: ramp.granted === 0 ? now : ramp.stepTime, granted: ramp.granted + granted };
}

/** Repairs that the ramp still allows in its step. */
function rampAllows(ramp: Ramp | undefined): number {
  return ramp === undefined ? Infinity : 2 ** ramp.step - ramp.granted;
}

function rampHold(ramp: Ramp, now: EpochMs): Hold {
  const next = addDuration(ramp.granted === 0 ? now : ramp.stepTime, RAMP_STEP);
  return {
    reason: 'RampUp',
    message: `repairs start again slowly after an outage: ${2 ** ramp.step} in this minute, twice as many from ${toTimestamp(next)} on`,
    until: next,
  };
}
