/**
 * I1: the finalizer that keeps a Node or NodeClaim for Curfew's termination goes only when the instance is gone, or at a deadline that
 * the user set. Whoever takes it off, and why, makes no difference.
 */
import type { KubernetesObject } from '../../shared/domain/kubernetes-object.ts';
import { toEpochMs, toIsoText } from '../../shared/domain/time.ts';
import type { CheckContext, MakeCheck } from './invariant.ts';
import type { Mirror } from './mirror.ts';
import {
  annotationOf,
  dig,
  instantOf,
  listOf,
  millisecondsOf,
  nameOf,
  textOf,
  TERMINATION_TIMESTAMP,
} from './reading.ts';
import { poolNameOf } from './repair-oracle.ts';

const DEFAULT_FINALIZER = 'curfew.dev/termination';

/** Whether it is the name of Curfew's finalizer: the default one, or one that a NodePool or policy asks for now. */
export function isOurFinalizer(name: string, mirror: Mirror): boolean {
  if (name === DEFAULT_FINALIZER) return true;
  const pools = [...mirror.all('nodepools').values()];
  const policies = [...mirror.all('nodelifecyclepolicies').values()];
  return (
    pools.some(pool => dig(pool, 'spec', 'disruption', 'customFinalizerName') === name) ||
    policies.some(policy => dig(policy, 'spec', 'termination', 'finalizerName') === name)
  );
}

export const checkFinalizers: MakeCheck = context => {
  const { mirror, now, clockTolerance, instanceState, violate } = context;
  return {
    onWrite({ before, after, resource }, by) {
      if (before === undefined || !['nodes', 'nodeclaims'].includes(resource.resource)) return;
      const left = listOf(dig(after, 'metadata', 'finalizers'));
      const taken = (before.metadata.finalizers ?? []).filter(
        name => !left.includes(name) && isOurFinalizer(name, mirror),
      );
      if (taken.length === 0) return;
      const providerID = providerIDOf(before);
      const state = providerID === undefined ? undefined : instanceState(providerID);
      if (state === undefined || state === 'terminated') return;
      const deadline = deadlineOf(before, context);
      if (deadline !== undefined && deadline <= now() + clockTolerance) return;
      const end = deadline === undefined ? 'has no deadline' : `has until ${toIsoText(toEpochMs(deadline))}`;
      violate(
        'I1',
        `${by} takes ${taken.join(', ')} off ${nameOf(before)}, whose instance is ${state} and which ${end}`,
      );
    },
  };
};

const providerIDOf = (object: KubernetesObject): string | undefined =>
  textOf(dig(object, 'spec', 'providerID')) ?? textOf(dig(object, 'status', 'providerID'));

/** Epoch milliseconds: what was declared, else the deletion and the period of NodeClaim, NodePool or the shortest of any policy. */
function deadlineOf(object: KubernetesObject, { mirror }: CheckContext): number | undefined {
  const providerID = providerIDOf(object);
  const claim =
    object.kind === 'NodeClaim'
      ? object
      : [...mirror.all('nodeclaims').values()].find(other => providerIDOf(other) === providerID);
  const declared = claim && instantOf(annotationOf(claim, TERMINATION_TIMESTAMP));
  if (declared !== undefined) return declared;
  const deletion = instantOf(claim?.metadata.deletionTimestamp ?? object.metadata.deletionTimestamp);
  const poolName = poolNameOf(claim ?? object);
  const pool = [...mirror.all('nodepools').values()].find(({ metadata }) => metadata.name === poolName);
  const ofPool = dig(pool, 'spec', 'disruption', 'terminationGracePeriodSeconds');
  const ofPolicies = [...mirror.all('nodelifecyclepolicies').values()].flatMap(
    policy => millisecondsOf(dig(policy, 'spec', 'termination', 'terminationGracePeriod')) ?? [],
  );
  const period =
    millisecondsOf(dig(claim, 'spec', 'terminationGracePeriod')) ??
    (typeof ofPool === 'number' ? ofPool * 1000 : undefined) ??
    (ofPolicies.length > 0 ? Math.min(...ofPolicies) : undefined);
  return deletion === undefined || period === undefined ? undefined : deletion + period;
}
