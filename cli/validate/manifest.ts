/** A value of a file as an object of Kubernetes. */
import { isJsonObject } from '../../shared/domain/json.ts';
import type { KubernetesManifest } from '../../shared/domain/kubernetes-object.ts';

/** A manifest with the fields that every object has. */
export type Manifest = KubernetesManifest & { readonly metadata: { readonly name: string } };

/** The value as an object with kind and name; undefined when it is none. */
export function asManifest(value: unknown): Manifest | undefined {
  if (!isJsonObject(value)) return undefined;
  const { apiVersion, kind, metadata } = value;
  if (typeof apiVersion !== 'string' || typeof kind !== 'string') return undefined;
  const name = isJsonObject(metadata) && typeof metadata['name'] === 'string' ? metadata['name'] : '';
  return { ...value, apiVersion, kind, metadata: { ...(isJsonObject(metadata) && metadata), name } };
}
