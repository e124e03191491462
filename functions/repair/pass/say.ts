/** How a pass tells of what it decided. */
import { REPAIR_METRICS } from '../../../shared/contract/metrics.ts';
import { addDuration, earliest, type EpochMs } from '../../../shared/domain/time.ts';
import { reportOfVerdict, vetoFault, type Place } from '../report.ts';
import type { PassDeps } from './deps.ts';
import type { Verdict } from './look.ts';
import type { PoolState } from './pool.ts';
import { countHeld, type News } from './said.ts';
import { PASS_SETTLES_AFTER, PASS_SPACING } from './timing.ts';

/** When the next pass is needed, for the pool's sake or to say something. */
export function wakeTimeOf(wakeTime: EpochMs | undefined, { said, hasMore }: News, now: EpochMs): EpochMs {
  const again = Object.keys(said.nodes).length > 0 ? said.againTime : undefined;
  const more = hasMore ? addDuration(now, PASS_SPACING) : undefined;
  return [wakeTime, again, more].reduce(earliest, undefined) ?? addDuration(now, PASS_SETTLES_AFTER);
}

/** Says what is news, after it happened. */
export async function say(
  deps: PassDeps,
  verdicts: readonly Verdict[],
  news: News | undefined,
  place: Place,
  { before, after }: { readonly before: PoolState; readonly after: PoolState },
): Promise<void> {
  const acts = verdicts.filter(({ kind }) => kind === 'wouldRepair' || kind === 'recovered');
  for (const verdict of [...acts, ...(news?.verdicts ?? [])]) {
    await deps.reporter.report(reportOfVerdict(verdict, place));
    const fault = vetoFault(verdict);
    if (fault !== undefined) await deps.events.record(fault);
  }
  const nodePool = place.pool ?? 'none';
  for (const [reason, list] of Map.groupBy(verdicts.filter(isHeld), reasonOf)) {
    deps.metrics.count(REPAIR_METRICS.held, list.length, { nodePool, reason });
  }
  deps.metrics.count(REPAIR_METRICS.underWay, after.attempts.length, { nodePool });
  const isSame = countHeld(before.said) === countHeld(after.said) && before.attempts.length === after.attempts.length;
  if (!isSame) await deps.repairsChanged();
}

const isHeld = ({ kind }: Verdict): boolean => kind === 'blocked' || kind === 'vetoed';
const reasonOf = (verdict: Verdict): string => (verdict.kind === 'blocked' ? verdict.reason : 'DoNotRepair');
