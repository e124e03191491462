/** URL paths of the Kubernetes API, read into what they name. */

/** A request for a collection (no `name`), an object, or a subresource of an object. */
export interface ResourcePath {
  readonly group: string;
  readonly version: string;
  readonly namespace?: string;
  readonly resource: string;
  readonly name?: string;
  readonly subresource?: string;
}

export type RequestPath =
  | { readonly kind: 'health'; readonly check: string }
  | { readonly kind: 'version' }
  | { readonly kind: 'root' }
  | { readonly kind: 'openapi-v2' }
  | { readonly kind: 'openapi-v3-index' }
  | { readonly kind: 'openapi-v3'; readonly group: string; readonly version: string }
  | { readonly kind: 'core-versions' }
  | { readonly kind: 'groups' }
  | { readonly kind: 'group'; readonly group: string }
  | { readonly kind: 'group-version'; readonly group: string; readonly version: string }
  | ({ readonly kind: 'resource' } & ResourcePath)
  | { readonly kind: 'unknown' };

const unknown: RequestPath = { kind: 'unknown' };
const healthChecks = new Set(['healthz', 'livez', 'readyz']);
/** What may follow `namespaces/NAME` and is not the plural of a namespaced resource. */
const namespaceSubresources = new Set(['status', 'finalize']);

/** Reads a URL path (still percent-encoded, no query). Anything that is not of the API is `unknown`, to be answered 404. */
export function parseRequestPath(pathname: string): RequestPath {
  const segments: string[] = [];
  for (const segment of pathname.split('/')) {
    if (segment === '') continue;
    try {
      segments.push(decodeURIComponent(segment));
    } catch {
      return unknown;
    }
  }
  const [first, second, third, fourth, fifth] = segments;
  if (first === undefined) return { kind: 'root' };
  if (healthChecks.has(first)) return { kind: 'health', check: first };
  if (first === 'version' && second === undefined) return { kind: 'version' };
  if (first === 'openapi') {
    if (second === 'v2' && third === undefined) return { kind: 'openapi-v2' };
    if (second !== 'v3') return unknown;
    if (third === undefined) return { kind: 'openapi-v3-index' };
    if (third === 'api' && fourth !== undefined && fifth === undefined) {
      return { kind: 'openapi-v3', group: '', version: fourth };
    }
    if (third === 'apis' && fourth !== undefined && fifth !== undefined && segments.length === 5) {
      return { kind: 'openapi-v3', group: fourth, version: fifth };
    }
    return unknown;
  }
  if (first === 'api') {
    if (second === undefined) return { kind: 'core-versions' };
    if (third === undefined) return { kind: 'group-version', group: '', version: second };
    return resourcePath('', second, segments.slice(2));
  }
  if (first === 'apis') {
    if (second === undefined) return { kind: 'groups' };
    if (third === undefined) return { kind: 'group', group: second };
    if (fourth === undefined) return { kind: 'group-version', group: second, version: third };
    return resourcePath(second, third, segments.slice(3));
  }
  return unknown;
}

function resourcePath(group: string, version: string, rest: readonly string[]): RequestPath {
  const [first, second, third] = rest;
  const insideNamespace =
    first === 'namespaces' &&
    second !== undefined &&
    third !== undefined &&
    !(group === '' && rest.length === 3 && namespaceSubresources.has(third));
  const [resource, name, subresource, ...more] = insideNamespace ? rest.slice(2) : rest;
  if (resource === undefined || more.length > 0) return unknown;
  return {
    kind: 'resource',
    group,
    version,
    ...(insideNamespace ? { namespace: second } : {}),
    resource,
    ...(name === undefined ? {} : { name }),
    ...(subresource === undefined ? {} : { subresource }),
  };
}
