/**
 * Resources that only answer a POST and store nothing: access reviews (everything is allowed), token reviews and "who am I".
 * They exist so that clients which ask before they act work; the server itself checks no permission.
 */
import type { JsonObject } from '../json.ts';
import type { ResourceInfo } from '../types.ts';
import { userOfToken } from './caller.ts';
import { objectAt, textAt } from './json-fields.ts';

function review(group: string, resource: string, singular: string, kind: string, namespaced = false): ResourceInfo {
  return {
    group,
    version: 'v1',
    resource,
    kind,
    listKind: `${kind}List`,
    singular,
    shortNames: [],
    categories: [],
    namespaced,
    hasStatus: false,
    verbs: ['create'],
    subresources: [],
  };
}

const authorization = 'authorization.k8s.io';
const authentication = 'authentication.k8s.io';

export const virtualResources: readonly ResourceInfo[] = [
  review(authentication, 'selfsubjectreviews', 'selfsubjectreview', 'SelfSubjectReview'),
  review(authentication, 'tokenreviews', 'tokenreview', 'TokenReview'),
  review(authorization, 'localsubjectaccessreviews', 'localsubjectaccessreview', 'LocalSubjectAccessReview', true),
  review(authorization, 'selfsubjectaccessreviews', 'selfsubjectaccessreview', 'SelfSubjectAccessReview'),
  review(authorization, 'selfsubjectrulesreviews', 'selfsubjectrulesreview', 'SelfSubjectRulesReview'),
  review(authorization, 'subjectaccessreviews', 'subjectaccessreview', 'SubjectAccessReview'),
];

function userInfo(name: string): JsonObject {
  return { username: name, groups: ['system:masters', 'system:authenticated'] };
}

function statusOf(kind: string, user: string, spec: JsonObject): JsonObject {
  switch (kind) {
    case 'SelfSubjectReview':
      return { userInfo: userInfo(user) };
    case 'TokenReview': {
      const token = textAt(spec, 'token');
      if (token === '') return { authenticated: false, error: 'no token' };
      return { authenticated: true, user: userInfo(userOfToken(token) ?? 'token') };
    }
    case 'SelfSubjectRulesReview':
      return {
        incomplete: false,
        nonResourceRules: [{ verbs: ['*'], nonResourceURLs: ['*'] }],
        resourceRules: [{ verbs: ['*'], apiGroups: ['*'], resources: ['*'] }],
      };
    default:
      return { allowed: true, reason: 'the embedded API server allows everything' };
  }
}

/** The answer to a POST on a virtual resource. `user` is who asks. */
export function answerReview(resource: ResourceInfo, body: JsonObject, user: string): JsonObject {
  return {
    kind: resource.kind,
    apiVersion: `${resource.group}/${resource.version}`,
    metadata: objectAt(body, 'metadata'),
    ...(body.spec === undefined ? {} : { spec: body.spec }),
    status: statusOf(resource.kind, user, objectAt(body, 'spec')),
  };
}
