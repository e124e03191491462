import { durationBetween, type DurationMs, type EpochMs } from '../shared/domain/time.ts';
import type { ForwarderStats } from './stats.ts';

export interface Readiness {
  readonly ready: boolean;
  /** Reasons why the forwarder is not ready, one line each; empty when it is. */
  readonly reasons: readonly string[];
}

/**
 * Ready: every resource was listed and something was heard of it lately, and the bus takes events. A resource that is not served
 * (its CRD is missing) has nothing to say, and that is known: it does not block readiness. A watch that a FinalizerRule or a drain
 * asks for has its state in the events of that object.
 */
export function assessReadiness(stats: ForwarderStats, now: EpochMs, staleAfter: DurationMs): Readiness {
  const reasons: string[] = [];
  for (const { resource, optional, state, staleness, problem } of stats.resources) {
    if (optional) continue;
    const because = problem === undefined ? '' : ` (${problem})`;
    if (state === 'starting') reasons.push(`${resource}: not listed yet${because}`);
    else if (staleness > staleAfter) reasons.push(`${resource}: nothing heard for ${inSeconds(staleness)}${because}`);
  }
  if (stats.bus !== undefined && durationBetween(stats.bus.since, now) > staleAfter) {
    reasons.push(`bus: takes nothing for ${inSeconds(durationBetween(stats.bus.since, now))} (${stats.bus.reason})`);
  }
  return { ready: reasons.length === 0, reasons };
}

const inSeconds = (duration: DurationMs): string => `${Math.floor(duration / 1000)} s`;
