/** Resources that only answer a POST and store nothing: access reviews, token reviews and "who am I". */
import type { ResourceInfo } from '../types.ts';

/** The plural and singular names of these kinds are the kind in lower case. */
function review(group: string, kind: string, namespaced = false): ResourceInfo {
  const singular = kind.toLowerCase();
  return {
    group,
    version: 'v1',
    resource: `${singular}s`,
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
  review(authentication, 'SelfSubjectReview'),
  review(authentication, 'TokenReview'),
  review(authorization, 'LocalSubjectAccessReview', true),
  review(authorization, 'SelfSubjectAccessReview'),
  review(authorization, 'SelfSubjectRulesReview'),
  review(authorization, 'SubjectAccessReview'),
];
