/** Answers to reviews: who somebody is, and what he may do. */
import type { RequestAttributes, UserInfo } from '../authorization/attributes.ts';
import type { PolicyRule } from '../authorization/authorizer.ts';
import type { JsonObject } from '../json.ts';
import { badRequest, invalid, invalidValue, type Cause } from '../status-errors.ts';
import type { ResourceInfo } from '../types.ts';
import type { Access } from './access.ts';
import { listAt, objectAt, textAt, valueAt } from './json-fields.ts';

export interface Review {
  readonly resource: ResourceInfo;
  readonly namespace: string | undefined;
  readonly body: JsonObject;
}

/** The answer to a POST on a virtual resource. `user` is who asks. Throws `ApiStatusError`. */
export function answerReview(review: Review, user: UserInfo, access: Access): JsonObject {
  const { resource, body } = review;
  return {
    kind: resource.kind,
    apiVersion: `${resource.group}/${resource.version}`,
    metadata: objectAt(body, 'metadata'),
    ...(body.spec === undefined ? {} : { spec: body.spec }),
    status: statusOf(review, user, access),
  };
}

function statusOf({ resource, namespace, body }: Review, user: UserInfo, access: Access): JsonObject {
  const spec = objectAt(body, 'spec');
  switch (resource.kind) {
    case 'SelfSubjectReview':
      return { userInfo: userInfo(user) };
    case 'TokenReview': {
      const token = textAt(spec, 'token');
      if (token === '') throw badRequest('token is required for TokenReview in authentication');
      const known = access.userOfToken(token);
      return known === undefined ? { user: {} } : { authenticated: true, user: userInfo(known) };
    }
    case 'SelfSubjectRulesReview':
      return rulesStatus(access.authorizer.rulesOf(user, textAt(spec, 'namespace')));
    case 'SelfSubjectAccessReview':
      return accessStatus(user, requestIn(spec, resource.kind), access);
    case 'LocalSubjectAccessReview':
      checkNamespace(spec, namespace);
      return accessStatus(subjectIn(spec, resource.kind), requestIn(spec, resource.kind), access);
    default:
      return accessStatus(subjectIn(spec, resource.kind), requestIn(spec, resource.kind), access);
  }
}

function userInfo({ name, groups }: UserInfo): JsonObject {
  return { username: name, ...(groups.length === 0 ? {} : { groups }) };
}

function accessStatus(user: UserInfo, request: RequestAttributes, { authorizer }: Access): JsonObject {
  const { allowed, reason } = authorizer.authorize(user, request);
  return { allowed, ...(reason === '' ? {} : { reason }) };
}

function rulesStatus(rules: readonly PolicyRule[]): JsonObject {
  const resourceRules = rules.filter(({ resources = [] }) => resources.length > 0);
  const nonResourceRules = rules.filter(({ nonResourceURLs = [] }) => nonResourceURLs.length > 0);
  return {
    resourceRules: resourceRules.map(({ verbs, apiGroups = [], resources = [], resourceNames = [] }) => ({
      verbs,
      apiGroups,
      resources,
      ...(resourceNames.length === 0 ? {} : { resourceNames }),
    })),
    nonResourceRules: nonResourceRules.map(({ verbs, nonResourceURLs = [] }) => ({ verbs, nonResourceURLs })),
    incomplete: false,
  };
}

function requestIn(spec: JsonObject, kind: string): RequestAttributes {
  const resource = valueAt(spec, 'resourceAttributes');
  const path = valueAt(spec, 'nonResourceAttributes');
  if ((resource === undefined) === (path === undefined)) {
    const why = 'exactly one of nonResourceAttributes or resourceAttributes must be specified';
    const field = path === undefined ? 'spec.resourceAttributes' : 'spec.nonResourceAttributes';
    throw refuse(kind, invalidValue(field, '', [why]));
  }
  if (path !== undefined) return { verb: textAt(path, 'verb'), path: textAt(path, 'path') };
  const [subresource, namespace, name] = ['subresource', 'namespace', 'name'].map(field => textAt(resource, field));
  return {
    verb: textAt(resource, 'verb'),
    group: textAt(resource, 'group'),
    resource: textAt(resource, 'resource'),
    ...(subresource ? { subresource } : {}),
    ...(namespace ? { namespace } : {}),
    ...(name ? { name } : {}),
  };
}

function subjectIn(spec: JsonObject, kind: string): UserInfo {
  const name = textAt(spec, 'user');
  const groups = listAt(spec, 'groups').filter(group => typeof group === 'string');
  if (name === '' && groups.length === 0) {
    throw refuse(kind, invalidValue('spec.user', '', ['at least one of user or group must be specified']));
  }
  return { name, groups };
}

function checkNamespace(spec: JsonObject, namespace: string | undefined): void {
  if (textAt(spec, 'resourceAttributes', 'namespace') === namespace) return;
  throw badRequest('spec.resourceAttributes.namespace must match namespace');
}

function refuse(kind: string, causes: readonly Cause[]): Error {
  return invalid({ group: 'authorization.k8s.io', name: kind }, '', causes);
}
