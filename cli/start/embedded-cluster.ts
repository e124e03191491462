/**
 * The embedded API server with Curfew's and Karpenter's CRDs, the roles and the admission policies of `deploy/`, served over HTTP on
 * loopback. RBAC decides what Curfew's parts may do. A client without a token may do everything: over plain HTTP kubectl sends none.
 */
import { randomInt } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parseAllDocuments } from 'yaml';
import { z } from 'zod';
import { rbacFiles } from '../../deploy/manifests.ts';
import { createApiServer } from '../../packages/kube-apiserver/src/api-server.ts';
import type { UserInfo } from '../../packages/kube-apiserver/src/authorization/attributes.ts';
import { MASTERS } from '../../packages/kube-apiserver/src/authorization/authorizer.ts';
import { createRbacAuthorizer } from '../../packages/kube-apiserver/src/authorization/rbac.ts';
import { serveApiServer, type ServedApi } from '../../packages/kube-apiserver/src/http/server.ts';
import type { ApiServerCore } from '../../packages/kube-apiserver/src/types.ts';
import { customResourceDefinitions } from '../../simulator/custom-resource-definitions.ts';
import { asApplied } from './as-applied.ts';
import { WORKLOAD_WARNING } from './workload-warning.ts';
import type { Clock } from '../../shared/ports/clock.ts';

export interface EmbeddedCluster extends ServedApi {
  readonly core: ApiServerCore;
}

const ANYBODY: UserInfo = { name: 'kubectl', groups: [MASTERS] };
const manifest = z.looseObject({
  apiVersion: z.string(),
  kind: z.string(),
  metadata: z.looseObject({ name: z.string(), namespace: z.exactOptional(z.string()) }),
});

const DEPLOY = fileURLToPath(new URL('../../deploy/', import.meta.url));
const textOf = (file: string): string => readFileSync(`${DEPLOY}${file}`, 'utf8');
const NAMESPACE = 'forwarder/namespace.yaml';

/** The texts of `deploy/policies`. */
function admissionPolicies(): readonly string[] {
  const files = readdirSync(`${DEPLOY}policies`).filter(name => name.endsWith('.yaml'));
  return files.toSorted().map(name => textOf(`policies/${name}`));
}

/**
 * Starts the server, installs CRDs, roles and admission policies, and makes Curfew's namespace.
 * @param port 0 takes a free one
 * @param authenticateToken whose a bearer token is; `user:NAME` is understood without
 */
export async function startEmbeddedCluster(
  clock: Clock,
  port: number,
  authenticateToken?: (token: string) => UserInfo | undefined,
): Promise<EmbeddedCluster> {
  const core = createApiServer({ clock, random: () => randomInt(2 ** 32) / 2 ** 32 });
  for (const definition of customResourceDefinitions()) core.seed(asApplied(definition));
  for (const text of [textOf(NAMESPACE), ...rbacFiles().map(file => file.text), ...admissionPolicies()]) {
    for (const document of parseAllDocuments(text)) core.seed(asApplied(manifest.parse(document.toJS())));
  }
  for (const warning of WORKLOAD_WARNING) core.seed(warning);
  const served = await serveApiServer(core, {
    port,
    now: () => clock.now(),
    bookmarkIntervalMs: 15_000,
    authorization: {
      authorizer: createRbacAuthorizer(core),
      anonymous: ANYBODY,
      ...(authenticateToken && { authenticateToken }),
    },
  });
  return { ...served, core };
}
