/** The edge where JSON of the API server becomes a `KubernetesObject`: checked once here, trusted after. */
import { fieldsOf, isJsonObject, listIn, textOrEmpty } from '../../domain/json.ts';
import type { KubernetesObject } from '../../domain/kubernetes-object.ts';
import { RetryableError } from '../../errors.ts';

/**
 * Whether `value` is an object as the API server stores it. Of the metadata only name and resourceVersion are looked at: the
 * server decodes the rest, the UID too, into its own types before it ever stores or sends it.
 */
export function isKubernetesObject(value: unknown): value is KubernetesObject {
  const { apiVersion, kind, metadata } = fieldsOf(value);
  return (
    typeof apiVersion === 'string' &&
    typeof kind === 'string' &&
    isJsonObject(metadata) &&
    typeof metadata['name'] === 'string' &&
    typeof (metadata['resourceVersion'] ?? '') === 'string'
  );
}

/**
 * Reads one object. Throws `RetryableError` for anything else: an answer that is not the API's comes from a proxy or a load
 * balancer in between, and that passes.
 */
export function parseObject(value: unknown, doing: string): KubernetesObject {
  if (isKubernetesObject(value)) return value;
  throw new RetryableError(`${doing}: the answer is not a Kubernetes object`, { reason: 'UnreadableAnswer' });
}

/** JSON text to a value; `RetryableError` as in `parseObject`. */
export function parseJson(text: string, doing: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch (error) {
    throw new RetryableError(`${doing}: the answer is not JSON`, { cause: error, reason: 'UnreadableAnswer' });
  }
}

/** A list as the API server sends it. Items of built-in kinds come without `apiVersion` and `kind`; they are filled in. */
export function parseList(
  value: unknown,
  doing: string,
): { items: readonly KubernetesObject[]; resourceVersion: string; continue?: string } {
  const { apiVersion, kind, metadata } = fieldsOf(value);
  if (!isJsonObject(metadata) || typeof kind !== 'string') {
    throw new RetryableError(`${doing}: the answer is not a Kubernetes list`, { reason: 'UnreadableAnswer' });
  }
  const typeMeta = { apiVersion, kind: kind.replace(/List$/, '') };
  // Go writes an empty list as `"items": null` where the slice was never made.
  const items = listIn(value, 'items');
  const { continue: token, resourceVersion } = metadata;
  return {
    items: items.map(item => parseObject(isJsonObject(item) ? { ...typeMeta, ...item } : item, doing)),
    resourceVersion: textOrEmpty(resourceVersion),
    ...(typeof token === 'string' && token !== '' ? { continue: token } : {}),
  };
}
