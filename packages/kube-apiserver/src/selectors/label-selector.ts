/** LabelSelectors in objects (`matchLabels`, `matchExpressions`), as budgets and workloads use them. */
import type { JsonObject } from '../json.ts';
import { arrayAt, isObject, objectAt, textAt } from '../json.ts';

/** True when the labels satisfy every requirement; an unknown operator is satisfied by nothing. */
export function labelSelectorMatches(selector: JsonObject, labels: JsonObject): boolean {
  return (
    Object.entries(objectAt(selector, 'matchLabels')).every(([key, value]) => labels[key] === value) &&
    arrayAt(selector, 'matchExpressions').every(expression => isObject(expression) && satisfies(expression, labels))
  );
}

function satisfies(expression: JsonObject, labels: JsonObject): boolean {
  const value = labels[textAt(expression, 'key') ?? ''];
  const values = arrayAt(expression, 'values');
  switch (textAt(expression, 'operator') ?? '') {
    case 'In':
      return value !== undefined && values.includes(value);
    case 'NotIn':
      return value === undefined || !values.includes(value);
    case 'Exists':
      return value !== undefined;
    case 'DoesNotExist':
      return value === undefined;
    default:
      return false;
  }
}
