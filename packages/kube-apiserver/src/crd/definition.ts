/** What a CustomResourceDefinition says, read out of its JSON. */
import type { JsonObject } from '../json.ts';
import { EMPTY_OBJECT, arrayAt, isObject, objectAt, textAt } from '../json.ts';
import { metadataOf, nameOf } from '../objects.ts';
import type { ResourceInfo } from '../types.ts';

export interface DefinedVersion {
  readonly version: string;
  readonly served: boolean;
  readonly storage: boolean;
  readonly schema: JsonObject;
  readonly hasStatus: boolean;
  readonly printerColumns: ResourceInfo['printerColumns'];
  /** Dotted paths of `selectableFields`. */
  readonly selectableFields: readonly string[];
}

export interface Definition {
  readonly name: string;
  readonly group: string;
  readonly kind: string;
  readonly listKind: string;
  readonly plural: string;
  readonly singular: string;
  readonly shortNames: readonly string[];
  readonly categories: readonly string[];
  readonly namespaced: boolean;
  readonly terminating: boolean;
  readonly versions: readonly DefinedVersion[];
}

/** The definition in a stored CustomResourceDefinition. */
export function readDefinition(object: JsonObject): Definition {
  const spec = objectAt(object, 'spec');
  const names = objectAt(spec, 'names');
  const kind = textAt(names, 'kind') ?? '';
  return {
    name: nameOf(object),
    group: textAt(spec, 'group') ?? '',
    kind,
    listKind: textAt(names, 'listKind') ?? `${kind}List`,
    plural: textAt(names, 'plural') ?? '',
    singular: textAt(names, 'singular') ?? kind.toLowerCase(),
    shortNames: texts(names, 'shortNames'),
    categories: texts(names, 'categories'),
    namespaced: spec.scope === 'Namespaced',
    terminating: metadataOf(object).deletionTimestamp !== undefined,
    versions: arrayAt(spec, 'versions').filter(isObject).map(readVersion),
  };
}

function readVersion(version: JsonObject): DefinedVersion {
  const schema = objectAt(version, 'schema').openAPIV3Schema;
  return {
    version: textAt(version, 'name') ?? '',
    served: version.served === true,
    storage: version.storage === true,
    schema: isObject(schema) ? schema : EMPTY_OBJECT,
    hasStatus: isObject(objectAt(version, 'subresources').status),
    printerColumns: readColumns(version),
    selectableFields: arrayAt(version, 'selectableFields')
      .filter(isObject)
      .flatMap(field => textAt(field, 'jsonPath') ?? [])
      .map(path => path.replace(/^\./, '')),
  };
}

function readColumns(version: JsonObject): ResourceInfo['printerColumns'] {
  const columns = arrayAt(version, 'additionalPrinterColumns').filter(isObject);
  if (columns.length === 0) return undefined;
  return columns.map(column => ({
    name: textAt(column, 'name') ?? '',
    type: textAt(column, 'type') ?? 'string',
    jsonPath: textAt(column, 'jsonPath') ?? '',
    ...(typeof column.priority === 'number' ? { priority: column.priority } : {}),
    ...(typeof column.description === 'string' ? { description: column.description } : {}),
  }));
}

function texts(object: JsonObject, key: string): string[] {
  return arrayAt(object, key).filter(item => typeof item === 'string');
}

/** `v2` before `v1` before `v2beta1` before `v1alpha1` before anything else: the order in which versions are preferred. */
export function byPreference(a: { readonly version: string }, b: { readonly version: string }): number {
  const [left, right] = [rank(a.version), rank(b.version)];
  for (const [index, value] of left.entries()) {
    const difference = (right[index] ?? 0) - value;
    if (difference !== 0) return difference;
  }
  return a.version < b.version ? -1 : a.version > b.version ? 1 : 0;
}

/** Stability, then major, then minor version; higher is preferred. */
function rank(version: string): [number, number, number] {
  const match = /^v(\d+)(?:(alpha|beta)(\d+))?$/.exec(version);
  if (match === null) return [0, 0, 0];
  const [, major, stability, minor] = match;
  return [stability === undefined ? 3 : stability === 'beta' ? 2 : 1, Number(major), Number(minor ?? 0)];
}
