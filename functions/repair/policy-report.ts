/** Tells the author of a NodePool or NodeLifecyclePolicy, on that object, what is wrong with its repair block (I8). */
import { faultOf, forgetAccepted, rememberAccepted } from './settings.ts';
import { parseNodePoolSelector } from '../../shared/contract/policy-schema.ts';
import { EVENT_REASONS } from '../../shared/contract/reasons.ts';
import { parseRepairBlock } from '../../shared/contract/repair-schema.ts';
import { RESOURCES } from '../../shared/contract/resources.ts';
import type { Subject } from '../../shared/contract/subject.ts';
import type { KubernetesObject } from '../../shared/domain/kubernetes-object.ts';
import { nearestName } from '../../shared/domain/nearest-name.ts';
import { AWS_REPAIR_STATEMENTS } from '../../shared/domain/repair-policy.ts';
import type { Report, Reporter } from '../../shared/lifecycle/reporter.ts';
import type { UsedWakeUp } from '../../shared/lifecycle/timed-record.ts';
import { readPolicies } from '../../shared/policies/policy-set.ts';
import { tiesOf } from '../../shared/policies/policy-ties.ts';
import type { FunctionDeps } from '../../shared/ports/function-deps.ts';
import { objectOf, objectsOf } from '../../shared/ports/read-answer.ts';

type Deps = Pick<FunctionDeps, 'kubernetes' | 'records' | 'wakeUps' | 'clock'> & { readonly reporter: Reporter };

/**
 * Looks at the live NodePool and reports its faults: Warning Event and audit line.
 * @param resync it is only published again: the Event of a fault is recorded once more
 */
export async function reportNodePool(deps: Deps, { name }: Pick<Subject, 'name'>, resync = false): Promise<void> {
  const object = objectOf(await deps.kubernetes.get({ type: RESOURCES.NodePool, name }), { notServed: 'none' });
  const block = object?.spec?.['repair'];
  if (object === undefined || block === undefined) return;
  const parsed = parseRepairBlock(block, 'spec.repair');
  if (!parsed.ok) {
    const message = `${parsed.message}; the nodes it applies to are not repaired until it is valid`;
    return refuse(deps, object, { reason: EVENT_REASONS.invalidRepairConfiguration, message, isRepeated: resync });
  }
  if (!resync) await reportUnwatched(deps, object);
}

/** The same for a policy, and its ties with the other policies: also those of policies that this one may have overtaken. */
export async function reportPolicy(
  deps: Deps,
  subject: Subject,
  { wakeUp, resync = false }: { readonly wakeUp?: UsedWakeUp; readonly resync?: boolean | undefined } = {},
): Promise<void> {
  const objects = objectsOf(await deps.kubernetes.list(RESOURCES.NodeLifecyclePolicy), { notServed: 'notKnown' });
  const object = objects.find(({ metadata }) => metadata.name === subject.name);
  if (subject.uid !== undefined && object?.metadata.uid !== subject.uid) await forgetAccepted(deps, subject.uid);
  if (object === undefined) return;
  await rememberAccepted(deps, object, wakeUp);
  const fault = faultOf(object);
  if (fault !== undefined) {
    const effect = parseNodePoolSelector(object.spec).ok
      ? 'what was accepted last stays in force; without it the nodes it applies to are not repaired until it is valid'
      : 'what was accepted last stays in force; without it it applies to no NodePool until it is valid';
    const isRepeated = resync || wakeUp !== undefined;
    const message = `${fault}; ${effect}`;
    await refuse(deps, object, { reason: EVENT_REASONS.invalidRepairConfiguration, message, isRepeated });
  } else if (!resync && wakeUp === undefined) await reportUnwatched(deps, object);
  if (wakeUp !== undefined) return;
  for (const { loser, message } of tiesOf(object, 'repair', readPolicies(objects))) {
    await refuse(deps, loser, { reason: EVENT_REASONS.policyConflict, message, isRepeated: resync });
  }
}

async function reportUnwatched(deps: Deps, object: KubernetesObject): Promise<void> {
  const reason = EVENT_REASONS.unknownConditionType;
  for (const message of unwatchedTypes(object)) await refuse(deps, object, { reason, message, isRepeated: false });
}

async function refuse(
  deps: Deps,
  about: KubernetesObject,
  fault: Pick<Report, 'reason' | 'message' | 'isRepeated'>,
): Promise<void> {
  await deps.reporter.report({ about, decision: 'refuse', ...fault, event: { type: 'Warning' } });
}

/** A message for each such type, with the nearest known name; none for a block that cannot be read. */
export function unwatchedTypes({ spec }: Pick<KubernetesObject, 'spec'>): readonly string[] {
  const block = spec?.['repair'];
  const parsed = block === undefined ? undefined : parseRepairBlock(block, 'spec.repair');
  if (parsed?.ok !== true) return [];
  const own = new Set(parsed.value.conditions.map(({ type }) => type));
  const watched = [...new Set(AWS_REPAIR_STATEMENTS.map(({ type }) => type))];
  return parsed.value.overrides.flatMap(({ conditionType: type }, index) => {
    if (watched.includes(type)) return [];
    const path = `spec.repair.policies.${index}.conditionType`;
    if (own.has(type)) {
      return [`${path}: ${type} is one of spec.repair.conditions and has its toleration there: this one has no effect`];
    }
    const near = nearestName(type, watched);
    const hint = near === undefined ? '' : `; did you mean ${near}?`;
    const known = `watched are ${watched.toSorted().join(', ')}, and what spec.repair.conditions adds`;
    return [`${path}: no rule watches ${JSON.stringify(type)}, this has no effect${hint} (${known})`];
  });
}
