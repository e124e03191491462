/** `metav1.LabelSelector`: `matchLabels` and `matchExpressions`, all of which must be met. An empty selector selects everything. */

export interface LabelSelectorRequirement {
  readonly key: string;
  readonly operator: 'In' | 'NotIn' | 'Exists' | 'DoesNotExist';
  readonly values?: readonly string[] | undefined;
}

export interface LabelSelector {
  readonly matchLabels?: Readonly<Record<string, string>> | undefined;
  readonly matchExpressions?: readonly LabelSelectorRequirement[] | undefined;
}

/** Whether all requirements are met. `NotIn` also is by an absent key, as in Kubernetes. */
export function selects(selector: LabelSelector, labels: Readonly<Record<string, string>>): boolean {
  const labelsMatch = Object.entries(selector.matchLabels ?? {}).every(
    ([key, value]) => valueOf(labels, key) === value,
  );
  return labelsMatch && (selector.matchExpressions ?? []).every(requirement => isMet(requirement, labels));
}

/** Number of the requirements of a selector: the more it has, the more specific it is. */
export function specificity(selector: LabelSelector): number {
  return Object.keys(selector.matchLabels ?? {}).length + (selector.matchExpressions?.length ?? 0);
}

/** `constructor` is a valid label key: only the labels' own properties count. */
export const valueOf = (labels: Readonly<Record<string, string>>, key: string): string | undefined =>
  Object.hasOwn(labels, key) ? labels[key] : undefined;

/** Whether the requirement is met. `NotIn` also is by an absent key. */
export function isMet(
  { key, operator, values = [] }: LabelSelectorRequirement,
  labels: Readonly<Record<string, string>>,
): boolean {
  const value = valueOf(labels, key);
  switch (operator) {
    case 'In':
      return value !== undefined && values.includes(value);
    case 'NotIn':
      return value === undefined || !values.includes(value);
    case 'Exists':
      return value !== undefined;
    case 'DoesNotExist':
      return value === undefined;
  }
}

/** Whether some set of labels is selected by both. Exact, since each requirement is about one key. */
export function canBothSelect(a: LabelSelector, b: LabelSelector): boolean {
  const requirements = [a, b].flatMap(toRequirements);
  return [...new Set(requirements.map(({ key }) => key))].every(key =>
    isSatisfiable(requirements.filter(requirement => requirement.key === key)),
  );
}

function toRequirements({ matchLabels = {}, matchExpressions = [] }: LabelSelector): LabelSelectorRequirement[] {
  const equal = Object.entries(matchLabels).map(([key, value]) => ({ key, operator: 'In' as const, values: [value] }));
  return [...equal, ...matchExpressions];
}

/** Whether some value of the key, or its absence, meets all requirements, which are about this one key. */
function isSatisfiable(requirements: readonly LabelSelectorRequirement[]): boolean {
  const key = requirements[0]?.key ?? '';
  const named = requirements.flatMap(({ values = [] }) => values);
  // A value that nobody names stands for all others.
  const other = `${named.join('')}-`;
  return [{}, ...[...named, other].map(value => ({ [key]: value }))].some(labels =>
    requirements.every(requirement => isMet(requirement, labels)),
  );
}
