/** Pauses of drains: something has to be mended, or a policy says `Observe`. Pure; part of `decide`. */
import type { DrainLimitsInForce } from '../../../shared/domain/drain-limits.ts';
import { QUARANTINE_ANNOTATION } from '../../../shared/domain/quarantine.ts';
import type { DecisionOf } from './decision.ts';
import type { DrainObservation, DrainConfiguration } from './observation.ts';
import { isWaiting } from './phase.ts';
import { waitsForNobody } from './queue.ts';
import type { ActiveDrain } from '../record.ts';
import type { DrainRequest } from '../request-record.ts';

type PauseDecision = DecisionOf<'pause'>;

/** The pause that keeps the next drain from beginning; undefined: it may begin. */
export function pauseBeforeBegin(observation: DrainObservation): PauseDecision | undefined {
  const { configuration, mode, limits, record } = observation;
  return (
    outOfSight(observation) ??
    pauseByConfiguration(configuration, mode) ??
    policyUnknown(observation) ??
    unreadableLimits(limits, record.requests) ??
    coverageUnknown(observation)
  );
}

/**
 * The pause of the drain under way; undefined: it goes on. Once it has begun it goes on whatever mode and limits are by now; one that waits has
 * not begun.
 */
export function pauseWhileActive(observation: DrainObservation, active: ActiveDrain): PauseDecision | undefined {
  const { configuration, mode, limits } = observation;
  const waits = isWaiting(active);
  return (
    outOfSight(observation) ??
    pauseByConfiguration(configuration, waits ? mode : 'Enforce') ??
    (waits ? unreadableLimits(limits, active.requests) : undefined)
  );
}

/** Pauses where nobody can say how many drains are allowed, unless a request waits for nobody. */
function unreadableLimits(limits: DrainLimitsInForce, requests: readonly DrainRequest[]): PauseDecision | undefined {
  if (limits.kind !== 'unreadable' || requests.some(waitsForNobody)) return undefined;
  return { kind: 'pause', reason: 'UnreadableLimits', message: limits.message };
}

function pauseByConfiguration(
  configuration: DrainConfiguration | undefined,
  mode: 'Enforce' | 'Observe',
): PauseDecision | undefined {
  if (configuration === undefined) {
    const message =
      'no key of a valid config.toml in ConfigMap curfew/curfew-config says how nodes are drained: the drain waits for userNamespaces, podDrainPolicies or customDrain';
    return { kind: 'pause', reason: 'NoConfiguration', message };
  }
  if (mode === 'Enforce') return undefined;
  return { kind: 'pause', reason: 'ObserveMode', message: 'mode is Observe: nothing is drained' };
}

/**
 * Pauses where a kind is not served: nobody can say whether the drain is only observed, nor which pods are protected (I6). Its time-outs stand
 * still, too.
 */
function outOfSight({ outOfSight: message }: DrainObservation): PauseDecision | undefined {
  return message === undefined ? undefined : { kind: 'pause', reason: 'KindNotServed', message };
}

/** Pauses before a drain begins by a guess, where the author of a policy may only observe (I6). A drain under way goes on. */
function policyUnknown({ unreadable }: DrainObservation): PauseDecision | undefined {
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
