/** Kinds and plurals that a scenario names, against what the simulated cluster serves. */
import { isObject } from '../../packages/kube-apiserver/src/json.ts';
import type { JsonObject, JsonValue } from '../../shared/domain/kubernetes-object.ts';
import { parseApiVersion } from '../../shared/domain/kubernetes-object.ts';
import type { Manifest, Scenario } from './scenario.ts';

export interface KnownResource {
  readonly group: string;
  readonly version: string;
  readonly resource: string;
  readonly kind: string;
  readonly namespaced: boolean;
  /** OpenAPI v3 schema of a custom resource. */
  readonly schema?: JsonObject;
}

/** What the cluster serves before a scenario adds anything. */
export interface ResourceCatalog {
  readonly resources: readonly KnownResource[];
}

/** `nodes`, or `nodeclaims.karpenter.sh`: all resources that are meant, those of the core group first. */
export function resourcesNamed(name: string, known: readonly KnownResource[]): readonly KnownResource[] {
  const dot = name.indexOf('.');
  const plural = dot < 0 ? name : name.slice(0, dot);
  const group = dot < 0 ? undefined : name.slice(dot + 1);
  return known
    .filter(resource => resource.resource === plural && (group === undefined || resource.group === group))
    .toSorted((a, b) => Number(a.group !== '') - Number(b.group !== ''));
}

/** The resource of a manifest. Another version of a kind that is served counts: scenarios outlive API versions. */
export function resourceOfManifest(
  { apiVersion, kind }: Pick<Manifest, 'apiVersion' | 'kind'>,
  known: readonly KnownResource[],
): KnownResource | undefined {
  const { group, version } = parseApiVersion(apiVersion);
  const candidates = known.filter(resource => resource.group === group && resource.kind === kind);
  return candidates.find(resource => resource.version === version) ?? candidates[0];
}

/** All resources that the scenario can name: the cluster's, and those of the CRDs in the file. */
export function resourcesOf(scenario: Scenario, catalog: ResourceCatalog): readonly KnownResource[] {
  const applied = scenario.steps.flatMap(({ action }) => (action.kind === 'apply' ? [action.manifest] : []));
  const manifests = [...scenario.objects.map(({ manifest }) => manifest), ...applied];
  return [...catalog.resources, ...manifests.flatMap(definedResources)];
}

/** What a CustomResourceDefinition defines; nothing for any other manifest or one that is not whole. */
function definedResources({ kind, body }: Manifest): KnownResource[] {
  if (kind !== 'CustomResourceDefinition') return [];
  const spec = body['spec'];
  const group = textAt(spec, 'group');
  const names = at(spec, 'names');
  const resource = textAt(names, 'plural');
  const definedKind = textAt(names, 'kind');
  const versions = at(spec, 'versions');
  if (group === undefined || resource === undefined || definedKind === undefined || !Array.isArray(versions)) return [];
  const namespaced = at(spec, 'scope') === 'Namespaced';
  return versions.flatMap((entry: JsonValue) => {
    const version = textAt(entry, 'name');
    if (version === undefined) return [];
    const schema = at(at(entry, 'schema'), 'openAPIV3Schema');
    return [{ group, version, resource, kind: definedKind, namespaced, ...(isObject(schema) && { schema }) }];
  });
}

function at(value: JsonValue | undefined, key: string): JsonValue | undefined {
  return isObject(value) ? value[key] : undefined;
}

function textAt(value: JsonValue | undefined, key: string): string | undefined {
  const found = at(value, key);
  return typeof found === 'string' ? found : undefined;
}
