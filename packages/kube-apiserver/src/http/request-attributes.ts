/** A request over HTTP as an authorizer sees it. Bodies are not looked at. */
import type { PathAttributes, RequestAttributes } from '../authorization/attributes.ts';
import { flag } from './request-options.ts';
import type { RequestPath, ResourcePath } from './request-path.ts';

const VERBS: Readonly<Record<string, string>> = {
  GET: 'get',
  HEAD: 'get',
  POST: 'create',
  PUT: 'update',
  PATCH: 'patch',
  DELETE: 'delete',
};

/**
 * As `endpoints/request/requestinfo.go`: `list` and `watch` of one object by its name in a field selector carry that
 * name.
 */
export function attributesOf(
  method: string,
  pathname: string,
  path: RequestPath,
  query: URLSearchParams,
): RequestAttributes {
  if (path.kind !== 'resource') return { verb: method.toLowerCase(), path: pathname } satisfies PathAttributes;
  const verb = VERBS[method] ?? method.toLowerCase();
  const { group, resource, subresource } = path;
  const name = path.name ?? (verb === 'get' ? nameInSelector(query) : undefined);
  const namespace = namespaceOf(path);
  return {
    verb: path.name === undefined ? collectionVerb(verb, query) : verb,
    group,
    resource,
    ...(subresource === undefined ? {} : { subresource }),
    ...(namespace === undefined ? {} : { namespace }),
    ...(name === undefined ? {} : { name }),
  };
}

function collectionVerb(verb: string, query: URLSearchParams): string {
  if (verb === 'get') return flag(query, 'watch') ? 'watch' : 'list';
  return verb === 'delete' ? 'deletecollection' : verb;
}

/** A namespace is in itself. */
function namespaceOf({ group, resource, namespace, name }: ResourcePath): string | undefined {
  return group === '' && resource === 'namespaces' ? name : namespace;
}

/** A list or watch that selects one object by name asks for that object. */
function nameInSelector(query: URLSearchParams): string | undefined {
  const terms = (query.get('fieldSelector') ?? '').split(',');
  return terms.map(term => /^metadata\.name==?([^=!/%\\]+)$/.exec(term)?.[1]).find(name => name !== undefined);
}
