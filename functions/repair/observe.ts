/** What a pass looks at: the rules of its pool, its nodes with their NodeClaims, and the rest of the cluster where guards count it. Always live reads. */
import { loadConfig } from '../../shared/cluster/configuration.ts';
import { fewAtATime, inParallel } from '../../shared/cluster/in-parallel.ts';
import { loadPool } from '../../shared/cluster/known-pool.ts';
import { listNodeClaims, listNodes } from '../../shared/cluster/lists.ts';
import { nodePoolOf } from '../../shared/cluster/node-pool.ts';
import { type NodesAndClaims, claimsOfNode } from '../../shared/cluster/owner.ts';
import type { Configuration } from '../../shared/cluster/read-configuration.ts';
import { KARPENTER } from '../../shared/contract/names.ts';
import { MEDIK8S_LEASES, NODE_REQUESTS, RESOURCES } from '../../shared/contract/resources.ts';
import { isJsonObject } from '../../shared/domain/json.ts';
import type { KubernetesObject } from '../../shared/domain/kubernetes-object.ts';
import { type NodeClaimView, readNodeClaim } from '../../shared/domain/node-claim.ts';
import { DO_NOT_REPAIR_ANNOTATION, type NodeView, readNode } from '../../shared/domain/node.ts';
import {
  AWS_REPAIR_STATEMENTS,
  type RepairStatement,
  matchStatements,
  statementsOf,
} from '../../shared/domain/repair-policy.ts';
import { type EpochMs, addDuration, isDue, parseTimestamp, seconds } from '../../shared/domain/time.ts';
import { messageOf, RetryableError, TerminalError } from '../../shared/errors.ts';
import { type PolicySet, readPolicies } from '../../shared/policies/policy-set.ts';
import { type EffectiveProtection, effectiveProtection } from '../../shared/policies/protection-settings.ts';
import type { FunctionDeps } from '../../shared/ports/function-deps.ts';
import { objectOf, objectsOf } from '../../shared/ports/read-answer.ts';
import { OWNER } from './rule/codec.ts';
import { createGuards, type Surroundings } from './rule/guards.ts';
import type { RepairRules } from './rule/node-verdict.ts';
import { effectiveRepair, withLastAccepted } from './settings/settings.ts';
import { dueOf } from './rule/turn.ts';
import type { NodeLook } from './rule/verdict.ts';

export type ObserveDeps = Pick<FunctionDeps, 'kubernetes' | 'records' | 'events' | 'audit' | 'clock'>;

/** The rules of a pool, and where they come from. */
export interface PoolRules {
  readonly rules: RepairRules;
  readonly pool: KubernetesObject | undefined;
  /** The same, or as it was before it went: what it granted to pods still holds. */
  readonly known: KubernetesObject | undefined;
  readonly policies: PolicySet;
  readonly config: Configuration;
}

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
  const repair = effectiveRepair(nodePool, policies, config.providerPolicies);
  const rules = { ...repair, gateOpen: config.featureGates.nodeRepair, poolVeto };
  return { rules, pool: nodePool, known, policies, config };
}

/** All policies, each as it was last accepted. */
async function loadAcceptedPolicies(deps: ObserveDeps): Promise<PolicySet> {
  const objects = objectsOf(await deps.kubernetes.list(RESOURCES.NodeLifecyclePolicy), { notServed: 'notKnown' });
  return readPolicies(await withLastAccepted(deps, objects));
}

/** The protection of pods that is in force in a pool. */
export function protectionOf({ known, policies }: PoolRules): EffectiveProtection {
  return effectiveProtection(known, policies);
}

type Kubernetes = Pick<FunctionDeps, 'kubernetes'>;

/**
 * The nodes of a pool with its NodeClaims, both by the label, and those that a NodeClaim names although they lack it. Nodes without the label
 * form a pool of their own, with the few NodeClaims that lack it, too.
 */
export async function loadPoolView(deps: Kubernetes, pool: string | undefined): Promise<NodesAndClaims> {
  const label = KARPENTER.nodePoolLabel;
  const query = { labelSelector: pool === undefined ? `!${label}` : `${label}=${pool}` };
  const [nodeObjects, claimObjects] = await inParallel([
    listNodes(deps, query),
    listNodeClaims(deps, claimsOfNode(undefined, pool), query),
  ]);
  const claims = claimObjects.map(readNodeClaim);
  const names = new Set(claims.map(({ name }) => name));
  const isOwn = ({ ownerClaim }: NodeView): boolean =>
    pool !== undefined || ownerClaim === undefined || names.has(ownerClaim);
  const nodes = nodeObjects.map(readNode).filter(isOwn);
  const known = new Set(nodes.map(({ name }) => name));
  const missing = new Set(
    claims.flatMap(({ nodeName }) => (nodeName === undefined || known.has(nodeName) ? [] : nodeName)),
  );
  await fewAtATime([...missing], async name => {
    const object = objectOf(await deps.kubernetes.get({ type: RESOURCES.Node, name }), { notServed: 'notKnown' });
    if (object !== undefined) nodes.push(readNode(object));
  });
  return { nodes, claims };
}

export interface ClusterNodes {
  readonly nodes: readonly NodeView[];
  /** By what a node of any pool is ill: the statements of its own pool, or the provider's. */
  readonly statementsOf: (node: NodeView) => readonly RepairStatement[];
  readonly pools: readonly string[];
}

/** All nodes of the cluster, each to be judged by the rules of its own pool. */
export async function loadClusterNodes(deps: Kubernetes, { policies }: PoolRules): Promise<ClusterNodes> {
  const [nodeObjects, poolList] = await inParallel([listNodes(deps), deps.kubernetes.list(RESOURCES.NodePool)]);
  const pools = new Map(objectsOf(poolList, { notServed: 'none' }).map(pool => [pool.metadata.name, pool]));
  const known = new Map<string | undefined, readonly RepairStatement[]>();
  return {
    nodes: nodeObjects.map(readNode),
    pools: [...pools.keys()],
    statementsOf(node) {
      const name = nodePoolOf(node);
      const found = known.get(name) ?? statementsIn(name === undefined ? undefined : pools.get(name), policies);
      known.set(name, found);
      return found;
    },
  };
}

function statementsIn(pool: KubernetesObject | undefined, policies: PolicySet): readonly RepairStatement[] {
  const { settings } = effectiveRepair(pool, policies);
  return settings === undefined || 'invalid' in settings ? AWS_REPAIR_STATEMENTS : statementsOf(settings);
}

/** The live NodeClaim of this name; undefined: there is none. */
export async function readClaim({ kubernetes }: Kubernetes, name: string): Promise<NodeClaimView | undefined> {
  const object = objectOf(await kubernetes.get({ type: RESOURCES.NodeClaim, name }), { notServed: 'notKnown' });
  return object && readNodeClaim(object);
}

/** Whether any rule of the cluster may call the node ill: one of the provider, or of a policy or NodePool. */
export const isSuspicious = (node: NodeView, statements: readonly RepairStatement[]): boolean =>
  matchStatements(node, AWS_REPAIR_STATEMENTS).length > 0 || matchStatements(node, statements).length > 0;

const LEASE_PREFIX = 'node-';

/** What stands for nodes in other systems, by the node's name: requests of NVSentinel, and Leases of medik8s that have not expired. */
export async function loadAskedOfOthers(deps: Kubernetes, now: EpochMs): Promise<ReadonlyMap<string, string>> {
  const [leases, ...requests] = await inParallel([
    deps.kubernetes.list(RESOURCES.Lease, { namespace: MEDIK8S_LEASES }),
    ...NODE_REQUESTS.map(({ group, version, resource }) => deps.kubernetes.list({ group, version, resource })),
  ]);
  const asked = new Map<string, string>();
  requests.forEach((answer, index) => {
    for (const { metadata, spec } of objectsOf(answer, { notServed: 'none' })) {
      const event = spec?.['healthEvent'];
      const name = isJsonObject(event) ? event['nodeName'] : undefined;
      const node = typeof name === 'string' ? name : spec?.['nodeName'];
      if (typeof node === 'string') asked.set(node, `${NODE_REQUESTS[index]?.kind ?? ''} ${metadata.name}`);
    }
  });
  for (const { metadata, spec } of objectsOf(leases, { notServed: 'none' })) {
    const { holderIdentity: holder, renewTime, leaseDurationSeconds: duration } = spec ?? {};
    const renewed = parseTimestamp(typeof renewTime === 'string' ? renewTime : '');
    const isHeld = renewed !== undefined && !isDue(now, addDuration(renewed, seconds(Number(duration) || 0)));
    if (!isHeld || !metadata.name.startsWith(LEASE_PREFIX)) continue;
    asked.set(
      metadata.name.slice(LEASE_PREFIX.length),
      `Lease ${metadata.name}${typeof holder === 'string' ? ` of ${holder}` : ''}`,
    );
  }
  return asked;
}

/**
 * What EC2 says of each node that it is to confirm, by UID. Asked of those that freeze, zone and threshold let through: an outage asks nothing.
 */
export async function askEc2(
  { instances }: Pick<FunctionDeps, 'instances'>,
  looks: readonly NodeLook[],
  surroundings: Surroundings | undefined,
): Promise<ReadonlyMap<string, string>> {
  const answers = new Map<string, string>();
  const doubtful = looks.filter(look => dueOf(look)?.decision.terms.confirm !== undefined);
  if (surroundings === undefined || doubtful.length === 0) return answers;
  const guards = createGuards(surroundings);
  await fewAtATime(doubtful, async look => {
    const { view } = look;
    const check = dueOf(look)?.decision.terms.confirm;
    if (view === undefined || check === undefined || guards.blockerOf(view) !== undefined) return;
    try {
      const answer = view.providerID === undefined ? undefined : await instances.checkOf(view.providerID, check);
      answers.set(view.uid, answer ?? 'nothing');
    } catch (error) {
      // Unknown holds this node alone (I6). What is none of these is a mistake of ours.
      if (!(error instanceof RetryableError || error instanceof TerminalError)) throw error;
      answers.set(view.uid, `nothing (${messageOf(error)})`);
    }
  });
  return answers;
}
