/** One page of a list over HTTP; what functions and the forwarder share. Items are parsed and projected as they arrive. */
import type { Readable } from 'node:stream';
import { isJsonObject } from '../../domain/json.ts';
import type { KubernetesObject, ResourceType } from '../../domain/kubernetes-object.ts';
import type { ListQuery, ObjectProjection } from '../../ports/kubernetes-api.ts';
import { isNotFound, parseApiFailure } from './api-failure.ts';
import { toThrown } from './errors.ts';
import { createListItems } from './list-items.ts';
import { parseJson, parseList, parseObject } from './objects.ts';
import { collectionPath } from './paths.ts';
import { readChunks, readText, toText } from './read-body.ts';
import type { Transport } from './transport.ts';

export type ListAnswer =
  | {
      readonly kind: 'page';
      readonly items: readonly KubernetesObject[];
      readonly resourceVersion: string;
      readonly continue?: string;
    }
  /** 404: no such resource, its CRD is missing. (A namespace that does not exist has an empty list.) */
  | { readonly kind: 'notServed' }
  /** 410: the continue token is too old, start again. */
  | { readonly kind: 'expired'; readonly message: string };

export interface ListPageOptions {
  readonly query?: ListQuery;
  /** Without it everything comes in one answer. */
  readonly limit?: number | undefined;
  readonly continue?: string;
  readonly signal?: AbortSignal;
  readonly project?: ObjectProjection | undefined;
}

/**
 * The API server's 404 and 410 are answers. Throws what `project` throws, `RetryableError` or `TerminalError` for the rest, and the
 * signal's reason on abort.
 */
export async function listPage(
  transport: Transport,
  type: ResourceType,
  options: ListPageOptions,
): Promise<ListAnswer> {
  const { namespace, labelSelector, fieldSelector } = options.query ?? {};
  const doing = `listing ${type.resource}`;
  const { limit, continue: token } = options;
  const response = await transport.read(
    {
      method: 'GET',
      path: collectionPath(type, namespace, { labelSelector, fieldSelector, limit, continue: token }),
      doing,
      ...(options.signal === undefined ? {} : { signal: options.signal }),
    },
    (body, status) => (status === 200 ? readBody(body, doing, options.project) : readRefusal(body)),
  );
  const { body } = response;
  switch (body.kind) {
    case 'failed':
      throw body.error;
    case 'read':
      return { kind: 'page', items: body.items, ...body.rest };
    case 'refused': {
      const failure = parseApiFailure(response.status, body.text, response.retryAfter);
      if (isNotFound(failure)) return { kind: 'notServed' };
      if (failure.status === 410) return { kind: 'expired', message: failure.message };
      throw toThrown(failure, { doing, write: false });
    }
  }
}

type List = ReturnType<typeof parseList>;

type Body =
  | { readonly kind: 'read'; readonly items: readonly KubernetesObject[]; readonly rest: Omit<List, 'items'> }
  /** An item cannot be read, or projecting it threw; the connection is not to blame. */
  | { readonly kind: 'failed'; readonly error: unknown }
  | { readonly kind: 'refused'; readonly text: string };

async function readRefusal(body: Readable): Promise<Body> {
  return { kind: 'refused', text: await readText(body) };
}

/** A list of at most so many bytes is parsed as a whole, in half the time; a longer one item by item, in little memory. */
const WHOLE_MAX_BYTES = 4 * 1024 * 1024;

/** Throws only what the stream throws. */
async function readBody(body: Readable, doing: string, project: ObjectProjection = identity): Promise<Body> {
  const chunks: Buffer[] = [];
  let size = 0;
  let items: ItemReader | undefined;
  let failure: { readonly error: unknown } | undefined;
  const attempt = (work: () => void): void => {
    try {
      work();
    } catch (error) {
      failure = { error };
    }
  };
  await readChunks(body, chunk => {
    // The rest arrives anyway, so that the connection can be used again.
    if (failure !== undefined) return;
    if (items === undefined) {
      chunks.push(chunk);
      size += chunk.length;
      if (size <= WHOLE_MAX_BYTES) return;
      const reader = (items = createItemReader(doing, project));
      attempt(() => chunks.splice(0).forEach(reader.push));
    } else {
      const reader = items;
      attempt(() => reader.push(chunk));
    }
  });
  if (failure !== undefined) return { kind: 'failed', ...failure };
  try {
    return items === undefined ? readWhole(toText(chunks), doing, project) : items.end();
  } catch (error) {
    return { kind: 'failed', error };
  }
}

function readWhole(text: string, doing: string, project: ObjectProjection): Body {
  const { items, ...rest } = parseList(parseJson(text, doing), doing);
  return { kind: 'read', items: items.map(project), rest };
}

interface ItemReader {
  readonly push: (chunk: Uint8Array) => void;
  readonly end: () => Body;
}

function createItemReader(doing: string, project: ObjectProjection): ItemReader {
  const splitter = createListItems();
  const items: KubernetesObject[] = [];
  let typeMeta: Readonly<Record<string, unknown>> | undefined;
  const onItem = (itemText: string): void => {
    typeMeta ??= typeMetaIn(splitter.rest());
    const item = parseJson(itemText, doing);
    items.push(project(parseObject(isJsonObject(item) ? { ...typeMeta, ...item } : item, doing)));
  };
  return {
    push: chunk => splitter.push(chunk, onItem),
    end() {
      const { items: unsplit, ...rest } = parseList(parseJson(splitter.rest(), doing), doing);
      return { kind: 'read', items: [...items, ...unsplit], rest };
    },
  };
}

const identity: ObjectProjection = object => object;

/** Items of built-in kinds come without `apiVersion` and `kind`; the list's own stand before them. */
function typeMetaIn(start: string): Readonly<Record<string, unknown>> {
  const kind = /"kind"\s*:\s*"([^"\\]*)List"/.exec(start)?.[1];
  const apiVersion = /"apiVersion"\s*:\s*"([^"\\]*)"/.exec(start)?.[1];
  return kind === undefined || apiVersion === undefined ? {} : { apiVersion, kind };
}
