/** `metav1.LabelSelector`: `matchLabels` and `matchExpressions`, all of which must hold. An empty selector selects everything. */

export interface LabelSelectorRequirement {
  readonly key: string;
  readonly operator: 'In' | 'NotIn' | 'Exists' | 'DoesNotExist';
  readonly values?: readonly string[] | undefined;
}

export interface LabelSelector {
  readonly matchLabels?: Readonly<Record<string, string>> | undefined;
  readonly matchExpressions?: readonly LabelSelectorRequirement[] | undefined;
}

/** Whether all requirements hold. `NotIn` also holds for an absent key, as in Kubernetes. */
export function selects(selector: LabelSelector, labels: Readonly<Record<string, string>>): boolean {
  const labelsMatch = Object.entries(selector.matchLabels ?? {}).every(([key, value]) => labels[key] === value);
  return labelsMatch && (selector.matchExpressions ?? []).every(requirement => holds(requirement, labels));
}

/** How specific a selector is: the number of its requirements. */
export function specificity(selector: LabelSelector): number {
  return Object.keys(selector.matchLabels ?? {}).length + (selector.matchExpressions?.length ?? 0);
}

function holds(
  { key, operator, values = [] }: LabelSelectorRequirement,
  labels: Readonly<Record<string, string>>,
): boolean {
  const value = labels[key];
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
