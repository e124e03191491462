/** Pauses of drains: something has to be mended, or a policy says `Observe`. Pure; part of `decide`. */
import { QUARANTINE_ANNOTATION } from '../../../shared/domain/quarantine.ts';
import type { DecisionOf } from './decision.ts';
import type { DrainObservation, PoliciesInForce, ReadyObservation } from './observation.ts';
import { isOverIfLasting } from './late-events.ts';
import { isWaiting } from './phase.ts';
import { waitsForNobody } from './queue.ts';
import type { ActiveDrain } from '../record.ts';
import type { DrainRequest } from '../request-record.ts';

type PauseDecision = DecisionOf<'pause'>;

/** Says why a recovery does not count yet. */
export const FLAPPING =
  'its fault comes and goes: it counts once the fault has not come back for ten minutes, and until then the node stays as it is';

/** The observation by which the next drain may begin, or the pause that keeps it from beginning. */
export function readyToBegin(observation: DrainObservation): ReadyObservation | PauseDecision {
  const known = pauseByRecovery(observation, observation.record.requests) ?? readyIfKnown(observation);
  if (known.kind === 'pause') return known;
  const { inForce, record } = known;
  return (
    pauseByMode(inForce) ??
    policyUnknown(inForce) ??
    unreadableLimits(inForce, record.requests) ??
    coverageUnknown(observation) ??
    known
  );
}

/**
 * The observation by which the drain under way goes on, or its pause. Once it has begun it goes on whatever mode and limits are by now; one that
 * waits has not begun.
 */
export function readyToGoOn(observation: DrainObservation, active: ActiveDrain): ReadyObservation | PauseDecision {
  const known = pauseByRecovery(observation, active.requests) ?? readyIfKnown(observation);
  if (known.kind === 'pause' || !isWaiting(active)) return known;
  return pauseByMode(known.inForce) ?? unreadableLimits(known.inForce, active.requests) ?? known;
}

/**
 * Pauses where no configuration says how pods go, or a kind is not served: nobody can say whether the drain is only observed, nor which pods are
 * protected (I6). Its time-outs stand still, too.
 */
function readyIfKnown(observation: DrainObservation): ReadyObservation | PauseDecision {
  const { configuration, inForce } = observation;
  if (inForce.kind === 'notServed') return { kind: 'pause', reason: 'KindNotServed', message: inForce.message };
  if (configuration === undefined) return NO_CONFIGURATION;
  return { ...observation, configuration, inForce };
}

const NO_CONFIGURATION: PauseDecision = {
  kind: 'pause',
  reason: 'NoConfiguration',
  message:
    'no key of a valid config.toml in ConfigMap curfew/curfew-config says how nodes are drained: the drain waits for userNamespaces, podDrainPolicies or customDrain',
};

/** Whether drains of the pool are only observed. */
export const isOnlyObserved = ({ inForce }: Pick<DrainObservation, 'inForce'>): boolean =>
  inForce.kind === 'known' && inForce.mode === 'Observe';

/** Pauses a drain whose faults are over if that lasts: no pod goes for them. Other requests go on. */
function pauseByRecovery({ record }: DrainObservation, requests: readonly DrainRequest[]): PauseDecision | undefined {
  const isOver = requests.length > 0 && requests.every(request => isOverIfLasting(record, request));
  return isOver ? { kind: 'pause', reason: 'RecoveryDeferred', message: FLAPPING } : undefined;
}

/** Pauses where nobody can say how many drains are allowed, unless a request waits for nobody. */
function unreadableLimits({ limits }: PoliciesInForce, requests: readonly DrainRequest[]): PauseDecision | undefined {
  if (limits.kind !== 'unreadable' || requests.some(waitsForNobody)) return undefined;
  return { kind: 'pause', reason: 'UnreadableLimits', message: limits.message };
}

function pauseByMode({ mode }: PoliciesInForce): PauseDecision | undefined {
  if (mode === 'Enforce') return undefined;
  return { kind: 'pause', reason: 'ObserveMode', message: 'mode is Observe: nothing is drained' };
}

/** Pauses before a drain begins by a guess, where the author of a policy may only observe (I6). A drain under way goes on. */
function policyUnknown({ unreadable }: PoliciesInForce): PauseDecision | undefined {
  if (unreadable === undefined) return undefined;
  const message = `${unreadable}; whether it holds drains is not known: nothing begins until it can be read`;
  return { kind: 'pause', reason: 'UnreadablePolicy', message };
}

function coverageUnknown({ node, record }: DrainObservation): PauseDecision | undefined {
  const isUnknown =
    node.quarantine === 'unreadable' && record.requests.every(({ quarantine }) => quarantine === 'AlreadyQuarantined');
  if (!isUnknown) return undefined;
  const message = `the annotation ${QUARANTINE_ANNOTATION} cannot be read: whether an earlier drain covers this one is unknown`;
  return { kind: 'pause', reason: 'UnreadableQuarantine', message };
}
