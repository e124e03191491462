/** Writes the records of a pass: of its pool, and of its nodes. */
import { isDeepStrictEqual } from 'node:util';
import { type NodeFinding, verdictOf } from './rule/finding.ts';
import { type NodeRecord, nodeSchema } from './node-record.ts';
import type { ObservedPool } from './observe.ts';
import type { PassDeps } from './context.ts';
import { type PoolRecord, poolSchema } from './pool-record.ts';
import { isRecordNeeded } from './rule/incident.ts';
import { poolSubject } from './passes.ts';
import { nodeSubject } from '../../shared/domain/node.ts';
import { fewAtATime } from '../../shared/cluster/in-parallel.ts';
import { toJson } from '../../shared/domain/json.ts';
import { addDuration, type EpochMs, hours } from '../../shared/domain/time.ts';
import { contended, type RetryableError } from '../../shared/errors.ts';

/** The number of nodes whose records one pass writes, beside those that it acts on. */
const MAX_WRITES = 200;

/** A pool that is remembered and waits for nothing is looked at again after this long. */
const IDLE_POOL_CHECK = hours(1);

/** The timer of a node's record: it is looked at again after this long, whether or not the node is unhealthy. */
const NODE_CHECK = hours(25);

/** The record without fields that are undefined, so that equal records compare as equal. */
export const normalNode = (value: NodeRecord): NodeRecord => nodeSchema.parse(toJson(value));

export const normalPool = (value: PoolRecord): PoolRecord => poolSchema.parse(toJson(value));

/**
 * Writes the record of a node; only passes do. False: another pass was faster. Then the intent has no outcome, and the
 * next pass resolves it by looking (I4).
 */
export async function saveNode(
  { clock }: PassDeps,
  { timedNodeRecord }: ObservedPool,
  { name, uid }: NodeFinding['node'],
  value: NodeRecord,
): Promise<boolean> {
  const wakeTime = addDuration(clock.now(), NODE_CHECK);
  return (await timedNodeRecord(uid).save({ subject: nodeSubject({ name, uid }), value, wakeTime, punctual: false }))
    .written;
}

/**
 * Writes the records of nodes that have changed. The kernel would leave unchanged ones out by itself; here they must
 * not count among the writes of one pass. False: some are left for the next pass.
 */
export async function writeNodes(
  deps: PassDeps,
  observed: ObservedPool,
  findings: readonly NodeFinding[],
  acted: Pick<ReadonlyMap<string, unknown>, 'has'>,
): Promise<boolean> {
  const wanted = findings.flatMap(finding => {
    const { node, record } = finding;
    const stored = observed.records.get(node.uid);
    const seen = { kind: finding.kind, isSaid: verdictOf(finding) !== undefined };
    const value = record && isRecordNeeded(record, seen) ? normalNode(record) : undefined;
    const isSame = isDeepStrictEqual(value, stored && normalNode(stored.value)) && stored?.needsRewrite !== true;
    return isSame ? [] : [{ node, value }];
  });
  const first = wanted.filter(({ node }) => acted.has(node.uid));
  const untouched = wanted.filter(({ node }) => !acted.has(node.uid));
  await fewAtATime([...first, ...untouched.slice(0, MAX_WRITES)], async ({ node, value }) => {
    if (value === undefined) await observed.timedNodeRecord(node.uid).closeNow();
    else await saveNode(deps, observed, node, value);
  });
  return untouched.length <= MAX_WRITES;
}

/** Writes the pool's record with the time of the next pass, or closes it when nothing is left to remember. */
export async function writePool(
  deps: PassDeps,
  { pool, timedPoolRecord }: ObservedPool,
  state: PoolRecord,
  wakeTime: EpochMs | undefined,
): Promise<void> {
  const { inFlight, followed, holdingGuards, ramp, terminations, oldAttempts = [], counts } = state;
  const lists = [Object.keys(inFlight), followed, holdingGuards, terminations, oldAttempts];
  const isAnything = lists.some(({ length }) => length > 0) || counts.held > 0 || ramp !== undefined;
  if (!isAnything && wakeTime === undefined) {
    await timedPoolRecord.closeNow();
    return;
  }
  const next = wakeTime ?? addDuration(deps.clock.now(), IDLE_POOL_CHECK);
  const saved = await timedPoolRecord.save({ subject: poolSubject(pool), value: normalPool(state), wakeTime: next });
  if (!saved.written) throw wroteFirst();
}

/** The error if another pass has written the record of the pool. */
export const wroteFirst = (): RetryableError => contended('another pass of the pool is at work');
