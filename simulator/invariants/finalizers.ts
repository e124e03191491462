/**
 * I1: the finalizer that keeps a Node or NodeClaim for Curfew's termination goes only when the instance is gone, or at a deadline that
 * the user set. Who takes it off, and why, makes no difference.
 */
import { deadlineOf, hasOneClaim, providerIDOf } from './deadline.ts';
import { toEpochMs, toIsoText } from '../../shared/domain/time.ts';
import type { KubernetesObject } from '../../shared/domain/kubernetes-object.ts';
import type { MakeCheck } from './invariant.ts';
import type { Mirror } from './mirror.ts';
import { dig, listOf, nameOf } from './reading.ts';

const OWN_FINALIZERS: readonly string[] = ['curfew.dev/termination', 'curfew.dev/finalizer-rule'];
const KARPENTER_FINALIZER = 'karpenter.sh/termination';

/** Whether it is the name of Curfew's finalizer: one of its own, or one that a NodePool, policy or rule asks for. */
export function isOurFinalizer(name: string, mirror: Mirror): boolean {
  if (OWN_FINALIZERS.includes(name)) return true;
  if (rulesWith(name, mirror).length > 0) return true;
  const pools = [...mirror.lastPools().values()];
  const policies = [...mirror.all('nodelifecyclepolicies').values()];
  return (
    pools.some(pool => dig(pool, 'spec', 'disruption', 'customFinalizerName') === name) ||
    policies.some(policy => dig(policy, 'spec', 'termination', 'finalizerName') === name)
  );
}

/** Several rules may name one finalizer. */
export const rulesWith = (finalizer: string, mirror: Mirror): readonly KubernetesObject[] =>
  [...mirror.all('finalizerrules').values()].filter(rule => dig(rule, 'spec', 'finalizerName') === finalizer);

export const checkFinalizers: MakeCheck = context => {
  const { mirror, now, clockTolerance, instanceState, violate } = context;
  let seen = -1;
  const leaving = new Map<string, KubernetesObject>();
  mirror.follow((resource, uid, object) => {
    if (resource !== 'nodeclaims' && resource !== 'nodes') return;
    if (object?.metadata.deletionTimestamp === undefined) leaving.delete(uid);
    else leaving.set(uid, object);
  });
  return {
    onRun() {
      // A deadline depends on nothing but what is in the cluster.
      if (mirror.changes() === seen) return;
      seen = mirror.changes();
      for (const object of leaving.values()) deadlineOf(object, mirror);
    },
    onWrite({ before, after, resource }, by) {
      if (before === undefined || !['nodes', 'nodeclaims'].includes(resource.resource)) return;
      const left = listOf(dig(after, 'metadata', 'finalizers'));
      const taken = (before.metadata.finalizers ?? []).filter(
        name => !left.includes(name) && isOurFinalizer(name, mirror),
      );
      if (taken.length === 0) return;
      // A living object that changes hands: another finalizer that ends the instance stays on it.
      const stays = left.some(name => name === KARPENTER_FINALIZER || isOurFinalizer(String(name), mirror));
      if (before.metadata.deletionTimestamp === undefined && stays) return;
      const providerID = providerIDOf(before);
      const state = providerID === undefined ? undefined : instanceState(providerID);
      if (state === undefined || state === 'terminated' || !hasOneClaim(before, mirror)) return;
      const deadline = deadlineOf(before, mirror);
      if (deadline !== undefined && deadline <= now() + clockTolerance) return;
      const end = deadline === undefined ? 'has no deadline' : `has until ${toIsoText(toEpochMs(deadline))}`;
      violate(
        'I1',
        `${by} takes ${taken.join(', ')} off ${nameOf(before)}, whose instance is ${state} and which ${end}`,
      );
    },
  };
};
