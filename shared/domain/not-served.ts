/** The words for a kind that is not served as it is named. */
import { apiVersionOf, type GroupVersionKind, type ResourceType } from './kubernetes-object.ts';

/** @param versions those that serve it, if any do */
export function notServed(what: GroupVersionKind | ResourceType, versions: readonly string[] = []): string {
  const { group, version } = what;
  const name = 'kind' in what ? what.kind : what.resource;
  const others = versions.filter(each => each !== version);
  if (others.length === 0) return `the API server does not serve ${name} in ${apiVersionOf(what)}`;
  const whole = group === '' ? name : `${name} of ${group}`;
  return `the API server serves ${whole} in ${others.join(', ')}, not in ${version}: name a version that it serves`;
}
