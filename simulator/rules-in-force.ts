/** Which settings of repair are in force for each pool, whenever they change, for the trace: the strips of a page draw them. */
import { CONFIG_MAP } from '../shared/contract/names.ts';
import { parseConfig } from '../shared/contract/config-schema.ts';
import type { NodeCount } from '../shared/domain/repair-policy.ts';
import { RESOURCES } from '../shared/contract/resources.ts';
import type { JsonObject, KubernetesObject, ResourceType } from '../shared/domain/kubernetes-object.ts';
import { readPolicies } from '../shared/policies/policy-set.ts';
import { repairBlockInForce } from '../functions/repair/explain.ts';
import type { ApiServerCore } from '../packages/kube-apiserver/src/types.ts';
import { followKind } from './followed-kind.ts';
import type { Trace } from './trace.ts';

const TYPES = [RESOURCES.NodePool, RESOURCES.NodeLifecyclePolicy, RESOURCES.ConfigMap] as const;

export function recordRules(core: Pick<ApiServerCore, 'list' | 'watch'>, trace: Pick<Trace, 'addRules'>): void {
  const said = new Map<string, string>();
  const listed = (type: ResourceType): readonly KubernetesObject[] => core.list(type).items;
  const say = (): void => {
    const policies = readPolicies(listed(RESOURCES.NodeLifecyclePolicy));
    const gateOpen = isGateOpen(listed(RESOURCES.ConfigMap));
    const pools = listed(RESOURCES.NodePool);
    for (const name of said.keys()) if (!pools.some(({ metadata }) => metadata.name === name)) said.delete(name);
    for (const pool of pools) {
      const rules = rulesOf(pool, policies, gateOpen);
      const text = JSON.stringify(rules);
      if (said.get(pool.metadata.name) === text) continue;
      said.set(pool.metadata.name, text);
      trace.addRules(rules);
    }
  };
  for (const type of TYPES) followKind(core, type, say);
}

function rulesOf(pool: KubernetesObject, policies: ReturnType<typeof readPolicies>, gateOpen: boolean): JsonObject {
  const { settings, mode, source, limits } = repairBlockInForce(pool, policies);
  const readable = settings === undefined || 'invalid' in settings ? undefined : settings;
  return {
    pool: pool.metadata.name,
    mode,
    ...(source !== undefined && { source }),
    gateOpen,
    ...written('maxUnhealthy', readable?.maxUnhealthy),
    ...written('maxConcurrentRepairs', readable?.maxConcurrentRepairs),
    ...written(
      'maxConcurrentRepairsPerCluster',
      first(limits?.binding.map(each => each.maxConcurrentRepairsPerCluster)),
    ),
    ...written('maxConcurrentRepairsPerZone', first(limits?.binding.map(each => each.maxConcurrentRepairsPerZone))),
  };
}

const first = (counts: readonly (NodeCount | undefined)[] | undefined): NodeCount | undefined =>
  counts?.find(each => each !== undefined);

const written = (name: string, limit: NodeCount | undefined): JsonObject =>
  limit === undefined ? {} : { [name]: 'count' in limit ? String(limit.count) : `${limit.percent}%` };

function isGateOpen(maps: readonly KubernetesObject[]): boolean {
  const found = maps.find(
    ({ metadata }) => metadata.namespace === CONFIG_MAP.namespace && metadata.name === CONFIG_MAP.name,
  );
  const data = found?.['data'];
  const text: unknown = typeof data === 'object' && data !== null ? Reflect.get(data, CONFIG_MAP.key) : undefined;
  const config = parseConfig(typeof text === 'string' ? text : '');
  return config.ok && config.value.featureGates.nodeRepair;
}
