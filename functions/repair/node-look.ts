/** What repair sees of one node: the live Node, its record, its NodeClaim, and the rules of that one's pool. */
import { nodePoolOf } from '../../shared/cluster/node-pool.ts';
import { RESOURCES } from '../../shared/contract/resources.ts';
import type { KubernetesObject } from '../../shared/domain/kubernetes-object.ts';
import { readNode, type NodeView } from '../../shared/domain/node.ts';
import { matchStatements, statementsOf } from '../../shared/domain/repair-policy.ts';
import type { EpochMs } from '../../shared/domain/time.ts';
import { findSubject } from '../../shared/lifecycle/subject.ts';
import type { Held, TimedRecord } from '../../shared/lifecycle/timed-record.ts';
import { nextEpisodes } from './episodes.ts';
import type { Episode } from './incident.ts';
import { findOwner, loadRules, type ObserveDeps, type PoolRules } from './observe.ts';
import type { Owner } from './owner.ts';
import type { NodeRecord } from './record.ts';

export interface NodeTarget {
  readonly name: string;
  readonly uid?: string | undefined;
  /** What made us look: the node changed, something around it did, or a timer. */
  readonly cause: 'node' | 'surroundings' | 'timer';
  /** The event says that nothing changed that a healthy node without a record would be looked at for. */
  readonly isCalm?: boolean;
}

/** The Node is there. */
export interface Here {
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
/** It is not, and a record of it is left. */
export type Gone = {
  readonly kind: 'gone';
  readonly record: TimedRecord<NodeRecord>;
  readonly held: Extract<Held<NodeRecord>, { kind: 'held' }>;
};

/** Reads the Node, its record and what it is judged by; undefined: nothing to judge, and nothing remembered. */
export async function lookAtNode(
  deps: ObserveDeps,
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
