/** Who may do what: asked by the HTTP front before it does anything, and by access reviews. */
import type { RequestAttributes, UserInfo } from './attributes.ts';

export interface Decision {
  readonly allowed: boolean;
  /** Why, in the authorizer's words; may be empty. */
  readonly reason: string;
}

/** A rule of a Role or ClusterRole. `*` in a list is everything. */
export interface PolicyRule {
  readonly verbs: readonly string[];
  readonly apiGroups?: readonly string[];
  readonly resources?: readonly string[];
  readonly resourceNames?: readonly string[];
  readonly nonResourceURLs?: readonly string[];
}

export interface Authorizer {
  authorize(user: UserInfo, request: RequestAttributes): Decision;
  /** What the user may do in a namespace and in the whole cluster. */
  rulesOf(user: UserInfo, namespace: string): readonly PolicyRule[];
}

/** The group to which no rule applies: its members may do everything. */
export const MASTERS = 'system:masters';

export const EVERYTHING: readonly PolicyRule[] = [
  { verbs: ['*'], apiGroups: ['*'], resources: ['*'] },
  { verbs: ['*'], nonResourceURLs: ['*'] },
];

/** `--authorization-mode=AlwaysAllow`. */
export const ALWAYS_ALLOW: Authorizer = {
  authorize: () => ({ allowed: true, reason: 'this server allows everything' }),
  rulesOf: () => EVERYTHING,
};
