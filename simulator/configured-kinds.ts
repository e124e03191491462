/** What the configurations of a scenario name and its objects may leave out: the kind of a custom drain, and the namespace of its custom resources. */
import { parse as parseToml } from 'smol-toml';
import { objectAt, textAt } from '../packages/kube-apiserver/src/json.ts';
import { CONFIG_MAP } from '../shared/contract/names.ts';
import { isJsonObject } from '../shared/domain/json.ts';
import type { JsonObject } from '../shared/domain/kubernetes-object.ts';
import type { Scenario } from './scenario/scenario.ts';

/** The data of its ConfigMaps, as they are at the start and as steps change them. */
export function configuredData({ config, templates, objects, steps }: Scenario): readonly JsonObject[] {
  const atStart = { ...templates, ...(config !== undefined && { [CONFIG_MAP.key]: config }) };
  const changes = steps.flatMap(({ action }): JsonObject[] => {
    if (action.kind === 'patch' && action.target.resource === 'configmaps') return [action.merge];
    return action.kind === 'apply' && action.manifest.kind === 'ConfigMap' ? [action.manifest.body] : [];
  });
  const stored = objects.flatMap(({ manifest }) => (manifest.kind === 'ConfigMap' ? [manifest.body] : []));
  return [atStart, ...[...stored, ...changes].map(body => objectAt(body, 'data'))];
}

/** Where the custom resources of drains stand by this configuration; undefined: nowhere, or it cannot be read. */
export function customDrainNamespace(data: JsonObject): string | undefined {
  const namespace = customDrainOf(data)['namespace'];
  return typeof namespace === 'string' && /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/.test(namespace)
    ? namespace
    : undefined;
}

/** The API group of the custom drain by this configuration; undefined: none, or the core group. */
export function customDrainGroup(data: JsonObject): string | undefined {
  const group = customDrainOf(data)['apiGroup'];
  return typeof group === 'string' && group !== '' ? group : undefined;
}

/** Whether this is a plural of a custom drain's kind, which the cluster need not serve. */
export function isCustomDrainKind(name: string, scenario: Scenario): boolean {
  const [plural] = name.split('.', 1);
  return configuredData(scenario).some(data => {
    const { kind, resource } = customDrainOf(data);
    if (typeof resource === 'string') return plural === resource;
    if (typeof kind !== 'string' || kind === '') return false;
    const singular = kind.toLowerCase();
    return plural === `${singular}s` || plural === `${singular}es` || plural === `${singular.replace(/y$/, 'ie')}s`;
  });
}

function customDrainOf(data: JsonObject): Record<string, unknown> {
  try {
    const table = parseToml(textAt(data, CONFIG_MAP.key) ?? '')['customDrain'];
    return isJsonObject(table) ? table : {};
  } catch {
    return {};
  }
}
