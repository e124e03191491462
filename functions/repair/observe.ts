/** What repair looks at: the rules that hold for a pool, one node with its NodeClaim, the whole cluster for a pass. Always live reads. */
import { loadPool } from '../../shared/cluster/known-pool.ts';
import { claimsOfNode } from '../../shared/cluster/node-pool.ts';
import { loadConfig } from '../../shared/cluster/configuration.ts';
import { fewAtATime, inParallel } from '../../shared/cluster/in-parallel.ts';
import { listNodeClaims, listNodes } from '../../shared/cluster/lists.ts';
import { nodePoolOf } from '../../shared/cluster/node-pool.ts';
import { KARPENTER } from '../../shared/contract/names.ts';
import { RESOURCES } from '../../shared/contract/resources.ts';
import type { KubernetesObject } from '../../shared/domain/kubernetes-object.ts';
import { readNodeClaim, type NodeClaimView } from '../../shared/domain/node-claim.ts';
import { DO_NOT_REPAIR_ANNOTATION, readNode, type NodeView } from '../../shared/domain/node.ts';
import { indexOwners, ownerOf, type Owner } from '../../shared/domain/node-owner.ts';
import { matchStatements, statementsOf } from '../../shared/domain/repair-policy.ts';
import { findSubject } from '../../shared/lifecycle/subject.ts';
import type { TimedRecord } from '../../shared/lifecycle/timed-record.ts';
import { readPolicies, type PolicySet } from '../../shared/policies/policy-set.ts';
import { effectiveProtection, type EffectiveProtection } from '../../shared/policies/protection-settings.ts';
import type { FunctionDeps } from '../../shared/ports/function-deps.ts';
import type { RepairRules } from './decide.ts';
import { nextEpisodes, type Episode } from './incident.ts';
import type { Gone, Here, NodeTarget, PoolRules } from './observation.ts';
import { nodeCodec, nodeRecordId, OWNER, type NodeRecord } from './record.ts';
import { effectiveRepair, withLastAccepted } from './settings.ts';
import { objectOf, objectsOf } from '../../shared/ports/read-answer.ts';

export type ObserveDeps = Pick<FunctionDeps, 'kubernetes' | 'records' | 'events' | 'audit' | 'clock'>;

/**
 * @param pool undefined: the nodes without a NodePool
 * @param seen as this run read them before
 */
export async function loadRules(deps: ObserveDeps, pool: string | undefined, seen?: PoolRules): Promise<PoolRules> {
  const [config, known, policies] = await inParallel([
    loadConfig(OWNER, deps, seen?.config),
    loadPool(deps, pool),
    loadAcceptedPolicies(deps),
  ]);
  // Nothing is repaired for the sake of a NodePool that went; what it granted to pods still holds.
  const nodePool = known?.metadata.uid === '' ? undefined : known;
  const value = nodePool?.metadata.annotations?.[DO_NOT_REPAIR_ANNOTATION];
  const poolVeto = nodePool && {
    kind: 'NodePool' as const,
    name: nodePool.metadata.name,
    uid: nodePool.metadata.uid,
    value,
  };
  const rules = { ...effectiveRepair(nodePool, policies), gateOpen: config.featureGates.nodeRepair, poolVeto };
  return { rules, pool: nodePool, known, policies, config };
}

/** All policies, each as it was last accepted. */
export async function loadAcceptedPolicies(deps: ObserveDeps): Promise<PolicySet> {
  const objects = objectsOf(await deps.kubernetes.list(RESOURCES.NodeLifecyclePolicy), { notServed: 'notKnown' });
  return readPolicies(await withLastAccepted(deps, objects));
}

/** The protection of pods that is in force in a pool. */
export function protectionOf({ known, policies }: PoolRules): EffectiveProtection {
  return effectiveProtection(known, policies);
}

type Kubernetes = Pick<FunctionDeps, 'kubernetes'>;

export interface ClusterView {
  readonly nodes: readonly NodeView[];
  readonly claims: readonly NodeClaimView[];
}

/** All nodes and all NodeClaims. */
export async function loadCluster(deps: Kubernetes): Promise<ClusterView> {
  const nodes = (await listNodes(deps)).map(readNode);
  const one = nodes.find(node => node.ownerClaim !== undefined || nodePoolOf(node) !== undefined);
  const reading = claimsOfNode(one?.ownerClaim, one && nodePoolOf(one));
  return { nodes, claims: (await listNodeClaims(deps, reading)).map(readNodeClaim) };
}

/**
 * The NodeClaim of one node by as few reads as possible: the one that is known or owns the node, if it is the right one; else all of
 * the labelled pool; else all. Whether others share its instance only a pass can tell, which looks at all of them anyhow.
 */
async function findOwner(deps: Kubernetes, node: NodeView, known: string | undefined): Promise<Owner> {
  const { kubernetes } = deps;
  for (const name of new Set([known, node.ownerClaim])) {
    if (name === undefined) continue;
    const object = objectOf(await kubernetes.get({ type: RESOURCES.NodeClaim, name }), { notServed: 'notKnown' });
    const owner = ownerAmong(node, object === undefined ? [] : [object]);
    if (owner.kind === 'claim') return owner;
  }
  const pool = nodePoolOf(node);
  if (pool !== undefined && node.providerID !== undefined) {
    const labelSelector = `${KARPENTER.nodePoolLabel}=${pool}`;
    const owner = ownerAmong(node, await listNodeClaims(deps, { notServed: 'notKnown' }, { labelSelector }));
    if (owner.kind !== 'none') return owner;
  }
  return node.providerID === undefined
    ? ownerAmong(node, [])
    : ownerAmong(node, await listNodeClaims(deps, claimsOfNode(node.ownerClaim, pool)));
}

function ownerAmong(node: NodeView, claims: readonly KubernetesObject[]): Owner {
  return ownerOf(node, indexOwners([node], claims.map(readNodeClaim)));
}

/** Reads the Node, its record and what it is judged by; undefined: nothing to judge, and nothing remembered. */
export async function lookAtNode(
  deps: ObserveDeps,
  target: NodeTarget,
  recordOf: (uid: string) => TimedRecord<NodeRecord>,
): Promise<Here | Gone | undefined> {
  const ref = { type: RESOURCES.Node, name: target.name };
  const { uid, onlyIfKnown } = target;
  const found = await findSubject(deps, { ref, uid, onlyIfKnown, recordOf });
  if (found.kind === 'notOurs') return undefined;
  if (found.kind === 'gone') return found;
  const { object, record } = found;
  const node = readNode(object);
  const held = found.held.kind === 'held' ? found.held.value : undefined;
  if (held === undefined && target.isCalm === true && matchStatements(node).length === 0) return undefined;
  // The pass looks at it.
  if (target.cause === 'surroundings' && held?.taken === true && held.pool === target.pool) return undefined;

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

/** By UID of each unhealthy node: what its record remembers of earlier unhealthy times. Empty unless `flapping` is set. */
export async function loadEpisodes(
  { records }: Pick<FunctionDeps, 'records'>,
  { settings }: RepairRules,
  nodes: readonly NodeView[],
): Promise<ReadonlyMap<string, readonly Episode[]>> {
  const found = new Map<string, readonly Episode[]>();
  if (settings === undefined || 'invalid' in settings || settings.flapping === undefined) return found;
  const statements = statementsOf(settings);
  const unhealthy = nodes.filter(node => matchStatements(node, statements).length > 0);
  await fewAtATime(unhealthy, async ({ uid }) => {
    const stored = await records.get({ owner: OWNER, id: nodeRecordId(uid) });
    if (stored !== undefined) found.set(uid, nodeCodec.parse(stored.state).episodes);
  });
  return found;
}
