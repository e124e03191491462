/** Whether a rule covers a request, as RBAC compares them. */
import type { PathAttributes, RequestAttributes, ResourceAttributes } from './attributes.ts';
import type { PolicyRule } from './authorizer.ts';

const ALL = '*';

/** As `RuleAllows` in `plugin/pkg/auth/authorizer/rbac/rbac.go`. */
export function ruleAllows(rule: PolicyRule, request: RequestAttributes): boolean {
  if (!includes(rule.verbs, request.verb)) return false;
  return 'path' in request ? coversPath(rule, request) : coversResource(rule, request);
}

function coversResource(rule: PolicyRule, { group, resource, subresource, name }: ResourceAttributes): boolean {
  const { apiGroups = [], resources = [], resourceNames = [] } = rule;
  if (!includes(apiGroups, group)) return false;
  const asked = subresource === undefined ? resource : `${resource}/${subresource}`;
  // `*/scale` is that subresource of every resource.
  const covered = includes(resources, asked) || (subresource !== undefined && resources.includes(`*/${subresource}`));
  return covered && (resourceNames.length === 0 || (name !== undefined && resourceNames.includes(name)));
}

/** A URL may end in `*`, for all that begin so. */
function coversPath({ nonResourceURLs = [] }: PolicyRule, { path }: PathAttributes): boolean {
  return nonResourceURLs.some(url => url === path || (url.endsWith(ALL) && path.startsWith(url.replace(/\*+$/, ''))));
}

const includes = (list: readonly string[], value: string): boolean => list.includes(ALL) || list.includes(value);
