/**
 * One node: its incident, and the timer until it is due. Whether a due node is repaired is for a pass of its pool to say; this only
 * sees to it that one takes place.
 */
import { nodePoolOf } from '../../shared/cluster/node-pool.ts';
import { RESOURCES } from '../../shared/contract/resources.ts';
import type { KubernetesObject } from '../../shared/domain/kubernetes-object.ts';
import { readNode, type NodeView } from '../../shared/domain/node.ts';
import { matchStatements, statementsOf } from '../../shared/domain/repair-policy.ts';
import { addDuration, hours, minutes, type EpochMs } from '../../shared/domain/time.ts';
import { again, DONE, settle, type Turn } from '../../shared/lifecycle/settle.ts';
import type { Reporter } from '../../shared/lifecycle/reporter.ts';
import { findSubject } from '../../shared/lifecycle/subject.ts';
import { openRecords, type Held, type TimedRecord, type UsedWakeUp } from '../../shared/lifecycle/timed-record.ts';
import type { FunctionDeps } from '../../shared/ports/function-deps.ts';
import type { decide, NodeDecision } from './decide.ts';
import { nextEpisodes } from './episodes.ts';
import { sameIncident, type Episode } from './incident.ts';
import { findOwner, loadRules, type PoolRules } from './observe.ts';
import type { Owner } from './owner.ts';
import type { Passes } from './pass/run.ts';
import { nodeCodec, nodeRecordId, type NodeRecord } from './record.ts';
import { reportOfNode } from './report.ts';

/** The pool's record has the timer of a due node; the node's own is there in case that it has not. */
export const TAKEN_CHECK = minutes(15);
/** A node that cannot be judged is looked at this often; what mends it is an event as a rule. */
const FAULT_CHECK = hours(1);

type Ports = Pick<FunctionDeps, 'kubernetes' | 'records' | 'wakeUps' | 'events' | 'audit' | 'metrics' | 'clock'>;
export type NodeDeps = Ports & {
  readonly reporter: Reporter;
  readonly passes: Passes;
  readonly decide: typeof decide;
};

export interface NodeTarget {
  readonly name: string;
  readonly uid?: string | undefined;
  /** What made us look: the node changed, something around it did, or a timer. */
  readonly cause: 'node' | 'surroundings' | 'timer';
  /** The event says that nothing changed that a healthy node without a record would be looked at for. */
  readonly isCalm?: boolean;
}

interface Here {
  readonly kind: 'here';
  readonly object: KubernetesObject;
  readonly node: NodeView;
  readonly record: TimedRecord<NodeRecord>;
  readonly held: NodeRecord | undefined;
  readonly pool: string | undefined;
  readonly owner: Owner;
  readonly rules: PoolRules;
  readonly episodes: readonly Episode[];
  readonly now: EpochMs;
}
type Gone = {
  readonly kind: 'gone';
  readonly record: TimedRecord<NodeRecord>;
  readonly held: Extract<Held<NodeRecord>, { kind: 'held' }>;
};

export async function reconcileNode(deps: NodeDeps, first: NodeTarget, wakeUp?: UsedWakeUp): Promise<void> {
  let target = first;
  const records = openRecords(deps, nodeCodec, wakeUp);
  const recordOf = (uid: string): TimedRecord<NodeRecord> => records(nodeRecordId(uid));
  if (first.uid !== undefined && (await recordOf(first.uid).isServed())) return;
  await settle<Here | Gone, NodeDecision | undefined>({
    what: `node ${first.name}`,
    async observe() {
      const seen = await look(deps, target, recordOf);
      if (seen === undefined) return { kind: 'over' };
      // I10: from now on this node is meant, not its name.
      if (seen.kind === 'here') target = { ...target, uid: seen.node.uid };
      return { kind: 'here', observation: seen };
    },
    decide: seen => (seen.kind === 'gone' ? undefined : deps.decide({ ...seen, rules: seen.rules.rules })),
    apply: async (decision, seen) =>
      seen.kind === 'gone' || decision === undefined ? close(deps, seen) : apply(deps, decision, seen, target),
  });
}

async function look(
  deps: NodeDeps,
  target: NodeTarget,
  recordOf: (uid: string) => TimedRecord<NodeRecord>,
): Promise<Here | Gone | undefined> {
  const ref = { type: RESOURCES.Node, name: target.name };
  const found = await findSubject(deps, { ref, uid: target.uid, recordOf });
  if (found.kind === 'notOurs') return undefined;
  if (found.kind === 'gone') return found;
  const { object, record } = found;
  const node = readNode(object);
  const held = found.held.kind === 'held' ? found.held.value : undefined;
  if (held === undefined && target.isCalm === true && matchStatements(node).length === 0) return undefined;

  // The label is a hint; who is unhealthy by any rule is judged by those of its NodeClaim's pool.
  const hinted = nodePoolOf(node);
  const early = await loadRules(deps, hinted);
  const now = deps.clock.now();
  if (held === undefined && !isSuspicious(node, early)) return undefined;
  const owner = await findOwner(deps, node, held?.claim);
  const pool = owner.kind === 'claim' ? nodePoolOf(owner.claim) : hinted;
  const rules = pool === hinted ? early : await loadRules(deps, pool);
  const { settings } = rules.rules;
  const usable = settings !== undefined && !('invalid' in settings) ? settings : undefined;
  const before = held?.episodes ?? [];
  const episodes = usable === undefined ? before : nextEpisodes(node, usable, before, now);
  return { kind: 'here', object, node, record, held, pool, owner, rules, episodes, now };
}

/** Whether a rule of the provider, of the pool that the label names, or of any policy matches the node. */
function isSuspicious(node: NodeView, { rules: { settings }, policies }: PoolRules): boolean {
  const own = settings !== undefined && !('invalid' in settings) ? statementsOf(settings) : undefined;
  if (matchStatements(node).length > 0 || (own !== undefined && matchStatements(node, own).length > 0)) return true;
  return policies.policies.some(({ object }) => namesCondition(object, node));
}

function namesCondition({ spec }: KubernetesObject, { conditions }: NodeView): boolean {
  const block: unknown = spec?.['repair'];
  const own = typeof block === 'object' && block !== null && 'conditions' in block ? block.conditions : undefined;
  return (Array.isArray(own) ? (own as readonly unknown[]) : []).some(
    entry =>
      typeof entry === 'object' &&
      entry !== null &&
      'type' in entry &&
      'status' in entry &&
      conditions.some(({ type, status }) => type === entry.type && status === entry.status),
  );
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
      const saved = await save(seen, { incident, taken: false }, incident.dueTime);
      if (!saved.written) return saved;
      if (isNew) await deps.reporter.report(reportOfNode(decision, aboutOf(seen), placeOf(seen)));
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
async function takeOn(deps: NodeDeps, { incident }: Due, seen: Here, { cause }: NodeTarget): Promise<Turn> {
  const { held, pool } = seen;
  const isKnown = held?.incident !== undefined && sameIncident(held.incident, incident) && held.pool === pool;
  // A pass that began after a known node was due has seen it. A change of the node asks for another one.
  const since = !isKnown || cause !== 'timer' ? seen.now : held.taken ? undefined : incident.dueTime;
  await deps.passes.ensure(pool, since);
  return save(seen, { incident, taken: true }, addDuration(seen.now, TAKEN_CHECK));
}

/** The node cannot be judged until something is mended. It is said once, and kept in sight. */
async function standStill(
  deps: NodeDeps,
  decision: Extract<NodeDecision, { kind: 'ignore' | 'refuse' }>,
  seen: Here,
): Promise<Turn> {
  const saved = await save(seen, { taken: false, fault: decision.message }, addDuration(seen.now, FAULT_CHECK));
  if (saved.kind === 'again' && !saved.written) return saved;
  if (seen.held?.fault !== decision.message) {
    await deps.reporter.report(reportOfNode(decision, aboutOf(seen), placeOf(seen)));
  }
  if (seen.held?.taken === true) await deps.passes.poolChanged(seen.held.pool);
  return saved;
}

/** Not to be repaired: the incident is over. */
async function settleDown(
  deps: NodeDeps,
  decision: Extract<NodeDecision, { kind: 'ignore' }>,
  seen: Here,
  { cause }: NodeTarget,
): Promise<Turn> {
  const { held, episodes, rules } = seen;
  const remembered = episodes.at(-1)?.endTime;
  const { settings } = rules.rules;
  const window = settings !== undefined && 'flapping' in settings ? settings.flapping?.window : undefined;
  const turn =
    remembered !== undefined && window !== undefined
      ? await save(seen, { taken: false }, addDuration(remembered, window))
      : await seen.record.release();
  if (turn.kind === 'again') return turn;
  const isOver = held?.incident !== undefined || held?.fault !== undefined;
  if (isOver || (cause === 'node' && decision.reason !== 'Healthy')) {
    await deps.reporter.report(reportOfNode(decision, aboutOf(seen), placeOf(seen)));
  }
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
  const closed = await seen.record.closeGone();
  if (closed.kind === 'again') return closed;
  const { apiVersion, kind, name, uid } = seen.held.stored.subject;
  await deps.reporter.report({
    about: { apiVersion, kind, metadata: { name, ...(uid !== undefined && { uid }) } },
    decision: 'close',
    reason: 'NodeGone',
    message: 'the node is gone, its incident is closed',
  });
  await deps.passes.poolChanged(seen.held.value.pool);
  return DONE;
}

const aboutOf = ({ object }: Here) => object;
const placeOf = ({ pool, rules }: Here) => ({ pool, source: rules.rules.source });
