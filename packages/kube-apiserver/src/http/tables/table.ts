/** `meta.k8s.io` Tables: what kubectl prints. */
import type { KubernetesObject } from '../../kubernetes-object.ts';
import { badRequest } from '../../status-errors.ts';
import type { ResourceInfo } from '../../types.ts';
import type { Cell } from './columns.ts';
import { columnsOf } from './columns-of-resource.ts';

/** How much of each object its row carries. */
export type IncludeObject = 'None' | 'Metadata' | 'Object';

export interface TableOptions {
  readonly includeObject: IncludeObject;
  readonly metaVersion: 'v1' | 'v1beta1';
  /** Later events of a watch leave the headers out. */
  readonly noHeaders?: boolean;
  /** Epoch ms; ages count to it. */
  readonly now: number;
}

export interface ListMeta {
  readonly resourceVersion?: string;
  readonly continue?: string;
  readonly remainingItemCount?: number;
}

export interface PartialObjectMetadata {
  readonly kind: 'PartialObjectMetadata';
  readonly apiVersion: string;
  readonly metadata: KubernetesObject['metadata'];
}

interface ColumnDefinition {
  readonly name: string;
  readonly type: string;
  readonly format: string;
  readonly description: string;
  readonly priority: number;
}

export interface Table {
  readonly kind: 'Table';
  readonly apiVersion: string;
  readonly metadata: ListMeta;
  readonly columnDefinitions: readonly ColumnDefinition[] | null;
  readonly rows: readonly { cells: readonly Cell[]; object: KubernetesObject | PartialObjectMetadata | null }[];
}

/** Reads `?includeObject=`. Throws 400 for another value. */
export function parseIncludeObject(text: string | null): IncludeObject {
  if (text === null || text === '') return 'Metadata';
  if (text === 'None' || text === 'Metadata' || text === 'Object') return text;
  throw badRequest(
    `Unable to convert to Table as requested: includeObject: Invalid value: "${text}": must be 'Metadata', 'Object', 'None', or empty`,
  );
}

export function partialMetadata(object: KubernetesObject, metaVersion: 'v1' | 'v1beta1'): PartialObjectMetadata {
  return { kind: 'PartialObjectMetadata', apiVersion: `meta.k8s.io/${metaVersion}`, metadata: object.metadata };
}

/** A table of objects of one resource, one row each. */
export function tableOf(
  resource: ResourceInfo,
  objects: readonly KubernetesObject[],
  metadata: ListMeta,
  options: TableOptions,
): Table {
  const columns = columnsOf(resource);
  const rowObject = (object: KubernetesObject): KubernetesObject | PartialObjectMetadata | null => {
    if (options.includeObject === 'None') return null;
    return options.includeObject === 'Object' ? object : partialMetadata(object, options.metaVersion);
  };
  return {
    kind: 'Table',
    apiVersion: `meta.k8s.io/${options.metaVersion}`,
    metadata,
    columnDefinitions:
      options.noHeaders === true
        ? null
        : columns.map(({ name, type, format, description, priority }) => ({
            name,
            type,
            format,
            description,
            priority,
          })),
    rows: objects.map(object => ({
      cells: columns.map(each => each.cell(object, options.now)),
      object: rowObject(object),
    })),
  };
}
