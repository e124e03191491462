/** Columns of a custom resource, from its `additionalPrinterColumns`. */
import type { KubernetesObject } from '../../kubernetes-object.ts';
import type { ResourceInfo } from '../../types.ts';
import { evaluateJsonPath, parseJsonPath } from '../json-path.ts';
import { ageOf } from './age.ts';
import { ageColumn, nameColumn, type Cell, type Column } from './columns.ts';

type PrinterColumn = NonNullable<ResourceInfo['printerColumns']>[number];

/** Text as Go prints a found value: scalars as they are, the rest as JSON. */
function textOf(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}

/** A cell of the declared type; a value of another type shows as nothing. */
function cellOf(type: string, value: unknown, now: number): Cell {
  if (value === undefined || value === null) return null;
  switch (type) {
    case 'string':
      return textOf(value);
    case 'integer':
      return typeof value === 'number' ? Math.trunc(value) : null;
    case 'number':
      return typeof value === 'number' ? value : null;
    case 'boolean':
      return typeof value === 'boolean' ? value : null;
    case 'date':
      return typeof value === 'string' ? ageOf(value, now) : null;
    default:
      return null;
  }
}

function customColumn(printer: PrinterColumn): Column {
  const path = parseJsonPath(printer.jsonPath);
  const cell = (object: KubernetesObject, now: number): Cell =>
    path === undefined ? null : cellOf(printer.type, evaluateJsonPath(path, object)[0], now);
  return {
    name: printer.name,
    type: printer.type,
    format: '',
    description: printer.description ?? `Custom resource definition column (in JSONPath format): ${printer.jsonPath}`,
    priority: printer.priority ?? 0,
    cell,
  };
}

/** Name and the declared columns; name and age when none are declared. */
export function customColumns(declared: readonly PrinterColumn[] | undefined): readonly Column[] {
  if (declared === undefined || declared.length === 0) return [nameColumn, { ...ageColumn, type: 'date' }];
  return [nameColumn, ...declared.map(customColumn)];
}
