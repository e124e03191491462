/** A table column: its header, and how one object's cell is computed. */
import type { KubernetesObject } from '../../kubernetes-object.ts';
import { isObject, type JsonObject } from '../../json.ts';
import { listAt, objectAt, textAt } from '../json-fields.ts';
import { ageOf } from './age.ts';

export type Cell = string | number | boolean | null;

export interface Column {
  readonly name: string;
  readonly type: string;
  readonly format: string;
  readonly description: string;
  /** 0 is always shown, 1 only with `-o wide`. */
  readonly priority: number;
  readonly cell: (object: KubernetesObject, now: number) => Cell;
}

type CellOf = Column['cell'];

export function column(name: string, description: string, cell: CellOf, type = 'string'): Column {
  return { name, type, format: '', description, priority: 0, cell };
}

/** A column that kubectl shows only with `-o wide`. */
export function wide(name: string, description: string, cell: CellOf): Column {
  return { ...column(name, description, cell), priority: 1 };
}

/** Every table has it; kubectl finds the name by its format. */
export const nameColumn: Column = {
  ...column('Name', 'Name of the object, unique among its kind in its namespace.', object => object.metadata.name),
  format: 'name',
};

export const ageColumn: Column = column('Age', 'Time since the object was created.', (object, now) =>
  ageOf(object.metadata.creationTimestamp, now),
);

export function orNone(text: string): string {
  return text === '' ? '<none>' : text;
}

/** `key=value` pairs, sorted, as selectors and labels are printed. */
export function pairsOf(record: JsonObject): string {
  return orNone(
    Object.keys(record)
      .map(key => `${key}=${textAt(record, key)}`)
      .toSorted()
      .join(','),
  );
}

/** A LabelSelector in the syntax of `kubectl -l`. */
function selectorText(selector: unknown): string {
  if (!isObject(selector)) return '<none>';
  const labels = objectAt(selector, 'matchLabels');
  const requirements = Object.keys(labels).map(key => `${key}=${textAt(labels, key)}`);
  for (const expression of listAt(selector, 'matchExpressions')) {
    const key = textAt(expression, 'key');
    const values = listAt(expression, 'values').map(String).toSorted().join(',');
    switch (textAt(expression, 'operator')) {
      case 'In':
        requirements.push(`${key} in (${values})`);
        break;
      case 'NotIn':
        requirements.push(`${key} notin (${values})`);
        break;
      case 'Exists':
        requirements.push(key);
        break;
      default:
        requirements.push(`!${key}`);
    }
  }
  return orNone(requirements.toSorted().join(','));
}

function podTemplateOf(object: KubernetesObject): unknown {
  return objectAt(object.spec, 'template');
}

/** The wide columns that all workloads with a pod template share. */
export const templateColumns: readonly Column[] = [
  wide('Containers', 'Names of the containers in the template.', object =>
    listAt(podTemplateOf(object), 'spec', 'containers')
      .map(container => textAt(container, 'name'))
      .join(','),
  ),
  wide('Images', 'Images of the containers in the template.', object =>
    listAt(podTemplateOf(object), 'spec', 'containers')
      .map(container => textAt(container, 'image'))
      .join(','),
  ),
];

export const selectorColumn: Column = wide('Selector', 'Selector of the pods.', object =>
  selectorText(objectAt(object.spec)['selector']),
);
