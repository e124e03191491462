/** The objects in files and folders of manifests, as a cluster would hold them. */
import type { KubernetesObject } from '../shared/domain/kubernetes-object.ts';
import { readSources } from './validate/files.ts';
import { refusal } from './findings/refuse.ts';
import { asManifest } from './validate/manifest.ts';
import { readYaml } from './validate/yaml-source.ts';

/** What is no object is passed over. Throws `UsageError` for what cannot be read, or is no YAML. */
export async function readObjects(files: readonly string[]): Promise<readonly KubernetesObject[]> {
  const objects: KubernetesObject[] = [];
  for (const { file, text } of await readSources(files)) {
    const { documents, findings } = readYaml(text, file);
    if (findings.length > 0) throw refusal(findings, new Map([[file, text]]));
    for (const { value } of documents) {
      const manifest = asManifest(value);
      if (manifest === undefined) continue;
      const { metadata } = manifest;
      objects.push({ ...manifest, metadata: { ...metadata, uid: '', resourceVersion: '', creationTimestamp: '' } });
    }
  }
  return objects;
}
