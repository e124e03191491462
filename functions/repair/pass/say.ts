/**
 * How a pass reports what it decided, and what of it is new. A pool of a thousand blocked nodes is looked at after each change, and
 * nobody wants a thousand audit lines and Events each time: a verdict is said when it is another one than before. Its Event is recorded
 * again from time to time, for the API server forgets Events after an hour.
 */
import { REPAIR_METRICS } from '../../../shared/contract/metrics.ts';
import type { PodView } from '../../../shared/domain/pod.ts';
import { isProtected } from '../../../shared/domain/protection.ts';
import { addDuration, earliest, isDue, minutes, type EpochMs } from '../../../shared/domain/time.ts';
import type { ObjectEvent } from '../../../shared/ports/event-recorder.ts';
import type { PoolRules } from '../observation.ts';
import { protectionOf } from '../observe.ts';
import { reportOfVerdict, reportsOfAct, vetoFault, type Place } from '../report.ts';
import { PASS_SETTLES_AFTER, PASS_SPACING, type PassDeps } from './deps.ts';
import type { PoolState, RepairAttempt, Said } from './pool.ts';
import type { Verdict } from './verdict.ts';
import { BLOCKED_CODES, CODES, HELD_CODES } from './verdict-codes.ts';

export const REPEAT_AFTER = minutes(5);
/** So many are said by one pass, so that it ends in time; the others by the passes that follow, one a second. */
export const MAX_SAID = 200;

export interface News {
  readonly verdicts: readonly Verdict[];
  /** Said before and still so: of these the Event alone is recorded again. */
  readonly repeated: readonly Verdict[];
  readonly said: Said;
  /** Some were left for the next pass. */
  readonly hasMore: boolean;
}

/** What of these is said now. Acts (`repair`, `wouldRepair`, `recovered`) are always said, by the run that carries them out. */
export function newsOf(verdicts: readonly Verdict[], before: Said, now: EpochMs): News {
  const nodes: Record<string, string> = {};
  const news: Verdict[] = [];
  const known: Verdict[] = [];
  let hasMore = false;
  for (const verdict of verdicts) {
    const code = codeOf(verdict);
    if (code === undefined) continue;
    const key = shortHash(verdict.node.uid);
    if (before.nodes[key] === code) {
      nodes[key] = code;
      known.push(verdict);
    } else if (news.length >= MAX_SAID) hasMore = true;
    else {
      nodes[key] = code;
      news.push(verdict);
    }
  }
  const isRound = isDue(now, before.againTime);
  const againTime = isRound ? addDuration(now, REPEAT_AFTER) : before.againTime;
  return { verdicts: news, repeated: isRound ? turnOf(known, now) : [], said: { againTime, nodes }, hasMore };
}

/** Some of them, so that all have their turn. */
function turnOf(verdicts: readonly Verdict[], now: EpochMs): readonly Verdict[] {
  const turns = Math.ceil(verdicts.length / MAX_SAID);
  const turn = turns === 0 ? 0 : Math.floor(now / REPEAT_AFTER) % turns;
  return verdicts.slice(turn * MAX_SAID, (turn + 1) * MAX_SAID);
}

const codeOf = (verdict: Verdict): string | undefined =>
  verdict.kind === 'blocked' ? BLOCKED_CODES[verdict.reason] : CODES[verdict.kind];

/** Due nodes that are held back, by what the passes said last. */
export function countHeld({ nodes }: Said): number {
  return Object.values(nodes).filter(code => HELD_CODES.includes(code)).length;
}

/** Whether the passes said something of the node that is still so. */
export const wasSaid = ({ nodes }: Said, uid: string): boolean => nodes[shortHash(uid)] !== undefined;

/** 32 bits of FNV-1a: two nodes of ten thousand that share one cost at most an Event that comes five minutes late. */
function shortHash(text: string): string {
  let hash = 0x81_1c_9d_c5;
  for (let index = 0; index < text.length; index++) {
    hash = Math.imul(hash ^ text.charCodeAt(index), 0x01_00_01_93);
  }
  return (hash >>> 0).toString(36);
}

/** When the next pass is needed, for the pool's sake or to say something. */
export function wakeTimeOf(wakeTime: EpochMs | undefined, { said, hasMore }: News, now: EpochMs): EpochMs {
  const again = Object.keys(said.nodes).length > 0 ? said.againTime : undefined;
  const more = hasMore ? addDuration(now, PASS_SPACING) : undefined;
  return [wakeTime, again, more].reduce(earliest, undefined) ?? addDuration(now, PASS_SETTLES_AFTER);
}

/**
 * Says what is news, before it is recorded that it was said: a run that ends in between says it once more, and never not at all (I9).
 *
 * @param told what this run has said: one that looks again because it lost a race does not repeat it
 */
export async function say(
  deps: Pick<PassDeps, 'reporter' | 'events'>,
  verdicts: readonly Verdict[],
  news: News | undefined,
  { place, told }: { readonly place: Place; readonly told: Set<string> },
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
