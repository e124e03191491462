/** Everything that a plan of a drain rests on, read live. */
import { readConfiguration, type Configuration } from '../../shared/cluster/read-configuration.ts';
import { formatConfigFaults } from '../../shared/contract/config-schema.ts';
import { CONFIG_MAP } from '../../shared/contract/names.ts';
import { RESOURCES } from '../../shared/contract/resources.ts';
import type { KubernetesApi } from '../../shared/ports/kubernetes-api.ts';
import { textsOf } from '../texts-of.ts';
import { objectOf } from '../../shared/ports/read-answer.ts';

/** The configuration as it is in the cluster. The last valid one is in Curfew's table, which is not read. */
export type LiveConfiguration =
  | {
      readonly kind: 'valid';
      readonly configuration: Configuration;
      /** Whether the API server serves the kind of the custom drain, if there is one. */
      readonly isCustomServed: boolean;
    }
  | { readonly kind: 'invalid'; readonly message: string }
  | { readonly kind: 'none' };

/**
 * As the functions would read it now. `invalid` is what a new configuration would be told; the last good one in
 * Curfew's table may still be in force.
 */
export async function loadConfiguration(
  kubernetes: Pick<KubernetesApi, 'get' | 'resolve'>,
): Promise<LiveConfiguration> {
  const { namespace, name, key } = CONFIG_MAP;
  const configMap = objectOf(await kubernetes.get({ type: RESOURCES.ConfigMap, namespace, name }), {
    ifNotServed: 'throw',
  });
  const data: unknown = configMap?.['data'];
  if (typeof data !== 'object' || data === null || !Object.hasOwn(data, key)) return { kind: 'none' };
  const read = readConfiguration(textsOf(data));
  if (read.ok) {
    const custom = read.value.drain?.customDrain;
    const served =
      custom && (await kubernetes.resolve({ group: custom.apiGroup, version: custom.version, kind: custom.kind }));
    return { kind: 'valid', configuration: read.value, isCustomServed: custom === undefined || served !== undefined };
  }
  return { kind: 'invalid', message: formatConfigFaults(read.faults) };
}
