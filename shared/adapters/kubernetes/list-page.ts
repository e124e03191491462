/** One page of a list over HTTP; what functions and the forwarder share. Items are parsed and projected one after the other. */
import type { Readable } from 'node:stream';
import { isJsonObject } from '../../domain/json.ts';
import type { KubernetesObject, ResourceType } from '../../domain/kubernetes-object.ts';
import type { ListOptions, ListQuery, ObjectProjection } from '../../ports/kubernetes-api.ts';
import { isNotFound, parseApiFailure } from './api-failure.ts';
import { toThrown } from './errors.ts';
import { readItems } from './list-items.ts';
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

export interface ListPageOptions extends ListOptions {
  readonly query?: ListQuery;
  /** Without it everything comes in one answer. */
  readonly limit?: number | undefined;
  readonly continue?: string;
  readonly signal?: AbortSignal;
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
    (body, status) => (status === 200 ? readBody(body, doing, options) : readRefusal(body)),
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

/** A list of fewer bytes is parsed as a whole before its items are found. */
const LARGE_BYTES = 64 * 1024;

/** Throws only what the stream throws. */
async function readBody(
  body: Readable,
  doing: string,
  { project = identity, unread = [] }: ListOptions,
): Promise<Body> {
  const chunks: Buffer[] = [];
  await readChunks(body, chunk => chunks.push(chunk));
  const bytes = Buffer.concat(chunks);
  try {
    const split =
      bytes.length < LARGE_BYTES
        ? undefined
        : readItems(bytes, unread, start => {
            const typeMeta = typeMetaIn(start);
            return item => project(parseObject(isJsonObject(item) ? { ...typeMeta, ...item } : item, doing));
          });
    if (split === undefined) return readWhole(toText([bytes]), doing, project);
    const { items: _, ...envelope } = parseList(split.rest, doing);
    return { kind: 'read', items: split.items, rest: envelope };
  } catch (error) {
    return { kind: 'failed', error };
  }
}

function readWhole(text: string, doing: string, project: ObjectProjection): Body {
  const { items, ...envelope } = parseList(parseJson(text, doing), doing);
  return { kind: 'read', items: items.map(project), rest: envelope };
}

const identity: ObjectProjection = object => object;

/** Items of built-in kinds come without `apiVersion` and `kind`; the list's own stand before them. */
function typeMetaIn(start: string): Readonly<Record<string, unknown>> {
  const kind = /"kind"\s*:\s*"([^"\\]*)List"/.exec(start)?.[1];
  const apiVersion = /"apiVersion"\s*:\s*"([^"\\]*)"/.exec(start)?.[1];
  return kind === undefined || apiVersion === undefined ? {} : { apiVersion, kind };
}
