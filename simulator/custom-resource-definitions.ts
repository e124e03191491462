/** The CustomResourceDefinitions that a local cluster starts with: Curfew's own, and Karpenter's with the fields of the designs. */
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parseAllDocuments } from 'yaml';
import * as z from 'zod';
import type { KubernetesManifest } from '../shared/domain/kubernetes-object.ts';

const FOLDERS = ['../deploy/crds/', './crds/'].map(path => fileURLToPath(new URL(path, import.meta.url)));

const definition = z.looseObject({
  apiVersion: z.literal('apiextensions.k8s.io/v1'),
  kind: z.literal('CustomResourceDefinition'),
  metadata: z.looseObject({ name: z.string() }),
});

let loaded: readonly KubernetesManifest[] | undefined;

/** All definitions in `deploy/crds` and `simulator/crds`; read once. Throws for a file that holds anything else. */
export function customResourceDefinitions(): readonly KubernetesManifest[] {
  loaded ??= FOLDERS.flatMap(folder =>
    readdirSync(folder)
      .filter(name => name.endsWith('.yaml'))
      .toSorted()
      .flatMap(name => parseAllDocuments(readFileSync(`${folder}${name}`, 'utf8')))
      .map(document => definition.parse(document.toJS())),
  );
  return loaded;
}
