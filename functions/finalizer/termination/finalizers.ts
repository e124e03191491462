/**
 * Puts finalizers on and takes them off: exactly the object that was looked at, nothing but its metadata (I10), so that a quantity in its
 * spec stays as it was written. The list is written whole, for a merge patch cannot change one entry of it; the resourceVersion in the patch
 * keeps what somebody else has added.
 */
import { ANNOTATIONS } from '../../../shared/contract/names.ts';
import { RESOURCES } from '../../../shared/contract/resources.ts';
import type { KubernetesObject } from '../../../shared/domain/kubernetes-object.ts';
import type { KubernetesApi } from '../../../shared/ports/kubernetes-api.ts';

interface Deps {
  readonly kubernetes: Pick<KubernetesApi, 'patch'>;
}

/**
 * Writes the whole list and our mark beside it in one patch.
 *
 * @param mark the name of our finalizer; undefined takes the mark off
 * @returns `gone` for an object that is no longer there, `changed` when somebody wrote first: look again
 */
export async function setFinalizers(
  { kubernetes }: Deps,
  { kind, metadata: { name, uid, resourceVersion } }: KubernetesObject,
  finalizers: readonly string[],
  mark: string | undefined,
): Promise<'ok' | 'gone' | 'changed'> {
  const type = kind === 'Node' ? RESOURCES.Node : RESOURCES.NodeClaim;
  const annotations = { [ANNOTATIONS.terminationFinalizer]: mark ?? null };
  const body = { metadata: { uid, resourceVersion, finalizers, annotations } };
  const outcome = await kubernetes.patch({ type, name }, { type: 'merge', body });
  return outcome.kind === 'ok' ? 'ok' : outcome.kind === 'notFound' ? 'gone' : 'changed';
}
