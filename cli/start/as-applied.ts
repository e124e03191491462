/**
 * Objects that a local cluster starts with, as `kubectl apply` leaves them: what was applied stands in an annotation, with which the next one
 * compares. The text is Go's, letter by letter, or kubectl would write it anew: sorted keys, `annotations` always, a line feed.
 */
import type { KubernetesManifest } from '../../shared/domain/kubernetes-object.ts';

/** Without the annotation in the text itself, as `kubectl apply` does. */
export function asApplied(manifest: KubernetesManifest): KubernetesManifest {
  const { metadata } = manifest;
  const applied = { ...manifest, metadata: { annotations: {}, ...metadata } };
  const text = `${escapeLikeGo(JSON.stringify(applied, sortKeys))}\n`;
  const annotations = { ...metadata.annotations, 'kubectl.kubernetes.io/last-applied-configuration': text };
  return { ...manifest, metadata: { ...metadata, annotations } };
}

function sortKeys(_: string, value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1)));
}

const escapeLikeGo = (json: string): string =>
  json.replaceAll(/[<>&]/g, sign => `\\u00${sign.charCodeAt(0).toString(16)}`);
