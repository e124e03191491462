/** A request as an authorizer sees it, and the refusal of one. */
import { notAuthorized } from '../status-errors.ts';
import type { ApiStatusError } from '../types.ts';

export interface UserInfo {
  readonly name: string;
  readonly groups: readonly string[];
}

/** A request for a resource. */
export interface ResourceAttributes {
  readonly verb: string;
  readonly group: string;
  readonly resource: string;
  readonly subresource?: string;
  /** Absent for a cluster-scoped resource, and for a list of all namespaces. */
  readonly namespace?: string;
  /** Absent for a create, and for a list that does not select one object by `metadata.name`. */
  readonly name?: string;
}

/** A request for anything else: `/version`, `/openapi/v3`. */
export interface PathAttributes {
  /** The method in lower case. */
  readonly verb: string;
  readonly path: string;
}

export type RequestAttributes = ResourceAttributes | PathAttributes;

/** 403 in the words of kube-apiserver. `reason` is what the authorizer adds, if anything. */
export function forbiddenRequest(user: string, request: RequestAttributes, reason = ''): ApiStatusError {
  const why = `User ${JSON.stringify(user)} cannot ${describeRequest(request)}${reason === '' ? '' : `: ${reason}`}`;
  return 'path' in request
    ? notAuthorized({ group: '', name: '' }, '', why)
    : notAuthorized({ group: request.group, name: request.resource }, request.name ?? '', why);
}

function describeRequest(request: RequestAttributes): string {
  if ('path' in request) return `${request.verb} path ${JSON.stringify(request.path)}`;
  const { verb, group, resource, subresource, namespace } = request;
  const what = subresource === undefined ? resource : `${resource}/${subresource}`;
  const where = namespace === undefined ? 'at the cluster scope' : `in the namespace "${namespace}"`;
  return `${verb} resource "${what}" in API group "${group}" ${where}`;
}
