/**
 * Puts finalizers on and takes them off: exactly the object that was looked at, nothing but its metadata (I10), so that a quantity in its
 * spec stays as it was written.
 */
import { ANNOTATIONS } from '../../../shared/contract/names.ts';
import { RESOURCES } from '../../../shared/contract/resources.ts';
import type { KubernetesObject } from '../../../shared/domain/kubernetes-object.ts';
import { changeExactly } from '../../../shared/ports/exact-change.ts';
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
  { kind, metadata }: KubernetesObject,
  finalizers: readonly string[],
  mark: string | undefined,
): Promise<'ok' | 'gone' | 'changed'> {
  const type = kind === 'Node' ? RESOURCES.Node : RESOURCES.NodeClaim;
  const annotations = { [ANNOTATIONS.terminationFinalizer]: mark ?? null };
  const ref = { type, name: metadata.name };
  const outcome = await changeExactly(kubernetes, ref, metadata, { finalizers, annotations });
  return outcome.kind === 'ok' ? 'ok' : outcome.kind === 'notFound' ? 'gone' : 'changed';
}
