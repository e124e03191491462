/** What `curfew rbac finalizerrules` prints for the FinalizerRules of a scenario, given the scenario's manifests as a file. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseAllDocuments } from 'yaml';
import { rbacCommand } from '../../../cli/rbac.ts';
import { isObject, objectAt, textAt } from '../../../packages/kube-apiserver/src/json.ts';
import type { Manifest, Scenario } from '../../../simulator/scenario/scenario.ts';

/** Empty without a rule. */
export async function generatedRoles({ objects, steps }: Scenario): Promise<readonly Manifest[]> {
  const applied = steps.flatMap(({ action }) => (action.kind === 'apply' ? [action.manifest] : []));
  const manifests = [...objects.map(({ manifest }) => manifest), ...applied];
  if (!manifests.some(({ kind }) => kind === 'FinalizerRule')) return [];
  const folder = mkdtempSync(join(tmpdir(), 'curfew-test-'));
  try {
    const file = join(folder, 'objects.yaml');
    writeFileSync(file, manifests.map(({ body }) => JSON.stringify(body)).join('\n---\n'));
    const printed: string[] = [];
    const complaints: string[] = [];
    const output = { out: (text: string) => printed.push(text), error: (text: string) => complaints.push(text) };
    if ((await rbacCommand('finalizerrules', [file], {}, output)) !== 0) throw new Error(complaints.join(''));
    return parseAllDocuments(printed.join('')).map(document => toManifest(document.toJS()));
  } finally {
    rmSync(folder, { recursive: true });
  }
}

function toManifest(body: unknown): Manifest {
  if (!isObject(body)) throw new Error('the command printed a document that is no object');
  const [apiVersion = '', kind = '', name = ''] = [
    textAt(body, 'apiVersion'),
    textAt(body, 'kind'),
    textAt(objectAt(body, 'metadata'), 'name'),
  ];
  return { apiVersion, kind, namespace: undefined, name, body };
}
