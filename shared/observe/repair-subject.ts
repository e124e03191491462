/** What repair looks at: the node and its record, the rules that hold for it, and what is around it. */
import { loadConfig } from '../cluster/configuration.ts';
import { parseRepairRecord } from '../contract/repair-record.ts';
import { RESOURCES } from '../contract/resources.ts';
import type { KubernetesObject } from '../domain/kubernetes-object.ts';
import { readNode, type NodeView } from '../domain/node.ts';
import { matchStatements } from '../domain/repair-policy.ts';
import type { RepairRecord } from '../domain/repair-record.ts';
import type { EpochMs } from '../domain/time.ts';
import type { FunctionDeps } from '../ports/function-deps.ts';
import type { RecordKey, StoredRecord } from '../ports/record-store.ts';
import { inParallel } from '../cluster/in-parallel.ts';
import { findNodeClaims, loadNodePool, loadPolicies, loadPoolNodes } from '../cluster/node-pool.ts';
import { effectiveRepair, type EffectiveRepair } from './repair-settings.ts';
import { nodePoolOf } from '../cluster/node-pool.ts';

type Deps = Pick<FunctionDeps, 'kubernetes' | 'records' | 'wakeUps' | 'events' | 'audit' | 'metrics' | 'clock'>;

export const REPAIR_OWNER = 'repair';
export const repairRecordKey = (uid: string): RecordKey => ({ owner: REPAIR_OWNER, id: `node/${uid}` });

/** Which node, and what is known of it before the first look. */
export interface RepairTarget {
  readonly name: string;
  readonly uid?: string | undefined;
  /** The instant that the wake-up in hand was sent for. */
  readonly usedWakeTime?: EpochMs;
  /** Set when the node is likely not to be healthy, or not to have been: the pool that it was in. */
  readonly likely?: { readonly pool: string | undefined };
}

/** The node that is looked at. */
export interface RepairSubject {
  readonly target: RepairTarget;
  readonly object: KubernetesObject;
  readonly node: NodeView;
  readonly pool: string | undefined;
  readonly stored: StoredRecord | undefined;
  readonly record: RepairRecord | undefined;
}

/** Healthy, and nothing was ever promised about it. */
export function isForgettable({ record, node }: RepairSubject): boolean {
  return record === undefined && matchStatements(node).length === 0;
}

/** The node and its record; undefined when there is no such node. */
export async function loadSubject(deps: Deps, target: RepairTarget): Promise<RepairSubject | undefined> {
  const { name, uid } = target;
  const loadRecord = async (ofNode: string): Promise<StoredRecord | undefined> =>
    deps.records.get(repairRecordKey(ofNode));
  const [object, early] = await inParallel([
    deps.kubernetes.get({ type: RESOURCES.Node, name }),
    uid === undefined ? undefined : loadRecord(uid),
  ]);
  // I10: a node of the same name with another UID is another node.
  if (object === undefined || (uid !== undefined && object.metadata.uid !== uid)) return undefined;
  const node = readNode(object);
  const stored = uid === undefined ? await loadRecord(node.uid) : early;
  const record = stored && parseRepairRecord(stored.state);
  return { target, object, node, pool: nodePoolOf(node), stored, record };
}

export interface RepairRules extends EffectiveRepair {
  readonly gateOpen: boolean;
}

export async function loadRules(deps: Deps, pool: string | undefined): Promise<RepairRules> {
  const [config, nodePool, policies] = await inParallel([
    loadConfig(REPAIR_OWNER, deps),
    loadNodePool(deps, pool),
    loadPolicies(deps),
  ]);
  return { ...effectiveRepair(nodePool, policies), gateOpen: config.featureGates.nodeRepair };
}

export interface RepairSurroundings {
  /** Those of the node. */
  readonly nodeClaims: Awaited<ReturnType<typeof findNodeClaims>>;
  /** All nodes of its pool; of the cluster for a node without one. */
  readonly poolNodes: Awaited<ReturnType<typeof loadPoolNodes>>;
  /** The same in words. */
  readonly scope: string;
}

export async function loadSurroundings(
  deps: Deps,
  node: NodeView,
  pool: string | undefined,
): Promise<RepairSurroundings> {
  const [nodeClaims, poolNodes] = await inParallel([findNodeClaims(deps, node, pool), loadPoolNodes(deps, pool)]);
  return { nodeClaims, poolNodes, scope: pool === undefined ? 'the cluster' : `NodePool ${pool}` };
}
