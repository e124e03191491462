/** How a pass tells of what it decided and did: audit lines, metrics and Events. What of it is news stands in `news.ts`. */
import { REPAIR_METRICS } from '../../../shared/contract/metrics.ts';
import type { PodView } from '../../../shared/domain/pod.ts';
import { isProtected } from '../../../shared/domain/protection.ts';
import type { EpochMs } from '../../../shared/domain/time.ts';
import type { ObjectEvent } from '../../../shared/ports/event-recorder.ts';
import { protectionOf, type PoolRules } from '../observe.ts';
import { reportOfVerdict, reportsOfAct, vetoFault, type Place } from '../report.ts';
import type { PassDeps } from './deps.ts';
import { codeOf, countHeld, type News } from './news.ts';
import type { PoolState, RepairAttempt } from './pool.ts';
import type { Verdict } from './verdict.ts';

type SayDeps = Pick<PassDeps, 'reporter' | 'events'>;

/**
 * Says what is news, before it is recorded that it was said: a run that ends in between says it once more, and never not at all (I9).
 *
 * @param told what this run has said: one that looks again because it lost a race does not repeat it
 */
export async function say(
  deps: SayDeps,
  verdicts: readonly Verdict[],
  news: News | undefined,
  place: Place,
  told: Set<string>,
): Promise<void> {
  const isNew = (verdict: Verdict): boolean => {
    const key = keyOf(verdict);
    const isTold = told.has(key);
    told.add(key);
    return !isTold;
  };
  const acts = verdicts.filter(({ kind }) => kind === 'wouldRepair' || kind === 'recovered');
  for (const verdict of [...acts, ...(news?.verdicts ?? [])].filter(isNew)) {
    await deps.reporter.report(reportOfVerdict(verdict, place));
    const fault = vetoFault(verdict);
    if (fault !== undefined) await deps.events.record(fault);
  }
  for (const verdict of (news?.repeated ?? []).filter(isNew)) {
    await deps.reporter.report({ ...reportOfVerdict(verdict, place), isRepeated: true });
  }
}

const keyOf = (verdict: Verdict): string => `${verdict.node.uid} ${codeOf(verdict) ?? verdict.kind}`;

/** Counts how the pool stands, once that is recorded. */
export async function count(
  deps: Pick<PassDeps, 'metrics' | 'repairsChanged'>,
  verdicts: readonly Verdict[],
  { pool }: Place,
  { before, after }: { readonly before: PoolState; readonly after: PoolState },
): Promise<void> {
  const nodePool = pool ?? 'none';
  for (const [reason, list] of Map.groupBy(verdicts.filter(isHeld), reasonOf)) {
    deps.metrics.count(REPAIR_METRICS.held, list.length, { nodePool, reason });
  }
  deps.metrics.count(REPAIR_METRICS.underWay, after.attempts.length, { nodePool });
  const isSame = countHeld(before.said) === countHeld(after.said) && before.attempts.length === after.attempts.length;
  if (!isSame) await deps.repairsChanged();
}

const isHeld = ({ kind }: Verdict): boolean => kind === 'blocked' || kind === 'vetoed';
const reasonOf = (verdict: Verdict): string => (verdict.kind === 'blocked' ? verdict.reason : 'DoNotRepair');

/** An act that was carried out. */
interface Act {
  readonly attempt: RepairAttempt;
  readonly message: string;
  readonly place: Place;
  /** Of the node, as far as they were looked up. */
  readonly pods: readonly PodView[];
  readonly rules: PoolRules;
}

/** Writes down that an act was carried out. Answers the Events that tell of it: they are recorded when all acts of the pass are done. */
export async function noteAct(
  deps: PassDeps,
  { attempt, message, place, pods, rules }: Act,
): Promise<readonly ObjectEvent[]> {
  const protectedPods = protectedBy(attempt, pods, rules, deps.clock.now());
  const { reports, events } = reportsOfAct(attempt, message, place, protectedPods);
  for (const report of reports) await deps.reporter.report(report);
  deps.metrics.count(REPAIR_METRICS.started, 1, {
    nodePool: place.pool ?? 'none',
    condition: attempt.incident.conditionType,
    action: attempt.action,
  });
  return events;
}

/** Those that the act takes although they are protected (I2); a drain, and who answers to a custom resource, respect them. */
function protectedBy(
  { action }: RepairAttempt,
  pods: readonly PodView[],
  rules: PoolRules,
  now: EpochMs,
): readonly string[] {
  if (action !== 'Terminate' && action !== 'Reboot') return [];
  const { policy } = protectionOf(rules);
  return pods
    .filter(pod => isProtected(pod, now, policy))
    .map(({ namespace, name }) => `${namespace}/${name}`)
    .toSorted();
}
