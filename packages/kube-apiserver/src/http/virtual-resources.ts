/** Resources that only answer a POST and store nothing: access reviews, token reviews and "who am I". */
import type { ResourceInfo } from '../types.ts';

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
