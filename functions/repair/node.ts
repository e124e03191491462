/**
 * One node: its incident, and the timer until it is due. Whether a due node is repaired is for a pass of its pool to say; this only
 * makes sure that one takes place. What is news is said before it is recorded: a run that dies in between says it again, and nothing
 * goes unsaid (I9). An Event that is said twice is one Event with a count.
 */
import { addDuration, hours, isDue, minutes, type EpochMs } from '../../shared/domain/time.ts';
import type { Reporter } from '../../shared/lifecycle/reporter.ts';
import { again, DONE, settle, type Turn } from '../../shared/lifecycle/settle.ts';
import { openRecords, type TimedRecord, type UsedWakeUp } from '../../shared/lifecycle/timed-record.ts';
import type { FunctionDeps } from '../../shared/ports/function-deps.ts';
import type { decide, NodeDecision } from './decide.ts';
import { sameIncident } from './incident.ts';
import type { Gone, Here, NodeTarget } from './observation.ts';
import { lookAtNode } from './observe.ts';
import type { Passes } from './pass/run.ts';
import { nodeCodec, nodeRecordId, type NodeRecord } from './record.ts';
import { reportOfNode } from './report.ts';

/** The pool's record has the timer of a due node; the node's own is there in case that it has not. */
const TAKEN_CHECK = minutes(15);
/** A NodeClaim that does not name its Node yet may make it another pool's, whose passes know nothing of it until it is looked at (I5). */
const UNCERTAIN_OWNER_CHECK = minutes(5);
/** A node that cannot be judged is looked at this often; a fix usually comes as an event. */
const FAULT_CHECK = hours(1);

type Ports = Pick<FunctionDeps, 'kubernetes' | 'records' | 'wakeUps' | 'events' | 'audit' | 'metrics' | 'clock'>;
export type NodeDeps = Ports & {
  readonly reporter: Reporter;
  readonly passes: Passes;
  readonly decide: typeof decide;
};

/** A wake-up that was served before does nothing. Throws `RetryableError` as `settle` does. */
export async function reconcileNode(deps: NodeDeps, first: NodeTarget, wakeUp?: UsedWakeUp): Promise<void> {
  let target = first;
  const once = { ...deps, reporter: sayingOnce(deps.reporter) };
  const records = openRecords(deps, nodeCodec, wakeUp);
  const recordOf = (uid: string): TimedRecord<NodeRecord> => records(nodeRecordId(uid));
  if (first.uid !== undefined && (await recordOf(first.uid).isServed())) return;
  if (first.uid !== undefined && first.cause === 'timer' && (await handOver(deps, first.uid, recordOf(first.uid))))
    return;
  await settle<Here | Gone, NodeDecision | undefined>({
    what: `node ${first.name}`,
    async observe() {
      const seen = await lookAtNode(deps, target, recordOf);
      if (seen === undefined) return { kind: 'over' };
      // I10: from now on this node is meant, not its name.
      if (seen.kind === 'here') target = { ...target, uid: seen.node.uid };
      return { kind: 'here', observation: seen };
    },
    decide: seen => (seen.kind === 'gone' ? undefined : deps.decide({ ...seen, rules: seen.rules.rules })),
    apply: async (decision, seen) =>
      seen.kind === 'gone' || decision === undefined ? close(once, seen) : apply(once, decision, seen, target),
  });
}

/** A run that looks again because it lost a race does not repeat what it said. */
function sayingOnce(reporter: Reporter): Reporter {
  const told = new Set<string>();
  return {
    async report(report) {
      const key = `${report.reason} ${report.message}`;
      if (told.has(key)) return;
      told.add(key);
      await reporter.report(report);
    },
  };
}

/**
 * The incident is due: a pass looks at the whole pool anyway, so the node is not read before it, nor after one that found it due.
 * Answers whether a pass has it in hand.
 */
async function handOver(deps: NodeDeps, uid: string, record: TimedRecord<NodeRecord>): Promise<boolean> {
  const held = await record.load();
  if (held.kind !== 'held') return false;
  const { value, stored } = held;
  const { incident, taken, pool } = value;
  const now = deps.clock.now();
  if (incident === undefined || taken || !isDue(now, incident.dueTime)) return false;
  const standing = await deps.passes.take(pool, incident.dueTime, uid);
  if (standing === 'unknown') return false;
  // Its timer stays due: the sweep brings it again when that pass is over. Of many that are due at once, none writes before the repairs.
  if (standing === 'underWay') return true;
  const { subject } = stored;
  const wakeTime = addDuration(now, TAKEN_CHECK);
  const saved = await record.save({ subject, value: { ...value, taken: true }, wakeTime, punctual: false });
  return saved.written;
}

async function apply(deps: NodeDeps, decision: NodeDecision, seen: Here, target: NodeTarget): Promise<Turn> {
  switch (decision.kind) {
    case 'ignore':
      if (decision.reason === 'NoNodeClaim') return takeOn(deps, decision, seen, target);
      return decision.reason === 'NoTransitionTime'
        ? standStill(deps, decision, seen)
        : settleDown(deps, decision, seen, target);
    case 'refuse':
      return standStill(deps, decision, seen);
    case 'tolerate': {
      const { incident } = decision;
      const isNew = seen.held?.incident === undefined || !sameIncident(seen.held.incident, incident);
      if (isNew) await deps.reporter.report(reportOfNode(decision, aboutOf(seen), placeOf(seen)));
      const saved = await save(seen, { incident, taken: false }, incident.dueTime);
      if (!saved.written) return saved;
      if (seen.held?.taken === true) await deps.passes.poolChanged(seen.held.pool);
      return saved;
    }
    case 'blocked':
    case 'vetoed':
    case 'finishing':
    case 'due':
      return takeOn(deps, decision, seen, target);
  }
}

type Due = Extract<NodeDecision, { incident: unknown }>;

/** Due: a pass of the pool decides, and keeps the timer from then on. */
async function takeOn(deps: NodeDeps, { kind, incident }: Due, seen: Here, { cause }: NodeTarget): Promise<Turn> {
  const { held, pool } = seen;
  const isKnown = held?.incident !== undefined && sameIncident(held.incident, incident) && held.pool === pool;
  // A pass that began after a known node was due has seen it. A change of the node asks for another one.
  const since = !isKnown || cause !== 'timer' ? seen.now : held.taken ? undefined : incident.dueTime;
  // Of a node that goes already no pass has more to say than the one before.
  await deps.passes.ensure(pool, since, kind === 'finishing' && isKnown && held.taken ? 'canWait' : undefined);
  const check = seen.owner.kind === 'claim' ? TAKEN_CHECK : UNCERTAIN_OWNER_CHECK;
  return save(seen, { incident, taken: true }, addDuration(seen.now, check));
}

/** The node cannot be judged until something is mended. It is said once, and kept in sight. */
async function standStill(
  deps: NodeDeps,
  decision: Extract<NodeDecision, { kind: 'ignore' | 'refuse' }>,
  seen: Here,
): Promise<Turn> {
  if (seen.held?.fault !== decision.message) {
    await deps.reporter.report(reportOfNode(decision, aboutOf(seen), placeOf(seen)));
  }
  const saved = await save(seen, { taken: false, fault: decision.message }, addDuration(seen.now, FAULT_CHECK));
  if (saved.kind === 'again' && !saved.written) return saved;
  if (seen.held?.taken === true) await deps.passes.poolChanged(seen.held.pool);
  return saved;
}

/** Not to be repaired: the incident is over. */
async function settleDown(
  deps: NodeDeps,
  decision: Extract<NodeDecision, { kind: 'ignore' }>,
  seen: Here,
  { cause, isCalm }: NodeTarget,
): Promise<Turn> {
  const { held, episodes, rules } = seen;
  const remembered = episodes.at(-1)?.endTime;
  const { settings } = rules.rules;
  const window = settings !== undefined && 'flapping' in settings ? settings.flapping?.window : undefined;
  const isOver = held?.incident !== undefined || held?.fault !== undefined;
  // Where there is no record, a change of the node shows that it is new.
  if (isOver || (cause === 'node' && isCalm !== true && decision.reason !== 'Healthy')) {
    await deps.reporter.report(reportOfNode(decision, aboutOf(seen), placeOf(seen)));
  }
  const turn =
    remembered !== undefined && window !== undefined
      ? await save(seen, { taken: false }, addDuration(remembered, window))
      : await seen.record.release();
  if (turn.kind === 'again') return turn;
  if (held?.taken === true) await deps.passes.poolChanged(held.pool);
  return DONE;
}

function save(
  { node, record, pool, owner, episodes }: Here,
  value: Pick<NodeRecord, 'incident' | 'taken' | 'fault'>,
  wakeTime: EpochMs,
): ReturnType<TimedRecord<NodeRecord>['save']> {
  const claim = owner.kind === 'claim' ? owner.claim.name : undefined;
  return record.save({
    subject: { apiVersion: 'v1', kind: 'Node', name: node.name, uid: node.uid },
    value: { ...value, ...(pool !== undefined && { pool }), ...(claim !== undefined && { claim }), episodes },
    wakeTime,
  });
}

/** The node is gone: its incident ended, whatever was promised. */
async function close(deps: NodeDeps, seen: Here | Gone): Promise<Turn> {
  if (seen.kind === 'here') return again('the node is there');
  const { apiVersion, kind, name, uid } = seen.held.stored.subject;
  await deps.reporter.report({
    about: { apiVersion, kind, metadata: { name, ...(uid !== undefined && { uid }) } },
    decision: 'close',
    reason: 'NodeGone',
    message: 'the node is gone, its incident is closed',
  });
  const closed = await seen.record.closeGone();
  if (closed.kind === 'again') return closed;
  await deps.passes.poolChanged(seen.held.value.pool);
  return DONE;
}

const aboutOf = ({ object }: Here) => object;
const placeOf = ({ pool, rules }: Here) => ({
  pool,
  source: rules.rules.source,
  settings: rules.rules.settings,
});
