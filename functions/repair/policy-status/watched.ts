/** Overrides in `repair.policies` for condition types that nothing watches: a misspelt one would have no effect, without a word. Pure. */
import { parseRepairBlock } from '../../../shared/contract/repair-schema.ts';
import type { KubernetesObject } from '../../../shared/domain/kubernetes-object.ts';
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
    const near = nearest(type, watched);
    const hint = near === undefined ? '' : `; did you mean ${near}?`;
    const known = `watched are ${watched.toSorted().join(', ')}, and what spec.repair.conditions adds`;
    return [`${path}: no rule watches ${JSON.stringify(type)}, this has no effect${hint} (${known})`];
  });
}

/** The known name with the fewest edits to `text`, if they are few for its length. */
function nearest(text: string, known: readonly string[]): string | undefined {
  const ranked = known
    .map(name => ({ name, distance: editDistance(text.toLowerCase(), name.toLowerCase()) }))
    .toSorted((a, b) => a.distance - b.distance);
  const [best] = ranked;
  return best !== undefined && best.distance <= Math.max(2, Math.floor(best.name.length / 3)) ? best.name : undefined;
}

/** Levenshtein: insertions, deletions and replacements of one character. */
function editDistance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      const replace = (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      next.push(Math.min(replace, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row[b.length] ?? 0;
}
