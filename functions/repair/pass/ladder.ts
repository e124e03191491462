/** The rungs of `repair.actions`, and where an attempt stands on them. Pure. */
import type { RepairAction, RepairSettings } from '../../../shared/domain/repair-policy.ts';
import { addDuration, isDue, type DurationMs, type EpochMs } from '../../../shared/domain/time.ts';
import type { RepairAttempt, RungType } from './pool.ts';

export interface Rung {
  readonly type: RungType;
  readonly timeout: DurationMs;
  readonly template?: string | undefined;
}

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
 * the same act is not repeated for the same incident. A ladder that was edited meanwhile begins anew.
 */
export type Standing =
  { readonly kind: 'waiting' } | { readonly kind: 'next'; readonly rung: number } | { readonly kind: 'exhausted' };

export function standingOf(attempt: RepairAttempt, rungs: readonly Rung[], now: EpochMs): Standing {
  const { phase, answer, until } = attempt;
  if (phase === 'intended' || phase === 'refused') return { kind: 'waiting' };
  if (answer?.kind === 'stopped') return { kind: 'exhausted' };
  if (answer === undefined && (until === undefined || !isDue(now, until))) return { kind: 'waiting' };
  const rung = rungs[attempt.rung]?.type === attempt.action ? attempt.rung + 1 : 0;
  return rung < rungs.length ? { kind: 'next', rung } : { kind: 'exhausted' };
}
