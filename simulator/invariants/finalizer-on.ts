/** I5: what lives under a `termination` block has the finalizer within five minutes: a deletion without it would end nothing in order. */
import type { KubernetesObject } from '../../shared/domain/kubernetes-object.ts';
import { toEpochMs, toIsoText } from '../../shared/domain/time.ts';
import { providerIDOf } from './deadline.ts';
import { groupObjects } from '../grouping.ts';
import { LONGEST_DELAY, type CheckContext, type MakeCheck } from './invariant.ts';
import { dig, nameOf, poolNameOf, textOf } from './reading.ts';
import { terminationPlan } from './termination-oracle.ts';

export const checkFinalizerOn: MakeCheck = context => {
  const { mirror, now, quietSince, lastDenial, violate } = context;
  const nodesOf = groupObjects(mirror, 'nodes', providerIDOf);
  const claimsOf = groupObjects(mirror, 'nodeclaims', providerIDOf);
  /** By UID: since when an object lacks which finalizer. */
  const lacking = new Map<string, { readonly name: string; readonly since: number }>();
  /** Instances whose Node or NodeClaim is another one since the last look, or lacks it: all else is as it was found. */
  const changed = new Set<string>();
  const instances = new Map<string, string>();
  let isAllNew = true;
  mirror.follow((resource, uid, object) => {
    if (resource === 'nodepools' || resource === 'nodelifecyclepolicies') isAllNew = true;
    if (resource !== 'nodes' && resource !== 'nodeclaims') return;
    const instance = object && providerIDOf(object);
    for (const each of [instances.get(uid), instance]) if (each !== undefined) changed.add(each);
    if (instance === undefined) instances.delete(uid);
    else instances.set(uid, instance);
  });
  return {
    onMinute() {
      const quiet = quietSince();
      if (quiet === undefined) {
        isAllNew = true;
        return lacking.clear();
      }
      const claims = isAllNew
        ? [...mirror.all('nodeclaims').values()]
        : [...changed].flatMap(instance => claimsOf.get(instance));
      isAllNew = false;
      changed.clear();
      for (const claim of claims) {
        const instance = providerIDOf(claim) ?? '';
        const [node, ...others] = nodesOf.get(instance);
        // Who shares an instance, or states another Node, is judged by nobody here; what is on its way gets nothing more.
        const isSure = others.length === 0 && claimsOf.get(instance).length === 1 && isNamed(claim, node);
        const pair = isSure && !isLeaving(claim) && !isLeaving(node) ? planOf(claim, context) : undefined;
        for (const object of node === undefined ? [claim] : [claim, node]) {
          const { uid, finalizers = [] } = object.metadata;
          const isIn = pair?.scope === 'NodeClaimAndNode' || (pair?.scope === 'NodeOnly' && object.kind === 'Node');
          if (pair === undefined || !isIn || finalizers.includes(pair.finalizerName)) {
            lacking.delete(uid);
            continue;
          }
          const { finalizerName: name } = pair;
          changed.add(instance);
          const known = lacking.get(uid);
          const denied = lastDenial(object.kind === 'Node' ? 'nodes' : 'nodeclaims', object.metadata);
          const since = Math.max(known?.name === name ? known.since : now(), quiet, denied);
          lacking.set(uid, { name, since });
          if (now() - since <= LONGEST_DELAY) continue;
          violate('I5', `${nameOf(object)} lacks the finalizer ${name} since ${toIsoText(toEpochMs(since))}`);
          lacking.set(uid, { name, since: Infinity });
        }
      }
    },
  };
};

const isLeaving = (object: KubernetesObject | undefined): boolean => object?.metadata.deletionTimestamp !== undefined;

const isNamed = (claim: KubernetesObject, node: KubernetesObject | undefined): boolean =>
  node === undefined || (textOf(dig(claim, 'status', 'nodeName')) ?? node.metadata.name) === node.metadata.name;

function planOf(claim: KubernetesObject, { mirror, policiesInForce }: CheckContext) {
  const name = poolNameOf(claim);
  const pool = mirror.named('nodepools', name);
  if (name !== undefined && pool === undefined) return undefined;
  const plan = terminationPlan(pool, policiesInForce([...mirror.all('nodelifecyclepolicies').values()]));
  return plan === 'none' || plan === 'unknown' ? undefined : plan;
}
