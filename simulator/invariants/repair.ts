/**
 * Repair:
 * - I3 a NodeClaim is terminated only for a node that the same run looked at after it had recorded its intent, that was unhealthy
 *   and due by what the run saw, in a pool below its threshold, with the gate open
 * - I5 what is due and allowed happens within five minutes
 */
import type { KubernetesObject } from '../../shared/domain/kubernetes-object.ts';
import { toIsoText, toEpochMs } from '../../shared/domain/time.ts';
import { groupObjects, type Grouping } from './grouping.ts';
import { LONGEST_DELAY, type CheckContext, type MakeCheck, type PortCall, type Run } from './invariant.ts';
import type { Mirror } from './mirror.ts';
import { annotationOf, dig, instantOf, nameOf, textOf, TERMINATION_TIMESTAMP } from './reading.ts';
import { isGateOpen, isUnhealthy, poolNameOf, repairAnswer, type RepairFacts } from './repair-oracle.ts';
import { does, isKubernetes, lastGet, lastList, lastRecordWrite, targetOf } from './run-journal.ts';

const text = (ms: number): string => toIsoText(toEpochMs(ms));

export const checkRepair: MakeCheck = context => {
  const { mirror, violate } = context;
  const neighbourhood = createNeighbourhood(mirror);
  /** Whether some valid configuration opened the gate: one that does not parse leaves it as it was. */
  let wasOpen = false;
  /** Curfew said that it cannot read the configuration that stands there now. */
  let isConfigurationRefused = false;
  const unhealthy = new Map<string, KubernetesObject>();
  mirror.follow((resource, uid, object) => {
    if (resource === 'configmaps') {
      if (object?.metadata.name === 'curfew-config' && isGateOpen(object) === true) wasOpen = true;
      isConfigurationRefused = false;
    }
    if (resource !== 'nodes') return;
    if (object !== undefined && isUnhealthy(object)) unhealthy.set(uid, object);
    else unhealthy.delete(uid);
  });
  /** Nodes of which Curfew says that it holds their repair, for another reason than the threshold, which is checked here; by name. */
  const held = new Map<string, { readonly time: number }>();
  /** Since when each node could be repaired and is not. */
  const waiting = new Map<string, number>();

  return {
    onCall(call, run) {
      if (run.by !== 'repair' || !isTermination(call)) return;
      const why = complainAboutTermination(call, run, context, wasOpen);
      if (why !== undefined) violate('I3', `repair ${does(call)} nodeclaims ${targetOf(call).name ?? ''}: ${why}`);
    },
    onAudit({ decision, reason, kind, name }) {
      if (kind === 'ConfigMap' && reason === 'InvalidConfiguration') isConfigurationRefused = true;
      if (kind !== 'Node') return;
      if (decision === 'blocked' && reason !== 'UnhealthyThreshold') held.set(name, { time: context.now() });
      else held.delete(name);
    },
    onMinute() {
      const quietSince = context.quietSince();
      if (quietSince === undefined) return waiting.clear();
      for (const uid of waiting.keys()) if (!unhealthy.has(uid)) waiting.delete(uid);
      if (unhealthy.size === 0) return;
      const facts = factsOf(context);
      for (const [uid, node] of unhealthy) {
        const hold = held.get(node.metadata.name);
        // A hold that is said again and again is a wait that can be seen (I6), and another check's business.
        const isHeld = hold !== undefined && context.now() - hold.time <= 2 * LONGEST_DELAY;
        const due =
          isHeld || isConfigurationRefused ? undefined : overdueSince(node, facts, neighbourhood, context.now());
        if (due === undefined) waiting.delete(uid);
        else if (!waiting.has(uid)) waiting.set(uid, Math.max(due, context.now() - 60_000));
        const since = Math.max(waiting.get(uid) ?? Infinity, quietSince);
        if (context.now() - since <= LONGEST_DELAY) continue;
        violate('I5', `${nameOf(node)} could be repaired since ${text(since)} and is not`);
        waiting.set(uid, Infinity);
      }
    },
  };
};

/** A delete, or the annotation that makes a termination forceful. */
function isTermination(call: PortCall): boolean {
  if (targetOf(call).resource !== 'nodeclaims') return false;
  const annotation = dig(call.args[1], 'body', 'metadata', 'annotations', TERMINATION_TIMESTAMP);
  return isKubernetes(call, 'delete') || (isKubernetes(call, 'patch') && textOf(annotation) !== undefined);
}

function complainAboutTermination(
  call: PortCall,
  run: Run,
  { now, clockTolerance, mirror }: CheckContext,
  wasOpen: boolean,
): string | undefined {
  const seen = lastGet(run, 'nodes');
  if (seen?.object === undefined) return 'the run has not looked at the node';
  if (seen.index < lastRecordWrite(run))
    return 'the run has not looked at the node again after it had recorded its intent';
  const node = seen.object;
  const neighbours = lastList(run, 'nodes');
  if (neighbours === undefined) return 'the run has not counted the unhealthy nodes';
  const claim = [...mirror.all('nodeclaims').values()].find(({ metadata }) => metadata.name === targetOf(call).name);
  const providerID = textOf(dig(node, 'spec', 'providerID'));
  if (claim !== undefined && textOf(dig(claim, 'status', 'providerID')) !== providerID) {
    return `it is not the NodeClaim of ${nameOf(node)}`;
  }
  const gate = isGateOpen(lastGet(run, 'configmaps')?.object);
  if (gate === false || (gate === undefined && !wasOpen)) return 'the gate is closed';
  const pool = poolNameOf(node) === undefined ? undefined : lastGet(run, 'nodepools')?.object;
  const answer = repairAnswer({ node, pool, policies: lastList(run, 'nodelifecyclepolicies') ?? [], neighbours });
  switch (answer.kind) {
    case 'unknown':
      return undefined;
    case 'never':
    case 'blocked':
      return `${nameOf(node)} must not be repaired: ${answer.why}`;
    case 'from':
      if (answer.time <= now() + clockTolerance) return undefined;
      return `${nameOf(node)} is tolerated until ${text(answer.time)} (${answer.condition})`;
  }
}

interface ClusterFacts {
  readonly gateOpen: boolean;
  readonly policies: readonly KubernetesObject[];
  readonly pools: ReadonlyMap<string, KubernetesObject>;
}

function factsOf({ mirror }: CheckContext): ClusterFacts {
  const configMaps = [...mirror.all('configmaps').values()];
  const config = configMaps.find(
    ({ metadata }) => metadata.namespace === 'curfew' && metadata.name === 'curfew-config',
  );
  return {
    gateOpen: isGateOpen(config) === true,
    policies: [...mirror.all('nodelifecyclepolicies').values()],
    pools: new Map([...mirror.all('nodepools').values()].map(pool => [pool.metadata.name, pool])),
  };
}

interface Neighbourhood {
  /** NodeClaims by providerID. */
  readonly claimsOf: Grouping;
  /** The nodes of a pool; of the cluster where there is none. */
  readonly nodesOf: (poolName: string | undefined) => readonly KubernetesObject[];
}

function createNeighbourhood(mirror: Mirror): Neighbourhood {
  const byPool = groupObjects(mirror, 'nodes', poolNameOf);
  return {
    claimsOf: groupObjects(mirror, 'nodeclaims', claim => textOf(dig(claim, 'status', 'providerID'))),
    nodesOf: poolName => (poolName === undefined ? [...mirror.all('nodes').values()] : byPool.get(poolName)),
  };
}

/** Since when the node could be repaired; undefined when it cannot be, or is being terminated forcefully already. */
function overdueSince(
  node: KubernetesObject,
  facts: ClusterFacts,
  { claimsOf, nodesOf }: Neighbourhood,
  now: number,
): number | undefined {
  if (!facts.gateOpen) return undefined;
  const providerID = textOf(dig(node, 'spec', 'providerID'));
  if (providerID === undefined) return undefined;
  const claims = claimsOf.get(providerID);
  const [claim] = claims;
  if (claim === undefined || claims.length > 1) return undefined;
  const deadline = instantOf(annotationOf(claim, TERMINATION_TIMESTAMP));
  if (claim.metadata.deletionTimestamp !== undefined && deadline !== undefined && deadline <= now) return undefined;
  const poolName = poolNameOf(node);
  const own: RepairFacts = {
    node,
    pool: poolName === undefined ? undefined : facts.pools.get(poolName),
    policies: facts.policies,
    neighbours: nodesOf(poolName),
  };
  const answer = repairAnswer(own);
  return answer.kind === 'from' && answer.time <= now ? answer.time : undefined;
}
