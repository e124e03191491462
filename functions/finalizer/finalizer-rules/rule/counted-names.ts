/** Objects in words: how many, and their names. Pure. */
import { listed } from '../../../../shared/domain/cut-text.ts';
import { type KubernetesObject, qualifiedName } from '../../../../shared/domain/kubernetes-object.ts';

/** Counts and names objects: `3 objects (prod/a, prod/b, c)`. */
export function countedNames(objects: readonly KubernetesObject[]): string {
  const names = objects.map(({ metadata }) => qualifiedName(metadata)).toSorted();
  return `${names.length} ${names.length === 1 ? 'object' : 'objects'} (${listed(names)})`;
}
