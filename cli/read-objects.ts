/** The objects in files and folders of manifests, as a cluster would hold them. */
import type { KubernetesObject } from '../shared/domain/kubernetes-object.ts';
import { readSources } from './validate/files.ts';
import { refusal } from './findings/refuse.ts';
import type { Finding } from '../simulator/scenario/finding.ts';
import { isError } from './validate/checked.ts';
import { asManifest } from './validate/manifest.ts';
import { createObjectChecker, type ObjectChecker } from './validate/objects.ts';
import { readYaml } from './validate/yaml-source.ts';

/**
 * Reads the objects of files, and skips everything else. Throws `UsageError` for a file that cannot be read, or is no
 * YAML.
 */
export const readObjects = (files: readonly string[]): Promise<readonly KubernetesObject[]> => read(files, undefined);

/**
 * Reads objects that are to be tried: also throws `UsageError` with everything that `curfew validate` would call an
 * error.
 */
export const readValidObjects = (files: readonly string[]): Promise<readonly KubernetesObject[]> =>
  read(files, createObjectChecker());

async function read(
  files: readonly string[],
  checker: ObjectChecker | undefined,
): Promise<readonly KubernetesObject[]> {
  const objects: KubernetesObject[] = [];
  const errors: Finding[] = [];
  const texts = new Map<string, string>();
  for (const { file, text } of await readSources(files)) {
    const { documents, findings } = readYaml(text, file);
    if (findings.length > 0) throw refusal(findings, new Map([[file, text]]));
    texts.set(file, text);
    for (const { value, placeOf } of documents) {
      const manifest = asManifest(value);
      if (manifest === undefined) continue;
      errors.push(...(checker?.check({ manifest, file, placeOf })?.findings.filter(isError) ?? []));
      const { metadata } = manifest;
      objects.push({ ...manifest, metadata: { ...metadata, uid: '', resourceVersion: '', creationTimestamp: '' } });
    }
  }
  if (errors.length > 0) throw refusal(errors, texts);
  return objects;
}
