/**
 * The rule of a pass: one look at a whole pool. Ranks what is due, and grants what threshold, outages, ramp and budget allow
 * (I3). Every grant is an attempt that the pass reserves in the pool's record before anything happens (I4). Pure.
 */
import type { NodeView } from '../../../shared/domain/node.ts';
import { indexOwners, ownerOf, type OwnerIndex } from '../../../shared/domain/node-owner.ts';
import { resolveNodeCount, type RepairSettings } from '../../../shared/domain/repair-policy.ts';
import { addDuration, earliest, type EpochMs } from '../../../shared/domain/time.ts';
import { createGate } from './gate.ts';
import type { PassDecision, PassObservation } from './decision.ts';
import { sortAttempts, underWayOf, type OpenAttempts } from './attempts.ts';
import { advanceRamp, awaitedBy, grant, nextRamp, withoutUndone, type Outcome } from './grant.ts';
import { BLOCKED_RETRY, createGuards, futility, recentRepairs, type Surroundings } from './guards.ts';
import { FINISHING_CHECK, lookAt, poolOf } from './look.ts';
import type { RepairAttempt } from './pool.ts';
import { lookWhileOff } from './recovery.ts';
import type { NodeLook, Verdict } from './verdict.ts';

/** While repair is off, or its settings are not valid, what is under way is looked at, and nothing is begun. */
export function decidePass(observation: PassObservation): PassDecision {
  const { now, rules, nodes, claims, state } = observation;
  const open = sortAttempts(state.attempts, { now, nodes, claims, observeOnly: rules.mode === 'Observe' });
  if (rules.gateOpen && rules.settings !== undefined && !('invalid' in rules.settings)) {
    return judgePool({ ...observation, settings: rules.settings, open, owners: indexOwners(nodes, claims) });
  }
  const looks = nodes.map(node => lookWhileOff(node, open, rules, now));
  const { ended, kept } = keptAfter(looks, open);
  const places = looks.flatMap(({ place }) => place ?? []);
  const attempts = [...kept, ...places];
  return {
    verdicts: looks.flatMap(({ verdict }) => verdict ?? []),
    withdrawals: [...open.withdrawals, ...ended, ...open.stale.map(leftOf(places))],
    lost: open.lost,
    found: open.found,
    state: { ...state, attempts, outages: [], repairs: [], ramp: undefined },
    underWay: attempts,
    awaited: {},
    wakeTime: earliest(open.settleTime, attempts.length > 0 ? addDuration(now, FINISHING_CHECK) : undefined),
  };
}

/** The attempts that are over by these looks, and the others as they are remembered. */
function keptAfter(looks: readonly NodeLook[], open: OpenAttempts) {
  const over = looks.flatMap(({ over: attempt }) => attempt ?? []);
  const ended = [...over, ...looks.flatMap(({ calledOff }) => calledOff ?? [])];
  const changed = new Map(looks.flatMap(({ changed: attempt }) => (attempt ? [[attempt.node.uid, attempt]] : [])));
  const kept = open.kept
    .filter(attempt => !over.includes(attempt))
    .map(attempt => changed.get(attempt.node.uid) ?? attempt);
  return { ended, kept };
}

/** What one node is judged by. */
interface Judged extends PassObservation {
  readonly settings: RepairSettings;
  readonly owners: OwnerIndex;
  readonly open: OpenAttempts;
}

/** Looks at all nodes, grants what may be repaired, and says what is remembered of it. */
function judgePool(judged: Judged): PassDecision {
  const { now, pool, nodes, settings, open, rules, state, owners, concurrent } = judged;
  const { limits } = rules;
  const own = nodes.filter(node => poolOf(node, ownerOf(node, owners)) === pool);
  const scope = pool === undefined ? 'the cluster' : `NodePool ${pool}`;
  const poolNodes = pool === undefined ? nodes : own;
  const looks = lookAtAll(judged, own, { now, settings, scope, poolNodes, nodes });
  const candidates = looks.flatMap(({ candidate }) => candidate ?? []);
  const outages = [...new Set(candidates.flatMap(({ hold }) => hold?.outage ?? []))].toSorted();
  const before = { outages: state.outages, ramp: withoutUndone(state, open.stale) };
  const ramp = nextRamp(before, { outages, isAnythingDue: candidates.length > 0 }, now);
  const { ended, kept } = keptAfter(looks, open);
  const keptPlaces = looks.flatMap(({ place }) => place ?? []);
  const underWay = underWayOf([...kept, ...keptPlaces], settings, now);
  const observeOnly = rules.mode === 'Observe';
  const outcomes = grant(candidates, {
    now,
    settings,
    observeOnly,
    scope,
    inFlight: new Set(underWay.map(({ node }) => node.uid)),
    gate:
      limits &&
      concurrent &&
      createGate({ limits, concurrent }, { now, pool, isObserving: observeOnly, nodes, own: underWay }),
    budget: settings.maxConcurrentRepairs && resolveNodeCount(settings.maxConcurrentRepairs, poolNodes.length),
    ramp,
  });

  const granted = outcomes.flatMap(outcome => (outcome.kind === 'granted' ? outcome : []));
  const begun = granted.map(({ attempt }) => attempt);
  // A stale attempt at another act than the one that is granted now is taken back, not taken over.
  const over = new Set(
    granted.flatMap(({ candidate: { previous, stale }, attempt }) =>
      previous !== undefined ? previous : stale?.action === attempt.action ? stale : [],
    ),
  );
  const acted = new Set(begun.map(({ node }) => node.uid));
  const places = keptPlaces.filter(({ node }) => !acted.has(node.uid));
  const attempts = [...kept.filter(attempt => !over.has(attempt)), ...places, ...begun];
  const next = { attempts, outages, repairs: recentRepairs(state.repairs, begun, settings, now) };
  return {
    verdicts: [...looks.flatMap(({ verdict }) => verdict ?? []), ...outcomes.flatMap(toVerdict)],
    withdrawals: [
      ...open.withdrawals,
      ...ended,
      ...open.stale.filter(attempt => !over.has(attempt)).map(leftOf(places)),
    ],
    lost: open.lost,
    found: open.found,
    state: { ...state, ...next, ramp: advanceRamp(ramp, begun.length, now) },
    underWay,
    awaited: awaitedBy(outcomes),
    wakeTime: [
      open.settleTime,
      ...timesOf(attempts, now),
      ...looks.map(({ time }) => time),
      ...outcomes.map(outcome => timeOf(outcome)),
      ...(next.repairs[0] && settings.futility ? [addDuration(next.repairs[0].time, settings.futility.window)] : []),
      ...(ramp === undefined ? [] : [addDuration(now, BLOCKED_RETRY)]),
    ].reduce(earliest, undefined),
  };
}

/** The nodes of the pool, each with what holds it, then all others. */
function lookAtAll(judged: Judged, own: readonly NodeView[], surroundings: Surroundings): readonly NodeLook[] {
  const { nodes, open, rules, now, state } = judged;
  const guards = createGuards(surroundings);
  const looks = own.map((node): NodeLook => {
    const hold = guards.hold(node);
    return lookAt(judged, node, due => hold ?? futility(surroundings, due, node, state.repairs));
  });
  // A node whose NodeClaim is another pool's by now, or went: what was begun here ends here.
  const ours = new Set(own);
  return [...looks, ...nodes.filter(node => !ours.has(node)).map(node => lookWhileOff(node, open, rules, now))];
}

/** When attempts are to be looked at again. */
const timesOf = (attempts: readonly RepairAttempt[], now: EpochMs): readonly (EpochMs | undefined)[] => [
  attempts.length > 0 ? addDuration(now, FINISHING_CHECK) : undefined,
  ...attempts.map(({ until }) => (until !== undefined && until > now ? until : undefined)),
];

/** A drain that still counts is not called off with the termination after it. */
const leftOf =
  (places: readonly RepairAttempt[]) =>
  (stale: RepairAttempt): RepairAttempt => {
    const isKept = places.some(({ node, requestId }) => node.uid === stale.node.uid && requestId === stale.requestId);
    if (!isKept || stale.action !== 'Terminate') return stale;
    const { requestId: _, ...rest } = stale;
    return rest;
  };

function toVerdict(outcome: Outcome): readonly Verdict[] {
  const { node, due } = outcome.candidate;
  switch (outcome.kind) {
    case 'granted': {
      const { attempt, candidate } = outcome;
      const { previous } = candidate;
      const { message } = due;
      if (attempt.phase === 'observed') return [{ kind: 'wouldRepair', node, attempt, message }];
      return [{ kind: 'repair', node, attempt, message, ...(previous && { previous }) }];
    }
    case 'held': {
      const { reason, message, basis } = outcome.hold;
      return [{ kind: 'blocked', node, reason, message, basis }];
    }
    case 'later':
      return [];
  }
}

function timeOf(outcome: Outcome): EpochMs | undefined {
  switch (outcome.kind) {
    case 'granted':
      return undefined;
    case 'held':
      return outcome.hold.until;
    case 'later':
      return outcome.until;
  }
}
