/**
 * Puts finalizers on and takes them off: exactly the object that was looked at, nothing but its metadata (I10), so that a quantity in its
 * spec stays as it was written.
 */
import { ANNOTATIONS } from '../../../shared/contract/names.ts';
import { RESOURCES } from '../../../shared/contract/resources.ts';
import type { KubernetesObject } from '../../../shared/domain/kubernetes-object.ts';
import { changeExactly } from '../../../shared/ports/exact-change.ts';
import type { KubernetesApi, WriteOutcome } from '../../../shared/ports/kubernetes-api.ts';

interface Deps {
  readonly kubernetes: Pick<KubernetesApi, 'patch'>;
}

/**
 * Writes the whole list of finalizers and our mark beside it in one patch.
 *
 * @param mark the name of our finalizer; undefined takes the mark off
 */
export function setFinalizers(
  { kubernetes }: Deps,
  { kind, metadata }: KubernetesObject,
  finalizers: readonly string[],
  mark: string | undefined,
): Promise<WriteOutcome> {
  const type = kind === 'Node' ? RESOURCES.Node : RESOURCES.NodeClaim;
  const annotations = { [ANNOTATIONS.terminationFinalizer]: mark ?? null };
  const ref = { type, name: metadata.name };
  return changeExactly(kubernetes, ref, metadata, { finalizers, annotations });
}
