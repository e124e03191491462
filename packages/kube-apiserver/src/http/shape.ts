/** Objects and lists in the shape a client asked for: as they are, as a Table, or metadata only. */
import type { KubernetesObject } from '../kubernetes-object.ts';
import { apiVersionOf } from '../kubernetes-object.ts';
import type { ListResult, ResourceInfo } from '../types.ts';
import type { Representation } from './accept.ts';
import { isObject } from '../json.ts';
import { notConvertible } from './http-errors.ts';
import { objectAt, valueAt } from './json-fields.ts';
import type { IncludeObject, ListMeta } from './tables/table.ts';
import { partialMetadata, tableOf } from './tables/table.ts';

export interface Shape {
  readonly resource: ResourceInfo;
  readonly representation: Representation;
  readonly includeObject: IncludeObject;
  /** Epoch ms that ages in tables count to. */
  readonly now: number;
}

/** One object, as the answer to a get or a write. `noHeaders` is for the later events of a watch. */
export function shapeObject(object: KubernetesObject, shape: Shape, noHeaders = false): unknown {
  const metaVersion = shape.representation.metaVersion ?? 'v1';
  switch (shape.representation.as) {
    case undefined:
      return object;
    case 'PartialObjectMetadata':
      return partialMetadata(object, metaVersion);
    case 'PartialObjectMetadataList':
      throw notConvertible('you requested PartialObjectMetadataList, but the requested object is not a list');
    case 'Table': {
      const { includeObject, now } = shape;
      const metadata = { resourceVersion: object.metadata.resourceVersion };
      return tableOf(shape.resource, [object], metadata, { includeObject, metaVersion, now, noHeaders });
    }
  }
}

/** An answer's body without the version of an object that was never stored (a dry run). */
export function withoutEmptyVersion(body: unknown): unknown {
  if (!isObject(body) || valueAt(body, 'metadata', 'resourceVersion') !== '') return body;
  return { ...body, metadata: { ...objectAt(body, 'metadata'), resourceVersion: undefined } };
}

export function listMeta(result: ListResult): ListMeta {
  return {
    resourceVersion: result.resourceVersion,
    ...(result.continue === undefined ? {} : { continue: result.continue }),
    ...(result.remainingItemCount === undefined ? {} : { remainingItemCount: result.remainingItemCount }),
  };
}

/** Items of built-in lists leave out `kind` and `apiVersion`, which the list implies; custom resources keep theirs. */
export function listItem(object: KubernetesObject, resource: ResourceInfo): unknown {
  if (resource.schema !== undefined) return object;
  const { kind: _kind, apiVersion: _apiVersion, ...rest } = object;
  return rest;
}

/** Throws 406 where the client asks for a list as `PartialObjectMetadata`. */
export function shapeList(result: ListResult, shape: Shape): unknown {
  const metaVersion = shape.representation.metaVersion ?? 'v1';
  const metadata = listMeta(result);
  switch (shape.representation.as) {
    case undefined:
      return {
        kind: shape.resource.listKind,
        apiVersion: apiVersionOf(shape.resource),
        metadata,
        items: result.items.map(item => listItem(item, shape.resource)),
      };
    case 'PartialObjectMetadata':
      throw notConvertible('you requested PartialObjectMetadata, but the requested object is a list');
    case 'PartialObjectMetadataList':
      return {
        kind: 'PartialObjectMetadataList',
        apiVersion: `meta.k8s.io/${metaVersion}`,
        metadata,
        items: result.items.map(item => partialMetadata(item, metaVersion)),
      };
    case 'Table': {
      const { includeObject, now } = shape;
      return tableOf(shape.resource, result.items, metadata, { includeObject, metaVersion, now });
    }
  }
}
