/** Everything that a plan of a drain rests on, read live. */
import { readConfiguration, type Configuration } from '../../shared/cluster/read-configuration.ts';
import { CONFIG_MAP } from '../../shared/contract/names.ts';
import { RESOURCES } from '../../shared/contract/resources.ts';
import type { KubernetesApi } from '../../shared/ports/kubernetes-api.ts';

/** Undefined: there is none, or it is not valid; the last valid one stands in Curfew's table, which is not read. */
export async function loadConfiguration(kubernetes: Pick<KubernetesApi, 'get'>): Promise<Configuration | undefined> {
  const { namespace, name, key } = CONFIG_MAP;
  const configMap = await kubernetes.get({ type: RESOURCES.ConfigMap, namespace, name });
  const data: unknown = configMap?.['data'];
  if (typeof data !== 'object' || data === null || !Object.hasOwn(data, key)) return undefined;
  const texts = Object.entries(data).filter((entry): entry is [string, string] => typeof entry[1] === 'string');
  const read = readConfiguration(Object.fromEntries(texts));
  return read.ok ? read.value : undefined;
}
