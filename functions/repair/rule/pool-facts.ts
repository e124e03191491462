/** What a pass has read of a pool, and what each of its nodes is judged by. Types only. */
import type { StoredNode } from '../record.ts';
import type { Episode, NodeRecord } from '../node-record.ts';
import type { LaunchPause, PoolRecord } from '../pool-record.ts';
import type { NodeDecision, UnhealthyStatement } from './verdict.ts';
import type { RepairRules } from './settings-in-force.ts';
import type { EndedDrain } from '../attempt-record.ts';
import type { KubernetesObject } from '../../../shared/domain/kubernetes-object.ts';
import type { NodeClaimView } from '../../../shared/domain/node-claim.ts';
import type { Owner, OwnerIndex } from '../../../shared/domain/node-owner.ts';
import type { NodeView } from '../../../shared/domain/node.ts';
import type { RepairStatement } from '../../../shared/domain/repair-policy.ts';
import type { DurationMs, EpochMs } from '../../../shared/domain/time.ts';

/** What nodes are judged by. */
export interface JudgeContext {
  readonly now: EpochMs;
  readonly pool: string | undefined;
  readonly rules: RepairRules;
  readonly owners: OwnerIndex;
  readonly claims: ReadonlyMap<string, NodeClaimView>;
  /** By UID: when the forwarder saw the change of the node that this pass is for. */
  readonly observedTimes: ReadonlyMap<string, EpochMs>;
  /** The same for every node, where the pass is for changes alone. */
  readonly changesTime: EpochMs | undefined;
  /** Whether no event has named the node since the last pass; absent: this pass treats no node so. */
  readonly isUnprompted?: ((uid: string) => boolean) | undefined;
  /** By UID: how a drain that was asked for ended. */
  readonly drainEnds: ReadonlyMap<string, EndedDrain>;
  readonly nodesByName: ReadonlyMap<string, NodeView>;
  /** Until when the pool launches no replacement; undefined: it launches. */
  readonly launchPause?: LaunchPause | undefined;
  /** What stands for a node in other systems, by its name. */
  readonly otherRequests: ReadonlyMap<string, string>;
  /** Hash of the settings and NodeClaim fields. If it changes, a refused act is tried at once. */
  readonly basisOf: (claim: NodeClaimView | undefined) => string;
}

/** One node, while it is judged. */
export interface NodeFacts {
  readonly context: JudgeContext;
  readonly node: NodeView;
  readonly record: NodeRecord;
  /** A statement was true at the last look. */
  readonly wasUnhealthy: boolean;
  readonly decision: NodeDecision;
  readonly isUnhealthy: boolean;
  /** Something may be repaired. */
  readonly isOn: boolean;
}

/** All nodes of the cluster. */
export interface ClusterNodes {
  readonly nodes: readonly NodeView[];
  /** By what a node of any pool is unhealthy: the statements of its own pool, or the provider's. */
  readonly statementsOf: (node: NodeView) => readonly RepairStatement[];
  readonly pools: readonly string[];
}

/**
 * Whether a schedule is in force, and when that changes; undefined: it cannot be read
 * (`shared/contract/budget-schedule.ts`).
 */
export type Activity = (
  schedule: string,
  duration: DurationMs,
  now: EpochMs,
) => { readonly isActive: boolean; readonly changes: EpochMs | undefined } | undefined;

/** All that a pass is asked for. */
export interface RepairAsks extends Pick<JudgeContext, 'observedTimes' | 'changesTime' | 'drainEnds'> {
  /** Of the nodes that are named. */
  readonly uids: ReadonlySet<string>;
  /** The settings may be others than at the pass before. */
  readonly isOfSettings: boolean;
}

/** What was read of a pool. */
export interface PoolFacts {
  readonly now: EpochMs;
  readonly pool: string | undefined;
  readonly rules: { readonly repair: RepairRules; readonly pool: KubernetesObject | undefined };
  readonly state: PoolRecord;
  /** The pool had a record: the pass before has looked at all of its nodes. */
  readonly isKnown: boolean;
  /** Nodes whose pool is this one. */
  readonly nodes: readonly NodeView[];
  /** `nodes`, and all other nodes with the pool's label. */
  readonly labelled: readonly NodeView[];
  /** Those of the pool that are unhealthy, remembered or asked for. */
  readonly concerned: readonly NodeView[];
  readonly claims: ReadonlyMap<string, NodeClaimView>;
  /** The records of nodes, by UID. */
  readonly records: ReadonlyMap<string, StoredNode>;
  /** The records of nodes whose Node is gone. */
  readonly gone: ReadonlyMap<string, NodeRecord>;
  readonly asks: RepairAsks;
  /** Hash of the settings and NodeClaim fields. If it changes, a refused act is tried at once. */
  readonly basisOf: (claim: NodeClaimView | undefined) => string;
  /** Whether a schedule of the NodePool's budgets is in force. */
  readonly activity: Activity;
  /** What only due nodes need; undefined: it was not read. */
  readonly dueFacts: DueFacts | undefined;
  /** Nodes that nobody seemed to own and that were looked at again, by UID: whether each is still there. */
  readonly stillThere: ReadonlyMap<string, boolean>;
}

export interface DueFacts {
  /** All nodes; undefined: no guard counts them. */
  readonly cluster: ClusterNodes | undefined;
  /** What stands for a node in other systems, by its name. */
  readonly otherRequests: ReadonlyMap<string, string>;
  /** Why it is not known what else stands there; undefined: it is. */
  readonly requestsFault?: string | undefined;
}

/** What one node is judged by. */
export interface NodeObservation {
  readonly now: EpochMs;
  readonly node: NodeView;
  readonly owner: Owner;
  readonly rules: RepairRules;
  /** The statements that are true, with their onsets; empty where the rules have no settings. */
  readonly unhealthy: readonly UnhealthyStatement[];
  /** Earlier times in which the node was unhealthy. */
  readonly episodes: readonly Episode[];
  /** A request for the node in another system. */
  readonly otherRequest?: string | undefined;
}
