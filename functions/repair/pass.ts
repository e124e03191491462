/**
 * One pass of a pool does everything: find, rank, guard, act, follow, report. Order of writes: pool (who is in flight) → limits → node (intent)
 * → look again → act → node (outcome) → pool. A run that dies in between leaves places taken until the next pass looks, never one too
 * many, and no act is repeated: an intent without an outcome is resolved by looking (I4).
 */
import { isDeepStrictEqual } from 'node:util';
import { fewAtATime } from '../../shared/cluster/in-parallel.ts';
import { loadPodsOnNode } from '../../shared/cluster/protected-pods.ts';
import {
  addDuration,
  earliest,
  hours,
  minutes,
  toDurationMs,
  type DurationMs,
  type EpochMs,
} from '../../shared/domain/time.ts';
import { joinFailures, RetryableError, TerminalError } from '../../shared/errors.ts';
import type { Scopes } from '../../shared/lifecycle/next-round.ts';
import { carryOut, withOutcomes } from './act.ts';
import { withIntent } from './actions/custom-resource.ts';
import { nodeSubject, normalNode, normalPool, poolSubject, readAsks } from './rule/codec.ts';
import type { Granted, PoolDecision } from './rule/decide.ts';
import type { Carried, PassDeps, PassWithAsk } from './deps.ts';
import { isBeforeReboot } from './rule/ladder.ts';
import { giveBack, openReservations, type Reserved } from './limits.ts';
import { look, type PassObservation } from './look.ts';
import { askEc2 } from './observe.ts';
import type { NodeRecord, PoolRecord } from './rule/record.ts';
import { reportOfLost } from './report.ts';
import { newNode, withoutAttempt } from './rule/attempt.ts';
import { PASS_SPACING } from './rule/times.ts';
import { createSpeaker, sayActed, type Speaker } from './say.ts';
import { TAKE_BACK, takeBack } from './take-back.ts';
import type { NodeLook, NodeName, Unsaid } from './rule/verdict.ts';

/** Two passes are as far apart as three times what the last one took (`rule/times.ts` has the least), … */
const SPACING_BY_DURATION = 3;
/** … and a minute while freeze or a zone hold. */
const OUTAGE_SPACING = minutes(1);
/** One pass writes so many records of nodes beside those that it acts on. */
const MOST_WRITES = 200;
/** A pass that dies while it acts is taken up by the next one after this long. */
const TAKEN_UP_AFTER = minutes(1);
/** A pool that is remembered and waits for nothing is looked at again after this long. */
const QUIET_POOL_CHECK = hours(1);
/** What is remembered of a node is looked at again after this long, whether or not it is ill. */
const NODE_CHECK = hours(25);

/** Answers how long the next pass waits. */
export async function runPass(deps: PassWithAsk, pool: string | undefined, scopes: Scopes): Promise<DurationMs> {
  const startTime = deps.clock.now();
  const seen = await look(deps, pool, readAsks(scopes));
  if (seen === 'newer') return PASS_SPACING;
  const isOutage = seen === 'nothing' ? false : await decideAndAct(deps, seen);
  const took = (deps.clock.now() - startTime) * SPACING_BY_DURATION;
  return toDurationMs(Math.max(PASS_SPACING, took, isOutage ? OUTAGE_SPACING : 0));
}

async function decideAndAct(deps: PassWithAsk, seen: PassObservation): Promise<boolean> {
  const { pool, rules, state, nodes } = seen;
  const { limits } = rules.rules;
  const reserved =
    limits === undefined || seen.cluster === undefined
      ? undefined
      : await openReservations(deps, {
          pool,
          limits,
          nodes: seen.cluster.nodes,
          pools: [undefined, ...seen.cluster.pools],
        });
  if (reserved === 'newer') return false;
  const now = deps.clock.now();
  const { surroundings, looks } = seen;
  const gate = reserved && ((own: ReadonlySet<string>) => reserved.gate(own, now));
  const answers = await askEc2(deps, looks, surroundings);
  const decision = deps.decidePool({ now, pool, rules: rules.rules, looks, state, surroundings, answers, gate });
  const speaker = createSpeaker(deps, seen.scope, now);
  const cleaned = await cleanUp(deps, seen, decision, speaker);
  const acted = await act(deps, seen, { ...decision, looks: cleaned.looks }, reserved);
  const outcomes = await withOutcomes(deps, acted.carried, seen, speaker);
  const looked = cleaned.looks.map(each => outcomes.looks.get(each.node.uid)?.(each) ?? each);
  const failures = [...cleaned.failures, ...acted.failures, ...outcomes.failures];
  for (const carried of acted.carried) await sayActed(deps, seen, carried);
  const said = await speaker.sayAll(looked);
  const wroteAll = await writeNodes(
    deps,
    seen,
    said.looks,
    new Set(acted.carried.map(({ granted }) => granted.look.node.uid)),
  );
  const after = outcomes.pool(decision.state, looked);
  const times = [cleaned.time, outcomes.time, said.time, wroteAll ? undefined : addDuration(now, PASS_SPACING)];
  const wakeTime = times.reduce(earliest, decision.wakeTime);
  const missing = await speaker.sayMissing(seen, after, nodes);
  await writePool(deps, seen, { ...after, ...missing.state }, earliest(wakeTime, missing.time));
  if (reserved !== undefined) await reserved.settle(new Set(Object.keys(after.inFlight)));
  else if (limits !== undefined) await giveBack(deps, pool, after);
  await speaker.count(state, after, looked);
  if (failures.length > 0) throw joinFailures(failures);
  return decision.isOutage;
}

/** Takes back what is not wanted any more, and says what runs that died left unsaid. */
async function cleanUp(deps: PassDeps, seen: PassObservation, { looks }: PoolDecision, speaker: Speaker) {
  const failures: unknown[] = [];
  const next: NodeLook[] = [];
  let time: EpochMs | undefined;
  for (const each of looks) {
    for (const unsaid of each.unsaid) await sayUnsaid(deps, seen, speaker, { node: each.node, unsaid });
    const held = seen.held.get(each.node.uid)?.value;
    const record = each.record ?? (each.takesBack && held ? withoutLast(held) : undefined);
    if (!each.takesBack || record === undefined) {
      next.push(each);
      continue;
    }
    try {
      const left = await takeBack(deps, each.node, record, {
        claims: seen.claims,
        isGone: each.view === undefined,
        say: (text, isRepeated) => speaker.sayLeft(each.node, text, isRepeated),
        sayEnded: (replacement, end) => speaker.sayReplacement(each.node, replacement, end),
      });
      time = earliest(time, left.time);
      const isOwed = left.record.refusals?.[TAKE_BACK] !== undefined;
      const kept = each.record !== undefined || isOwed ? left.record : undefined;
      const isOver = kept?.attempt === undefined && each.verdict?.kind !== 'stuck';
      const isLeft = isOwed || (each.state === 'followed' && !isOver);
      const state = each.state === 'inFlight' ? each.state : isLeft ? 'followed' : 'quiet';
      next.push({ ...each, record: kept, state });
    } catch (error) {
      failures.push(error);
      next.push({ ...each, record });
    }
  }
  return { looks: next, failures, time };
}

async function sayUnsaid(
  deps: PassDeps,
  seen: PassObservation,
  speaker: Speaker,
  { node, unsaid }: { readonly node: NodeName; readonly unsaid: Unsaid },
): Promise<void> {
  const { kind, attempt } = unsaid;
  switch (kind) {
    case 'lost':
      return deps.reporter.report(reportOfLost(node, attempt, seen.scope));
    case 'carriedOut': {
      const message = `its run ended before it could say so, and attempt ${attempt.number} counts as carried out`;
      const pods = await loadPodsOnNode(deps, node.name);
      return sayActed(deps, seen, { node, attempt, pods, message });
    }
    case 'failedLaunch':
      return speaker.sayRefused({ node, attempt, reason: 'ReplacementUnavailable', text: unsaid.why });
    default:
      kind satisfies never;
  }
}

/** Of a node that is gone: what its last attempt has set is to be taken back, too. */
const withoutLast = (held: NodeRecord): NodeRecord =>
  held.attempt === undefined ? held : withoutAttempt(held, held.attempt);

interface Acted {
  readonly carried: readonly Carried[];
  readonly failures: readonly unknown[];
}

/** Reserves the granted attempts, in the pool's record, in the limits and in their nodes' records (I4), and carries them out. */
async function act(
  deps: PassDeps,
  seen: PassObservation,
  decision: PoolDecision,
  reserved: Reserved | undefined,
): Promise<Acted> {
  const nothing = { carried: [], failures: [] };
  const { granted, inFlight } = decision;
  if (granted.length === 0) return nothing;
  const { pool, record } = seen;
  const wakeTime = addDuration(deps.clock.now(), TAKEN_UP_AFTER);
  const value = { ...decision.state, ramp: seen.state.ramp, counts: seen.state.counts, carried: seen.state.carried };
  const saved = await record.save({ subject: poolSubject(pool), value: normalPool(value), wakeTime, punctual: false });
  if (!saved.written) throw new RetryableError('another pass of the pool is at work', { reason: 'Contended' });
  const places = granted.flatMap(({ look: { view } }) => view ?? []);
  const isFree = (await reserved?.reserve(inFlight, places)) ?? true;
  const intended: { granted: Granted; record: NodeRecord }[] = [];
  await fewAtATime(isFree ? granted : [], async each => {
    const { node } = each.look;
    const planned = decision.looks.find(({ node: { uid } }) => uid === node.uid)?.record;
    if (planned === undefined) return;
    const own = await withNames(deps, seen, each, planned);
    const wakeTime = addDuration(deps.clock.now(), NODE_CHECK);
    const subject = nodeSubject(node.name, node.uid);
    const outcome = await seen.recordOf(node.uid).save({ subject, value: normalNode(own), wakeTime, punctual: false });
    if (outcome.written) intended.push({ granted: each, record: own });
  });
  const isCounted = reserved !== undefined;
  const carried = await carryOut(deps, intended, {
    pool,
    rules: seen.rules,
    claims: [...seen.claims.values()],
    asked: seen.asked,
    isCounted,
  });
  const failures = carried.flatMap(({ outcome }) => (outcome.kind === 'unknown' ? [outcome.error] : []));
  const left = granted.filter(each => !intended.some(({ granted: begun }) => begun === each));
  const why = 'others were faster';
  const undone = left.map((each): Carried => {
    const record = each.look.record ?? newNode(each.look.node.name, pool);
    return { granted: each, record, made: {}, outcome: { kind: 'calledOff', why } };
  });
  return { carried: [...carried, ...undone], failures };
}

/** What an act is going to make stands in the record before it: a run that ends in between leaves something that can be looked for (I7). */
async function withNames(
  deps: PassDeps,
  seen: PassObservation,
  { attempt, rung, look: { view }, message }: Granted,
  record: NodeRecord,
): Promise<NodeRecord> {
  if (attempt.action === 'Replace' && attempt.replacement !== undefined)
    return { ...record, ours: { ...record.ours, replacement: attempt.replacement } };
  if (attempt.action === 'Reboot' || isBeforeReboot(attempt))
    return { ...record, ours: { ...record.ours, maintenance: true } };
  if (attempt.action !== 'CustomResource' || rung.template === undefined || view === undefined) return record;
  const claim = attempt.claim && seen.claims.get(attempt.claim.uid);
  try {
    const pods = await loadPodsOnNode(deps, view.name);
    const { ours: before, acts } = record;
    const context = {
      deps,
      now: deps.clock.now(),
      attempt,
      ours: before,
      acts,
      node: view,
      claim,
      pool: seen.pool,
      nodePool: seen.rules.pool,
      room: { claims: 0, unknown: 0 },
      pods,
      message,
    };
    const ours = await withIntent(context, rung.template);
    return { ...record, ...(ours && { ours }) };
  } catch (error) {
    // The act itself meets the same failure, and makes nothing that is not recorded. What is none of these is a mistake of ours.
    if (!(error instanceof RetryableError || error instanceof TerminalError)) throw error;
    return record;
  }
}

/** Writes what is to be remembered of nodes. False: some are left for the next pass. */
async function writeNodes(
  deps: PassDeps,
  seen: PassObservation,
  looks: readonly NodeLook[],
  acted: ReadonlySet<string>,
): Promise<boolean> {
  const wanted = looks.flatMap(
    ({ node, record }): { readonly node: NodeName; readonly record: NodeRecord | undefined }[] => {
      const held = seen.held.get(node.uid)?.value;
      if (record === undefined) return held === undefined ? [] : [{ node, record }];
      const value = normalNode(record);
      const isSame = held !== undefined && isDeepStrictEqual(value, normalNode(held)) && !seen.isOld(node.uid);
      return isSame ? [] : [{ node, record: value }];
    },
  );
  const first = wanted.filter(({ node }) => acted.has(node.uid));
  const rest = wanted.filter(({ node }) => !acted.has(node.uid));
  await fewAtATime([...first, ...rest.slice(0, MOST_WRITES)], async ({ node, record }) => {
    const handle = seen.recordOf(node.uid);
    if (record === undefined) return void (await handle.closeGone());
    const wakeTime = addDuration(deps.clock.now(), NODE_CHECK);
    // Only passes write it. Where another one was faster, an intent is left without its outcome, and the next pass resolves it by looking (I4).
    await handle.save({ subject: nodeSubject(node.name, node.uid), value: record, wakeTime, punctual: false });
  });
  return rest.length <= MOST_WRITES;
}

/** Writes the pool's record with the time of the next pass; a pool in which nothing is left to be remembered has none. */
async function writePool(
  deps: PassDeps,
  { pool, record, isKnown }: PassObservation,
  state: PoolRecord,
  wakeTime: EpochMs | undefined,
): Promise<void> {
  const { inFlight, followed, held, ramp, terminations, carried = [], counts } = state;
  const isAnything =
    Object.keys(inFlight).length + followed.length + held.length + terminations.length + carried.length + counts.held >
      0 || ramp !== undefined;
  if (!isAnything && wakeTime === undefined) {
    if (isKnown || (await record.load()).kind === 'known') await record.closeGone();
    return;
  }
  const saved = await record.save({
    subject: poolSubject(pool),
    value: normalPool(state),
    wakeTime: wakeTime ?? addDuration(deps.clock.now(), QUIET_POOL_CHECK),
  });
  if (!saved.written)
    throw new RetryableError(`another run wrote the record of pool ${pool ?? '(none)'} first`, { reason: 'Contended' });
}
