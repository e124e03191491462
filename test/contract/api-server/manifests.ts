/** Applies manifest files as `kubectl apply --server-side` does, with nothing but HTTP: kinds are looked up in discovery. */
import { readFileSync } from 'node:fs';
import { parseAllDocuments } from 'yaml';
import { z } from 'zod';
import { PATCH, type Answer, type HttpClient } from './http-client.ts';

const manifestSchema = z.looseObject({
  apiVersion: z.string(),
  kind: z.string(),
  metadata: z.looseObject({ name: z.string(), namespace: z.string().optional() }),
});
export type Manifest = z.infer<typeof manifestSchema>;

const resourcesSchema = z.object({
  resources: z.array(z.object({ name: z.string(), kind: z.string(), namespaced: z.boolean() })),
});

/** The manifests of a file, in order. */
export function readManifests(file: string): readonly Manifest[] {
  return parseAllDocuments(readFileSync(file, 'utf8'))
    .filter(document => document.contents !== null)
    .map(document => manifestSchema.parse(document.toJS()));
}

/** Where the object of a manifest is. Throws when its kind is not served. */
export async function pathOf(http: HttpClient, { apiVersion, kind, metadata }: Manifest): Promise<string> {
  const root = apiVersion.includes('/') ? `/apis/${apiVersion}` : `/api/${apiVersion}`;
  const answer = await http.call('GET', root);
  const served = answer.status === 200 ? resourcesSchema.parse(answer.body).resources : [];
  const resource = served.find(each => each.kind === kind && !each.name.includes('/'));
  if (resource === undefined) throw new Error(`${apiVersion} ${kind} is not served`);
  const namespace = resource.namespaced ? `/namespaces/${metadata.namespace ?? 'default'}` : '';
  return `${root}${namespace}/${resource.name}/${metadata.name}`;
}

/** Applies one manifest; unknown and repeated fields are errors. @param dryRun it is checked, and not kept */
export async function applyManifest(http: HttpClient, manifest: Manifest, dryRun = false): Promise<Answer> {
  const query = {
    fieldManager: 'contract',
    force: true,
    fieldValidation: 'Strict',
    ...(dryRun && { dryRun: 'All' }),
  };
  return http.call('PATCH', await pathOf(http, manifest), { body: manifest, type: PATCH.apply, query });
}

/** Applies what others need first: definitions and namespaces. Throws on the first refusal. */
export async function applyFiles(http: HttpClient, files: readonly string[]): Promise<void> {
  const manifests = files.flatMap(readManifests);
  for (const manifest of manifests.toSorted((a, b) => rank(a) - rank(b))) {
    const answer = await applyManifest(http, manifest);
    if (answer.status > 201) throw new Error(`${manifest.kind} ${manifest.metadata.name}: ${answer.text}`);
  }
}

const FIRST = ['CustomResourceDefinition', 'Namespace'];
const rank = ({ kind }: Manifest): number => (FIRST.includes(kind) ? FIRST.indexOf(kind) : FIRST.length);
