/**
 * How a pass says what it found, and what of it is new: a verdict is said when it is another one than before, and its Event once an hour, for the
 * API server forgets Events after that. One pass says Events about so many nodes; the others have the next.
 */
import { REPAIR_METRICS } from '../../shared/contract/metrics.ts';
import type { NodeView } from '../../shared/domain/node.ts';
import type { PodView } from '../../shared/domain/pod.ts';
import { isProtected } from '../../shared/domain/protection.ts';
import { addDuration, earliest, hours, isDue, minutes, seconds, type EpochMs } from '../../shared/domain/time.ts';
import type { End } from './actions/replace.ts';
import { isUnbounded } from './rule/attempt.ts';
import type { Carried, PassDeps } from './deps.ts';
import type { PassObservation } from './look.ts';
import { protectionOf } from './observe.ts';
import type { Attempt, PoolRecord } from './rule/record.ts';
import {
  eventOf,
  reportOfDoubt,
  reportOfLeft,
  reportOfMissing,
  reportOfRefusal,
  reportOfReplacement,
  reportOfVerdict,
  reportsOfAct,
  vetoFault,
} from './report.ts';
import type { DecisionScope, Refused } from './report.ts';
import { codeOf, verdictOf } from './rule/turn.ts';
import type { NodeLook, NodeName, Verdict } from './rule/verdict.ts';

/** An Event of one reason about one node comes once in so long, unless its cause changes. */
const REPEAT_AFTER = hours(1);
const MOST_SAID = 200;
/** A node that was terminated counts as not replaced after this long. */
const REPLACED_WITHIN = minutes(15);

export interface Speaker {
  /** Says what is news, before it is recorded that it was said: a run that ends in between says it once more (I9). */
  sayAll(
    looks: readonly NodeLook[],
  ): Promise<{ readonly looks: readonly NodeLook[]; readonly time: EpochMs | undefined }>;
  /** @param isKnown the Event stands there already, with the same words */
  sayRefused(refused: Refused, options?: { readonly isRepeated?: boolean; readonly isKnown?: boolean }): Promise<void>;
  sayLeft(node: NodeName, text: string, isRepeated: boolean): Promise<void>;
  /** A replacement is deleted, or stays for good. */
  sayReplacement(node: NodeName, replacement: string, end: End): Promise<void>;
  /** How many of the nodes that were terminated have no node in their place: on the NodePool, hourly. */
  sayMissing(
    seen: PassObservation,
    state: PoolRecord,
    nodes: readonly NodeView[],
  ): Promise<{ readonly state: Partial<PoolRecord>; readonly time: EpochMs | undefined }>;
  /** Counts how the pool stands, once that is recorded. */
  count(before: PoolRecord, after: PoolRecord, looks: readonly NodeLook[]): Promise<void>;
}

export function createSpeaker(deps: PassDeps, scope: DecisionScope, now: EpochMs): Speaker {
  const { reporter } = deps;
  return {
    async sayAll(looks) {
      let left = MOST_SAID;
      let time: EpochMs | undefined;
      const next: NodeLook[] = [];
      for (const look of looks) {
        const { record } = look;
        const verdict = verdictOf(look);
        const code = verdict && codeOf(verdict);
        if (verdict === undefined || code === undefined) {
          if (verdict !== undefined && verdict.kind !== 'repair') await sayVerdict(deps, verdict, scope, {});
          next.push(look);
          continue;
        }
        const said = record?.said;
        const last = said?.times[code];
        const isKnown = said?.code === code;
        const isRecent = last !== undefined && !isDue(now, addDuration(last, REPEAT_AFTER));
        if (isKnown && isRecent) {
          if (hasEvent(verdict)) time = earliest(time, addDuration(last, REPEAT_AFTER));
          next.push(look);
          continue;
        }
        if (left === 0) {
          time = earliest(time, addDuration(now, seconds(1)));
          next.push(look);
          continue;
        }
        left -= 1;
        await sayVerdict(deps, verdict, scope, { isRepeated: isKnown, isSilent: isRecent });
        if (hasEvent(verdict)) time = earliest(time, addDuration(isRecent ? last : now, REPEAT_AFTER));
        next.push(withSaid(look, code, isRecent ? last : now, now));
      }
      return { looks: next.map(worthKeeping), time };
    },
    async sayRefused(refused, { isRepeated = false, isKnown = false } = {}) {
      const { event, ...report } = reportOfRefusal(refused, scope);
      await reporter.report({ ...report, isRepeated, ...(event && !isKnown && { event }) });
    },
    sayLeft: (node, text, isRepeated) => reporter.report({ ...reportOfLeft(node, scope, text), isRepeated }),
    sayReplacement: (node, replacement, end) => reporter.report(reportOfReplacement(node, scope, replacement, end)),
    async sayMissing({ rules: { pool } }, state, nodes) {
      const { time, missing } = missingOf(state, nodes, now);
      if (pool === undefined || missing === 0) return { state: {}, time };
      const next = state.missingTime && addDuration(state.missingTime, REPEAT_AFTER);
      if (next !== undefined && !isDue(now, next)) return { state: {}, time: earliest(time, next) };
      await reporter.report({ ...reportOfMissing(pool, missing, scope), isRepeated: next !== undefined });
      return { state: { missingTime: now }, time: earliest(time, addDuration(now, REPEAT_AFTER)) };
    },
    async count(before, after, looks) {
      const nodePool = scope.pool ?? 'none';
      const held = looks.flatMap(({ verdict }) =>
        verdict?.kind === 'blocked' || verdict?.kind === 'vetoed' ? verdict : [],
      );
      for (const [reason, list] of Map.groupBy(held, each => (each.kind === 'blocked' ? each.reason : 'DoNotRepair'))) {
        deps.metrics.count(REPAIR_METRICS.held, list.length, { nodePool, reason });
      }
      deps.metrics.count(REPAIR_METRICS.underWay, after.counts.repairing, { nodePool });
      const [a, b] = [before.counts, after.counts];
      if (a.held === b.held && a.repairing === b.repairing) return;
      const isZero =
        a.held === 0 || b.held === 0
          ? a.held !== b.held
          : a.repairing !== b.repairing && (a.repairing === 0 || b.repairing === 0);
      await deps.repairsChanged(isZero ? 'zero' : 'count');
    },
  };
}

/** Terminations without a node that was made since, each counted once. */
function missingOf({ terminations }: PoolRecord, nodes: readonly NodeView[], now: EpochMs) {
  const made = nodes.flatMap(({ creationTime }) => creationTime ?? []).toSorted((a, b) => a - b);
  let missing = 0;
  let time: EpochMs | undefined;
  for (const { time: ended } of terminations
    .filter(({ isReplaced }) => isReplaced !== true)
    .toSorted((a, b) => a.time - b.time)) {
    const index = made.findIndex(each => each >= ended);
    if (index >= 0) made.splice(index, 1);
    else if (isDue(now, addDuration(ended, REPLACED_WITHIN))) missing += 1;
    else time = earliest(time, addDuration(ended, REPLACED_WITHIN));
  }
  return { missing, time };
}

/** With what was said now; older than an hour it may be said again. */
function withSaid(look: NodeLook, code: string, time: EpochMs, now: EpochMs): NodeLook {
  if (look.record === undefined) return look;
  const recent = Object.entries(look.record.said?.times ?? {}).filter(
    ([, each]) => !isDue(now, addDuration(each, REPEAT_AFTER)),
  );
  const times = { ...Object.fromEntries(recent), [code]: time };
  return { ...look, record: { ...look.record, said: { code, time: now, times } } };
}

/** A record is written when it says something that the live Node does not. */
function worthKeeping(look: NodeLook): NodeLook {
  const { record } = look;
  if (record === undefined) return look;
  const { said, attempt, illness, ours, acts, others, episodes, clocks } = record;
  const isWorth =
    said !== undefined ||
    attempt !== undefined ||
    illness !== undefined ||
    ours !== undefined ||
    others !== undefined ||
    acts.length > 0 ||
    episodes.length > 0 ||
    (verdictOf(look) === undefined && Object.keys(clocks).length > 0);
  return isWorth ? look : { ...look, record: undefined };
}

/** Whether it has one that is said hourly: a toleration is announced once. */
const hasEvent = (verdict: Verdict): boolean => verdict.kind !== 'tolerate' && eventOf(verdict) !== undefined;

async function sayVerdict(
  deps: PassDeps,
  verdict: Verdict,
  scope: DecisionScope,
  { isRepeated = false, isSilent = false }: { readonly isRepeated?: boolean; readonly isSilent?: boolean },
): Promise<void> {
  if (isRepeated && !hasEvent(verdict)) return;
  if (verdict.kind === 'tolerate' && !isRepeated) {
    for (const doubt of verdict.doubts) await deps.reporter.report(reportOfDoubt(verdict.node, doubt, scope));
  }
  const { event, ...report } = reportOfVerdict(verdict, scope);
  await deps.reporter.report({ ...report, isRepeated, ...(event && !isSilent && { event }) });
  const fault = isRepeated ? undefined : vetoFault(verdict);
  if (fault !== undefined) await deps.events.record(fault);
}

/** An act that was carried out. */
type Acted = {
  readonly node: NodeName;
  readonly attempt: Attempt;
  readonly pods: readonly PodView[];
  readonly message: string;
};

/** Writes down that an act was carried out, and tells of it (I2, I9). */
export async function sayActed(deps: PassDeps, seen: PassObservation, acted: Carried | Acted): Promise<void> {
  const found = 'granted' in acted ? ofCarried(acted) : acted;
  if (found === undefined) return;
  const { attempt, pods } = found;
  const protectedPods = protectedBy(attempt, pods, seen, deps.clock.now());
  const { reports, events } = reportsOfAct(found, seen.scope, protectedPods);
  for (const report of reports) await deps.reporter.report(report);
  deps.metrics.count(REPAIR_METRICS.started, 1, {
    nodePool: seen.pool ?? 'none',
    condition: attempt.incident.conditionType,
    action: attempt.action,
  });
  for (const event of events) await deps.events.record(event);
}

function ofCarried({ granted: { look, message, rest, rank }, outcome }: Carried) {
  if (outcome.kind !== 'accepted' || outcome.isOther === true) return undefined;
  const { attempt, pods } = outcome;
  return { node: look.node, attempt, pods, message, rest, rank };
}

/** Those that the act takes although they are protected (I2); a drain, and who answers to a custom resource, respect them. */
function protectedBy(
  attempt: Attempt,
  pods: readonly PodView[],
  { rules }: PassObservation,
  now: EpochMs,
): readonly string[] {
  const { action } = attempt;
  if ((action !== 'Terminate' && action !== 'Reboot') || isUnbounded(attempt)) return [];
  const { policy } = protectionOf(rules);
  return pods
    .filter(pod => isProtected(pod, now, policy))
    .map(({ namespace, name }) => `${namespace}/${name}`)
    .toSorted();
}
