/** Tells the author of a NodePool or NodeLifecyclePolicy, on that object, that its repair block cannot be used (I8). */
import { EVENT_REASONS } from '../contract/reasons.ts';
import { RESOURCES } from '../contract/resources.ts';
import type { Subject } from '../contract/subject.ts';
import { parseNodePoolSelector, parsePolicyFrame } from '../contract/policy-schema.ts';
import type { KubernetesObject } from '../domain/kubernetes-object.ts';
import type { FunctionDeps } from '../ports/function-deps.ts';
import { loadPolicies } from '../cluster/node-pool.ts';
import { tieOf } from '../policies/policy-ties.ts';
import { repairFault } from './repair-settings.ts';

type Deps = Pick<FunctionDeps, 'kubernetes' | 'events' | 'audit'>;

/** Looks at the live object and reports what is wrong with it: Warning Event and audit line. */
export async function reportRepairFaults(deps: Deps, subject: Subject): Promise<void> {
  const isPool = subject.kind === 'NodePool';
  const type = isPool ? RESOURCES.NodePool : RESOURCES.NodeLifecyclePolicy;
  const object = await deps.kubernetes.get({ type, name: subject.name });
  if (object === undefined) return;
  const frame = isPool ? undefined : parsePolicyFrame(object.spec);
  const frameFault = frame?.ok === false ? frame.message : undefined;
  const faults = [frameFault, repairFault(object)].filter(fault => fault !== undefined);
  if (faults.length > 0) {
    const applies = isPool || parseNodePoolSelector(object.spec).ok;
    const effect = applies
      ? 'the nodes it applies to are not repaired until it is valid'
      : 'it applies to no NodePool until it is valid';
    await report(deps, object, EVENT_REASONS.invalidRepairConfiguration, `${faults.join('; ')}; ${effect}`);
  }
  const tie = isPool ? undefined : tieOf(object, 'repair', await loadPolicies(deps));
  if (tie !== undefined) await report(deps, object, EVENT_REASONS.policyConflict, tie);
}

async function report(deps: Deps, object: KubernetesObject, reason: string, message: string): Promise<void> {
  deps.audit.write({
    function: 'repair',
    decision: 'refuse',
    reason,
    message,
    kind: object.kind,
    name: object.metadata.name,
    uid: object.metadata.uid,
  });
  await deps.events.record({ type: 'Warning', reason, message, about: object });
}
