/**
 * One pass of a pool: observe → judge each node → decide for the pool → apply. Only a pass writes the records of its
 * pool, so that a pass that dies is followed by another one that looks again.
 */
import { apply } from './apply.ts';
import type { PassDeps, ReplaceableRules } from './context.ts';
import { decide } from './decide.ts';
import { decideNode, judgeNode } from './node/decide.ts';
import { observe, type ObservedPool, observeLimits, readMore } from './observe.ts';
import { eventSubjectOf, PASS_SPACING, poolSubject, readRequests, spacingAfter, wouldPassAct } from './pass-queue.ts';
import { NEW_POOL } from './pool-record.ts';
import { NODE_CODEC, nodeRecordId, POOL_CODEC, poolRecordId, poolText } from './record.ts';
import { nodesToConfirm } from './rule/confirmation.ts';
import { guardInputsOf } from './rule/guard-inputs.ts';
import { type JudgedPool, judgePool, nextRead } from './rule/judged-pool.ts';
import { fewAtATime, inParallel, oneByOne } from '../../shared/cluster/in-parallel.ts';
import { NOT_SERVED_CHECK } from '../../shared/cluster/not-served.ts';
import { EVENT_REASONS } from '../../shared/contract/reasons.ts';
import { aboutSubject, type Subject } from '../../shared/contract/subject.ts';
import { durationBetween, type DurationMs } from '../../shared/domain/time.ts';
import { RetryableError } from '../../shared/errors.ts';
import type { RoundAnswer } from '../../shared/lifecycle/coalesce.ts';
import type { RoundRequest } from '../../shared/lifecycle/next-round.ts';
import { createBackoff, noteRefusedRead, reportWarning } from '../../shared/lifecycle/refusals.ts';
import { openRecord } from '../../shared/lifecycle/timed-record.ts';
import { orUnavailable } from '../../shared/ports/read-answer.ts';

/** The rules of repair: the decision for a pool, what is found of a node, and the verdict on it by itself. */
export const REPLACEABLE_RULES: ReplaceableRules = { decide, judgeNode, decideNode };

/** One pass of a pool. Answers how long the next pass waits. */
export async function reconcilePool(
  deps: PassDeps,
  pool: string | undefined,
  requests: readonly RoundRequest[],
): Promise<RoundAnswer> {
  const startTime = deps.clock.now();
  const facts = await orUnavailable(readFacts(deps, pool, requests));
  if (facts === 'newer') return leaveToNewer(pool, requests);
  if ('error' in facts) return waitToRead(deps, pool, facts.error);
  const { observed, findings, guardInputs, limits } = facts;
  const { poolSettings, poolRecord } = observed;
  if (limits === undefined) {
    await requestElsewhere(deps, observed);
    return spacingAfter(durationBetween(startTime, deps.clock.now()));
  }

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

  // What fails in one pool stops no other.
  const steps = [() => apply(deps, decision, observed, { now, reserved }), () => requestElsewhere(deps, observed)];
  await oneByOne(steps, step => step());
  return spacingAfter(durationBetween(startTime, deps.clock.now()), decision);
}

/** Asks for a pass of each pool that has a node which this one was asked for, or has on record. */
const requestElsewhere = (deps: PassDeps, { nodesElsewhere }: ObservedPool): Promise<void> =>
  oneByOne(nodesElsewhere, ({ pool, ...node }) => deps.requestPass(pool, { kind: 'node', ...node }));

/** All that the pass decides by. `limits` undefined: there is nothing to decide. */
async function readFacts(deps: PassDeps, pool: string | undefined, requests: readonly RoundRequest[]) {
  const first = await observe(deps, pool, readRequests(requests));
  if (first === 'newer') return first;
  const { observed, judged } = await judge(deps, first);
  const { findings } = judged;
  const guardInputs = guardInputsOf(observed, judged);
  // No record and no findings: there is nothing to decide.
  const hasNothingToDo = !observed.hadPoolRecord && findings.length === 0;
  const limits = hasNothingToDo ? undefined : await observeLimits(deps, observed, nodesToConfirm(judged, guardInputs));
  return limits === 'newer' ? limits : { observed, findings, guardInputs, limits };
}

/** Judges each node, and reads on as long as the findings ask for more: nothing is read twice. */
async function judge(
  deps: PassDeps,
  first: ObservedPool,
): Promise<{ readonly observed: ObservedPool; readonly judged: JudgedPool }> {
  let observed = first;
  let judged = judgePool(observed, deps.judgeNode);
  for (let next = nextRead(observed, judged); next !== undefined; next = nextRead(observed, judged)) {
    observed = await readMore(deps, observed, next);
    judged = judgePool(observed, deps.judgeNode, judged);
  }
  return { observed, judged };
}

/**
 * Leaves the pool to a later version, which keeps one of its records and looks for itself. A message that nobody
 * repeats stays in its queue for that version.
 */
function leaveToNewer(pool: string | undefined, requests: readonly RoundRequest[]): DurationMs {
  if (!requests.some(({ kind }) => kind === 'message')) return PASS_SPACING;
  throw new RetryableError(`a record of ${poolText(pool)} was written by a newer version`, { reason: 'NewerRecord' });
}

/** The number of nodes on which a pass that cannot read says so. */
const MAX_UNREAD = 100;

/**
 * Remembers in the record of the pool that what a pass needs cannot be read, and reports it on the nodes that are in
 * flight or followed, else on the NodePool. The same asks run again in a minute: their messages are already acknowledged.
 * @throws the error, where nothing would be done, or the queue brings the message again
 */
async function waitToRead(deps: PassDeps, pool: string | undefined, error: Error): Promise<RoundAnswer> {
  if ((await orUnavailable(wouldPassAct(deps, pool))) === false) throw error;
  const timedRecord = openRecord(deps, POOL_CODEC, poolRecordId(pool));
  const reportAll = async (text: string, isRepeated: boolean): Promise<void> => {
    const nodes = await knownNodes(deps, pool);
    await fewAtATime(nodes.length === 0 ? [eventSubjectOf(pool)] : nodes, subject =>
      reportWarning(deps.reporter, aboutSubject(subject), EVENT_REASONS.readRefused)(text, isRepeated),
    );
  };
  await noteRefusedRead(error, {
    backoff: createBackoff(deps.clock),
    timedRecord,
    first: { subject: poolSubject(pool), value: NEW_POOL },
    reportOf: () => reportAll,
    isRequest: false,
  });
  return { retryAfter: NOT_SERVED_CHECK };
}

/** The nodes that are in flight or followed. */
async function knownNodes(deps: PassDeps, pool: string | undefined): Promise<readonly Subject[]> {
  const loaded = await openRecord(deps, POOL_CODEC, poolRecordId(pool)).load();
  if (loaded.kind !== 'known') return [];
  const { inFlight, followed } = loaded.value;
  const uids = [...Object.keys(inFlight), ...followed].slice(0, MAX_UNREAD);
  const nodes = await inParallel(uids.map(uid => openRecord(deps, NODE_CODEC, nodeRecordId(uid)).load()));
  return nodes.flatMap(each => (each.kind === 'known' ? each.stored.subject : []));
}
