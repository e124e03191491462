/** Overrides in `repair.policies` for condition types that nothing watches: a misspelt one would have no effect, without a word. Pure. */
import { parseRepairBlock } from '../../../shared/contract/repair-schema.ts';
import type { KubernetesObject } from '../../../shared/domain/kubernetes-object.ts';
import { nearestName } from '../../../shared/domain/nearest-name.ts';
import { AWS_REPAIR_STATEMENTS } from '../../../shared/domain/repair-policy.ts';

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
