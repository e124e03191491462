/**
 * Reports faults in the settings of repair on the object that has them (I8). If an edit breaks a policy, the
 * generation that was accepted last stays in force until the fault is fixed. A policy that never was valid stops the
 * repairs of the pools that it selects (I6). Each policy has one record, written when its event is handled.
 */
import { OWNER } from './common/context.ts';
import { OWN_BLOCKS, unwatchedTypes } from './common/settings.ts';
import { keepPolicy } from '../../shared/cluster/kept-policies.ts';
import { listPolicies } from '../../shared/cluster/node-pool.ts';
import { parseNodePoolSelector } from '../../shared/contract/policy-schema.ts';
import { EVENT_REASONS } from '../../shared/contract/reasons.ts';
import { parseRepairBlock } from '../../shared/contract/repair-schema.ts';
import { RESOURCES } from '../../shared/contract/resources.ts';
import type { Subject } from '../../shared/contract/subject.ts';
import type { KubernetesObject } from '../../shared/domain/kubernetes-object.ts';
import { reportWarning } from '../../shared/lifecycle/refusals.ts';
import type { Reporter } from '../../shared/lifecycle/reporter.ts';
import type { UsedWakeUp } from '../../shared/lifecycle/timed-record.ts';
import { reportBlockFault } from '../../shared/policies/block-faults.ts';
import { faultIn } from '../../shared/policies/deciding-policy.ts';
import { readPolicies } from '../../shared/policies/policy-set.ts';
import type { FunctionDeps } from '../../shared/ports/function-deps.ts';
import { objectOf } from '../../shared/ports/read-answer.ts';

type Deps = Pick<FunctionDeps, 'kubernetes' | 'records' | 'wakeUps' | 'clock'> & { readonly reporter: Reporter };

const INVALID = EVENT_REASONS.invalidRepairConfiguration;

/**
 * Tells the author of a NodePool, on it, what is wrong with its repair block (I8).
 * @param resync the NodePool is only published again: the Event of a fault is recorded once more
 */
export async function reportNodePool(deps: Deps, { name }: Pick<Subject, 'name'>, resync = false): Promise<void> {
  const object = objectOf(await deps.kubernetes.get({ type: RESOURCES.NodePool, name }), { ifNotServed: 'empty' });
  const block = object?.spec?.['repair'];
  if (object === undefined || block === undefined) return;
  const parsed = parseRepairBlock(block, 'spec.repair');
  if (parsed.ok && !resync) await reportUnwatched(deps, object);
  const fault = parsed.ok ? undefined : parsed.message;
  const effect = 'the nodes it applies to are not repaired until it is valid';
  await reportBlockFault(deps.reporter, object, undefined, {
    block: 'repair',
    fault,
    reason: INVALID,
    effect,
    isRepeated: resync,
  });
}

/**
 * Tells the author of a policy, on it, what is wrong with it, and reports its conflicts with other policies: also those of
 * policies that this one may have overtaken. A version that can be used is kept.
 */
export async function reportPolicy(
  deps: Deps,
  subject: Subject,
  { wakeUp, resync = false }: { readonly wakeUp?: UsedWakeUp; readonly resync?: boolean | undefined } = {},
): Promise<void> {
  await keepPolicy(deps, { owner: OWNER, readers: [OWN_BLOCKS] }, subject, wakeUp);
  const objects = await listPolicies(deps);
  const object = objects.find(({ metadata }) => metadata.name === subject.name);
  if (object === undefined) return;
  const fault = faultIn(object, OWN_BLOCKS.blocks);
  const isNew = !resync && wakeUp === undefined;
  if (fault === undefined && isNew) await reportUnwatched(deps, object);
  const withoutIt = parseNodePoolSelector(object.spec).ok
    ? 'the nodes it applies to are not repaired'
    : 'it applies to no NodePool';
  const effect = `what was accepted last stays in force; without it ${withoutIt} until it is valid`;
  await reportBlockFault(deps.reporter, object, wakeUp === undefined ? readPolicies(objects) : undefined, {
    block: 'repair',
    fault,
    reason: INVALID,
    effect,
    isRepeated: !isNew,
  });
}

async function reportUnwatched({ reporter }: Deps, object: KubernetesObject): Promise<void> {
  const refuse = reportWarning(reporter, object, EVENT_REASONS.unknownConditionType, 'refuse');
  for (const message of unwatchedTypes(object)) await refuse(message, false);
}
