/** The embedded API server with Curfew's and Karpenter's CRDs, served over HTTP on loopback. */
import { readdirSync, readFileSync } from 'node:fs';
import { randomInt } from 'node:crypto';
import { join } from 'node:path';
import { parseAllDocuments } from 'yaml';
import { createApiServer } from '../../local/apiserver/api-server.ts';
import { serveApiServer, type ServedApi } from '../../local/apiserver/http/server.ts';
import type { ApiServerCore } from '../../local/apiserver/types.ts';
import { manifestSchema } from '../../shared/contract/manifest.ts';
import { CONFIG_MAP } from '../../shared/contract/names.ts';
import type { KubernetesManifest } from '../../shared/domain/kubernetes-object.ts';
import type { Clock } from '../../shared/ports/clock.ts';

const REPOSITORY = join(import.meta.dirname, '..', '..');
const CRD_FOLDERS = ['deploy/crds', 'local/crds'];

export interface EmbeddedCluster extends ServedApi {
  readonly core: ApiServerCore;
}

/** Every manifest in the YAML files of a folder, in the order of file names. */
export function readManifests(folder: string): readonly KubernetesManifest[] {
  return readdirSync(folder)
    .filter(name => name.endsWith('.yaml'))
    .toSorted()
    .flatMap(name => parseAllDocuments(readFileSync(join(folder, name), 'utf8')))
    .map(document => manifestSchema.parse(document.toJS()));
}

/** Starts the server, installs the CRDs and makes Curfew's namespace. `port` 0 takes a free one. */
export async function startEmbeddedCluster(clock: Clock, port: number): Promise<EmbeddedCluster> {
  const core = createApiServer({ clock, random: () => randomInt(2 ** 32) / 2 ** 32 });
  core.seed({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: CONFIG_MAP.namespace } });
  for (const crd of CRD_FOLDERS.flatMap(folder => readManifests(join(REPOSITORY, folder)))) core.seed(crd);
  const served = await serveApiServer(core, { port, now: () => clock.now(), bookmarkIntervalMs: 15_000 });
  return { ...served, core };
}
