/**
 * One pass of a pool: observe → judge each node → decide for the pool → apply. Only a pass writes the records of its
 * pool, so that a pass that dies is followed by another one that looks again.
 */
import { apply } from './apply.ts';
import type { PassDeps } from './context.ts';
import {
  guardInputsOf,
  type JudgedPool,
  judgePool,
  nextRead,
  PASS_SPACING,
  spacingAfter,
  nodesToConfirm,
} from './decide.ts';
import { observe, observeLimits, type ObservedPool, readOn } from './observe.ts';
import { readAsks } from './passes.ts';
import { poolText } from './record.ts';
import { durationBetween, type DurationMs } from '../../shared/domain/time.ts';
import { RetryableError } from '../../shared/errors.ts';
import type { Ask } from '../../shared/lifecycle/next-round.ts';

/** One pass of a pool. Answers how long the next pass waits. */
export async function runPass(deps: PassDeps, pool: string | undefined, asks: readonly Ask[]): Promise<DurationMs> {
  const startTime = deps.clock.now();
  const first = await observe(deps, pool, readAsks(asks));
  if (first === 'newer') return leaveToNewer(pool, asks);
  const { observed, judged } = await judge(deps, first);
  const { poolSettings, poolRecord, nodesElsewhere } = observed;
  const { findings } = judged;
  const guardInputs = guardInputsOf(observed, judged);
  // No record and no findings: there is nothing to decide.
  const hasNothingToDo = !observed.hadPoolRecord && findings.length === 0;
  const limits = hasNothingToDo ? undefined : await observeLimits(deps, observed, nodesToConfirm(judged, guardInputs));
  if (limits === 'newer') return leaveToNewer(pool, asks);
  for (const { pool: other, ...node } of nodesElsewhere) await deps.ask(other, { kind: 'node', ...node });
  if (limits === undefined) return spacingAfter(durationBetween(startTime, deps.clock.now()));

  const { now, answers, reserved } = limits;
  const concurrencyLimits = reserved && ((own: ReadonlySet<string>) => reserved.concurrencyLimits(own, now));
  const decision = deps.decide({
    now,
    pool,
    repair: poolSettings.repair,
    findings,
    poolRecord,
    guardInputs,
    answers,
    concurrencyLimits,
  });

  await apply(deps, decision, observed, { now, reserved });
  return spacingAfter(durationBetween(startTime, deps.clock.now()), decision);
}

/** Judges each node, and reads on as long as the findings ask for more: nothing is read twice. */
async function judge(
  deps: PassDeps,
  first: ObservedPool,
): Promise<{ readonly observed: ObservedPool; readonly judged: JudgedPool }> {
  let observed = first;
  let judged = judgePool(observed, deps.judgeNode);
  for (let next = nextRead(observed, judged); next !== undefined; next = nextRead(observed, judged)) {
    observed = await readOn(deps, observed, next);
    judged = judgePool(observed, deps.judgeNode, judged);
  }
  return { observed, judged };
}

/**
 * Leaves the pool to a later version, which keeps one of its records and looks for itself. A message that nobody
 * repeats stays in its queue for that version.
 */
function leaveToNewer(pool: string | undefined, asks: readonly Ask[]): DurationMs {
  if (!asks.some(({ kind }) => kind === 'message')) return PASS_SPACING;
  throw new RetryableError(`a record of ${poolText(pool)} was written by a newer version`, { reason: 'NewerRecord' });
}
