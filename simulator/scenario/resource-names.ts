/** Kinds and plurals that a scenario names, against what the simulated cluster serves. */
import { isObject } from '../../packages/kube-apiserver/src/json.ts';
import type { JsonValue } from '../../shared/domain/kubernetes-object.ts';
import { parseApiVersion } from '../../shared/domain/kubernetes-object.ts';
import type { Manifest, Place, PlacedManifest, Scenario, ScenarioFault, TargetRef } from './scenario.ts';

export interface KnownResource {
  readonly group: string;
  readonly version: string;
  readonly resource: string;
  readonly kind: string;
  readonly namespaced: boolean;
}

/** What the cluster serves before a scenario adds anything. */
export interface ResourceCatalog {
  readonly resources: readonly KnownResource[];
}

/** What stands in a trace beside the resources of the API. */
const CLOUD_RESOURCES: readonly string[] = ['instances', 'cleanups', 'hooks'];

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
    return version === undefined ? [] : [{ group, version, resource, kind: definedKind, namespaced }];
  });
}

function at(value: JsonValue | undefined, key: string): JsonValue | undefined {
  return isObject(value) ? value[key] : undefined;
}

function textAt(value: JsonValue | undefined, key: string): string | undefined {
  const found = at(value, key);
  return typeof found === 'string' ? found : undefined;
}

export function complainAboutResources(scenario: Scenario, catalog: ResourceCatalog): ScenarioFault[] {
  const known = resourcesOf(scenario, catalog);
  const ofManifest = (manifest: Manifest, place: Place): ScenarioFault[] => {
    const resource = resourceOfManifest(manifest, known);
    const named = `${manifest.apiVersion} ${manifest.kind}`;
    if (resource === undefined) return [{ place, message: `the cluster serves no ${named}` }];
    return complainAboutNamespace(resource, manifest.namespace, place);
  };
  const ofTarget = ({ resource: name, namespace }: TargetRef, place: Place): ScenarioFault[] => {
    const [resource] = resourcesNamed(name, known);
    return resource === undefined ? [unknown(name, place)] : complainAboutNamespace(resource, namespace, place);
  };
  const faults = scenario.objects.flatMap(({ manifest, place }) => ofManifest(manifest, place));
  for (const { action, place } of scenario.steps) {
    if (action.kind === 'apply') faults.push(...ofManifest(action.manifest, place));
    if (action.kind === 'patch' || action.kind === 'delete') faults.push(...ofTarget(action.target, place));
  }
  for (const expectation of scenario.expectations) {
    if (expectation.kind === 'finalObject') faults.push(...ofTarget(expectation.target, expectation.place));
    if (expectation.kind !== 'trace') continue;
    const name = expectation.pattern.fields['resource'];
    if (expectation.pattern.kind !== 'write' || typeof name !== 'string' || CLOUD_RESOURCES.includes(name)) continue;
    if (resourcesNamed(name, known).length === 0) faults.push(unknown(name, expectation.place));
  }
  return faults;
}

const unknown = (name: string, place: Place): ScenarioFault => ({
  place,
  message: `the cluster serves no resource ${JSON.stringify(name)}; it must be a plural such as "nodes", with ".group" where two share it`,
});

function complainAboutNamespace(resource: KnownResource, namespace: string | undefined, place: Place): ScenarioFault[] {
  if (namespace === undefined || resource.namespaced) return [];
  return [{ place, message: `${resource.resource} have no namespace` }];
}

/** The same object twice in `objects`: the second would silently replace the first. */
export function complainAboutDuplicates(objects: readonly PlacedManifest[]): ScenarioFault[] {
  const seen = new Map<string, Place>();
  return objects.flatMap(({ manifest, place }) => {
    const { apiVersion, kind, namespace = '', name } = manifest;
    const key = JSON.stringify([parseApiVersion(apiVersion).group, kind, namespace, name]);
    const first = seen.get(key);
    if (first !== undefined) return [{ place, message: `${kind} ${name} stands at line ${first.line} already` }];
    seen.set(key, place);
    return [];
  });
}
