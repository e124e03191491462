/**
 * The input of a credential plugin (`KUBERNETES_EXEC_INFO`): an ExecCredential whose `spec` says how the plugin may
 * ask, and of which cluster.
 */
import { readFileSync } from 'node:fs';
import type { Cluster } from '@kubernetes/client-node';
import { z } from 'zod';
import { toJson } from '../../domain/json.ts';
import type { JsonObject } from '../../domain/kubernetes-object.ts';
import { parseClusters } from './kubeconfig-users.ts';

const DEFAULT_VERSION = 'client.authentication.k8s.io/v1';
/** The extension of a cluster that is meant for plugins. */
const EXTENSION = 'client.authentication.k8s.io/exec';

export function execInfo(apiVersion: string | null | undefined, spec: JsonObject): string {
  return JSON.stringify({ kind: 'ExecCredential', apiVersion: apiVersion ?? DEFAULT_VERSION, spec });
}

/** Named alike in a kubeconfig and in an ExecCredential. */
const shared = z.object({
  server: z.string(),
  'tls-server-name': z.string().min(1).optional().catch(undefined),
  'insecure-skip-tls-verify': z.literal(true).optional().catch(undefined),
  'certificate-authority-data': z.string().min(1).optional().catch(undefined),
  'proxy-url': z.string().min(1).optional().catch(undefined),
  'disable-compression': z.literal(true).optional().catch(undefined),
});
const cluster = shared.extend({
  extensions: z
    .array(z.object({ name: z.string(), extension: z.unknown() }))
    .optional()
    .catch(undefined),
});

/** The cluster as it is described to a plugin. @param file the kubeconfig */
export function clusterInfo(file: string, { name, caFile }: Pick<Cluster, 'name' | 'caFile'>): JsonObject | undefined {
  const found = parseClusters(file, cluster).data?.clusters.find(each => each.name === name)?.cluster;
  if (found === undefined) return undefined;
  const { extensions = [], ...clusterFields } = found;
  const config = extensions.find(each => each.name === EXTENSION)?.extension;
  const ca = caFile && clusterFields['certificate-authority-data'] === undefined ? readFileSync(caFile) : undefined;
  const told = {
    ...clusterFields,
    ...(ca !== undefined && { 'certificate-authority-data': ca.toString('base64') }),
    ...(config !== undefined && { config }),
  };
  return toJson(told);
}
