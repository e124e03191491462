/** How the watch of a custom kind stands, in the words that its owner's status shows. */
import type { KindWatch } from '../shared/contract/cluster-event.ts';
import type { GroupVersionKind } from '../shared/domain/kubernetes-object.ts';
import { messageOf, RetryableError } from '../shared/errors.ts';

export type KindState = Pick<KindWatch, 'state' | 'message' | 'resource'>;

/** @param versions those that serve the kind, if any do */
export function notServed({ group, version, kind }: GroupVersionKind, versions: readonly string[] = []): string {
  const others = versions.filter(each => each !== version);
  if (others.length === 0) {
    return `the API server does not serve ${kind} in ${group === '' ? version : `${group}/${version}`}`;
  }
  const name = group === '' ? kind : `${kind} of ${group}`;
  return `the API server serves ${name} in ${others.join(', ')}, not in ${version}: name a version that it serves`;
}

export function stateOfError(error: unknown): KindState {
  const forbidden = error instanceof RetryableError && error.reason === 'Forbidden';
  return { state: forbidden ? 'Forbidden' : 'Failing', message: messageOf(error) };
}
