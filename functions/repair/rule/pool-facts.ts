/** Facts that a pass has read of a pool, and facts by which each of its nodes is judged. Types only. */
import type { PassRequests } from './pass-requests.ts';
import type { NodeRecord } from '../node/record.ts';
import type { VetoSource } from '../node/rule/vetoes.ts';
import type { RepairInForce } from '../node/rule/settings-in-force.ts';
import type { PoolRecord } from '../pool-record.ts';
import type { StoredNode } from '../record.ts';
import type { KubernetesObject } from '../../../shared/domain/kubernetes-object.ts';
import type { NodeClaimView } from '../../../shared/domain/node-claim.ts';
import type { OwnerIndex } from '../../../shared/domain/node-owner.ts';
import type { NodeView } from '../../../shared/domain/node.ts';
import type { RepairCondition } from '../../../shared/domain/repair-policy.ts';
import type { DurationMs, EpochMs } from '../../../shared/domain/time.ts';

/** All nodes of the cluster, with the facts that decide whether each of them counts. */
export interface ClusterNodes {
  readonly nodes: readonly NodeView[];
  /** The owners of all nodes; undefined: NodeClaims of other pools change no guard's answer, and were not read. */
  readonly owners: OwnerIndex | undefined;
  /** Repair conditions by which a node of any pool is unhealthy: those of its own pool, or the provider's. */
  readonly repairConditionsOf: (node: NodeView) => readonly RepairCondition[];
  readonly pools: readonly string[];
  /** The veto on a NodePool; undefined: there is none of that name. */
  readonly vetoOfPool: (name: string | undefined) => VetoSource | undefined;
  /** Time at which a repair had the Auto Scaling group of a node end its instance, by UID: of nodes without a NodePool. */
  readonly instanceEnds: ReadonlyMap<string, EpochMs>;
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

/** Facts that a pass has read of its pool. */
export interface PoolFacts {
  readonly now: EpochMs;
  readonly pool: string | undefined;
  readonly poolSettings: { readonly repair: RepairInForce; readonly nodePool: KubernetesObject | undefined };
  readonly poolRecord: PoolRecord;
  /** The pool had a record: the previous pass has looked at all of its nodes. */
  readonly hadPoolRecord: boolean;
  /** Nodes whose pool is this one. */
  readonly nodes: readonly NodeView[];
  /** `nodes`, and all other nodes with the pool's label. */
  readonly nodesWithLabel: readonly NodeView[];
  /** Nodes of the pool that are unhealthy, have a record, or are named by a request. */
  readonly nodesToJudge: readonly NodeView[];
  /** The NodeClaims of the pool, and replacements for its nodes that another pool has. */
  readonly claims: ReadonlyMap<string, NodeClaimView>;
  /** The Nodes of those replacements: the other pool judges them. */
  readonly replacementNodes: readonly NodeView[];
  /** The records of nodes, by UID. */
  readonly records: ReadonlyMap<string, StoredNode>;
  /** The records of nodes whose Node is gone. */
  readonly recordsOfGoneNodes: ReadonlyMap<string, NodeRecord>;
  readonly requests: PassRequests;
  /** Hash of the settings and NodeClaim fields. If it changes, a refused act is tried at once. */
  readonly basisOf: (claim: NodeClaimView | undefined) => string;
  /** Whether a schedule of the NodePool's budgets is in force. */
  readonly activity: Activity;
  /** Facts that only due nodes need; undefined: they were not read. */
  readonly dueFacts: DueFacts | undefined;
  /** Nodes that seemed to have no owner and were read again, by UID: whether each still exists. */
  readonly existsByUid: ReadonlyMap<string, boolean>;
}

export interface DueFacts {
  /** All nodes; undefined: no guard counts them. */
  readonly cluster: ClusterNodes | undefined;
  /** Request for a node by another system, in words, by name of the node. */
  readonly externalRequests: ReadonlyMap<string, string>;
  /** Reason why such requests are not known; undefined: they are known. */
  readonly requestsFault?: string | undefined;
}
