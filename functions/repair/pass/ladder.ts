/** The ladder `repair.actions`: its rungs, and how far an attempt is on it. Pure. */
import type { RepairAction, RepairSettings } from '../../../shared/domain/repair-policy.ts';
import { addDuration, isDue, type EpochMs } from '../../../shared/domain/time.ts';
import type { RepairRules } from '../decide.ts';
import type { RepairAttempt, Rung } from './pool.ts';

/** `DrainThenTerminate` is two rungs: a drain of at most its timeout, and the termination. */
export function rungsOf({ actions }: Pick<RepairSettings, 'actions'>): readonly Rung[] {
  return actions.flatMap(({ type, timeout, template }: RepairAction): Rung[] => {
    if (type === 'DrainThenTerminate') {
      return [
        { type: 'Drain', timeout },
        { type: 'Terminate', timeout },
      ];
    }
    return [{ type, timeout, ...(template !== undefined && { template }) }];
  });
}

/** Until when an attempt at this rung may take; a termination takes as long as it takes. */
export function rungDeadline(rung: Rung, now: EpochMs): EpochMs | undefined {
  return rung.type === 'Terminate' ? undefined : addDuration(now, rung.timeout);
}

/**
 * Where an attempt stands: it has time left (`waiting`), the next rung follows (`next`), or nothing is left to try (`exhausted`):
 * the same act is not repeated for the same incident. A ladder that was edited meanwhile begins again.
 */
export type Standing =
  { readonly kind: 'waiting' } | { readonly kind: 'next'; readonly rung: number } | { readonly kind: 'exhausted' };

/** @param rungs the ladder as it is configured now */
export function standingOf(attempt: RepairAttempt, rungs: readonly Rung[], now: EpochMs): Standing {
  const { phase, answer, until } = attempt;
  if (phase === 'intended' || phase === 'refused') return { kind: 'waiting' };
  if (answer?.kind === 'stopped') return { kind: 'exhausted' };
  if (answer === undefined && (until === undefined || !isDue(now, until))) return { kind: 'waiting' };
  const rung = rungs[attempt.rung]?.type === attempt.action ? attempt.rung + 1 : 0;
  return rung < rungs.length ? { kind: 'next', rung } : { kind: 'exhausted' };
}

/** What counts against the limits on concurrent repairs: until nothing is left to try. */
export function underWayOf(
  attempts: readonly RepairAttempt[],
  settings: RepairRules['settings'],
  now: EpochMs,
): readonly RepairAttempt[] {
  if (settings === undefined || 'invalid' in settings) return attempts;
  return attempts.filter(attempt => standingOf(attempt, rungsOf(settings), now).kind !== 'exhausted');
}
