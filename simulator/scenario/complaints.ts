/** What is wrong with the names in a scenario: kinds, plurals, fields, against what the simulated cluster serves. */
import { parseApiVersion, type JsonObject } from '../../shared/domain/kubernetes-object.ts';
import { isCustomDrainKind } from '../configured-kinds.ts';
import { conditionsWithoutText } from './condition-texts.ts';
import { suggestion } from '../../shared/domain/nearest-name.ts';
import { ofExpectation } from './expectation-complaints.ts';
import { emptyFields, misspeltFields, writtenFields } from './object-fields.ts';
import type { NodesEntry } from './nodes.ts';
import type { Beginning } from './objects.ts';
import type { Path } from './places.ts';
import { ofManifest, ofResource, ofTarget, toDoubt, type Complaint, type Names } from './resource-complaints.ts';
import { resourcesNamed, resourcesOf, type ResourceCatalog } from './resource-names.ts';
import type {
  Manifest,
  Place,
  PlacedManifest,
  RefusedRequests,
  Scenario,
  ScenarioFault,
  TargetRef,
} from './scenario.ts';

/** What of a scenario's document names kinds, objects and fields. */
export interface Named {
  readonly beginning: Beginning;
  readonly spec: {
    readonly nodes?: readonly NodesEntry[] | undefined;
    readonly steps?: readonly DocumentStep[] | undefined;
  };
  /** Where a path of the scenario's document stands. */
  readonly locate: (path: Path) => Place;
}

export function complainAboutNames(
  scenario: Scenario,
  { beginning: { objects }, spec: { nodes = [], steps = [] }, locate }: Named,
  catalog: ResourceCatalog,
): Complaint[] {
  const names: Names = {
    known: resourcesOf(scenario, catalog),
    mayBeUnserved: name => isCustomDrainKind(name, scenario),
    locate,
  };
  return [
    ...objects.flatMap(each => ofObject(each.manifest, { ...names, locate: each.locate })),
    ...nodes.flatMap(({ pool }, index) => ofPool(pool, ['spec', 'nodes', index, 'pool'], scenario, names)),
    ...steps.flatMap((step, index) => ofStep(step, ['spec', 'steps', index], scenario, names)),
    ...scenario.expectations.flatMap((each, index) => ofExpectation(each, ['spec', 'expect', index], names)),
  ];
}

/** Without its NodePool a node has no policy, and Karpenter launches nothing. */
function ofPool(pool: string, path: Path, { objects, steps }: Scenario, { locate }: Names): Complaint[] {
  const applied = steps.flatMap(({ action }) => (action.kind === 'apply' ? [action.manifest] : []));
  const manifests = [...objects.map(({ manifest }) => manifest), ...applied];
  const pools = manifests.filter(({ kind }) => kind === 'NodePool').map(({ name }) => name);
  if (pools.includes(pool)) return [];
  return [
    toDoubt({ path, message: `no NodePool has the name ${JSON.stringify(pool)}${suggestion(pool, pools)}` }, locate),
  ];
}

/** What of a step names objects. */
export interface DocumentStep {
  readonly apply?: Manifest | undefined;
  readonly patch?: (TargetRef & { readonly merge: JsonObject }) | undefined;
  readonly delete?: TargetRef | undefined;
  readonly launch?: { readonly nodePool: string } | undefined;
  readonly refuse?: RefusedRequests | undefined;
}

/** In what is applied, null takes a field away. */
const ofObject = (manifest: Manifest, names: Names): Complaint[] => [
  ...ofManifest(manifest, [], names),
  ...emptyFields(manifest).map(each => toDoubt(each, names.locate)),
];

function ofStep(step: DocumentStep, path: Path, scenario: Scenario, names: Names): Complaint[] {
  const { apply, patch, delete: deletion, launch, refuse } = step;
  if (apply !== undefined) return ofManifest(apply, [...path, 'apply'], names);
  if (deletion !== undefined) return ofTarget(deletion, [...path, 'delete'], names);
  if (launch !== undefined) return ofPool(launch.nodePool, [...path, 'launch', 'nodePool'], scenario, names);
  if (refuse !== undefined) return ofRefusal(refuse, [...path, 'refuse'], names);
  if (patch === undefined) return [];
  const at = [...path, 'patch'];
  const [resource] = resourcesNamed(patch.resource, names.known);
  const merge: Path = [...at, 'merge'];
  const fields = [
    ...misspeltFields(patch.merge, writtenFields(resource), merge),
    ...conditionsWithoutText(patch.merge, merge),
  ];
  return [...ofTarget(patch, at, names), ...fields.map(each => toDoubt(each, names.locate))];
}

/** A refusal that no request can meet would never fail a run. */
function ofRefusal({ verb, resource, namespace }: RefusedRequests, path: Path, names: Names): Complaint[] {
  if (resource === undefined) return [];
  const [plural] = resource.split('.');
  const noPod = verb === 'evict' && plural !== 'pods';
  return [
    ...ofResource(resource, namespace, path, names),
    ...(noPod ? [{ place: names.locate(path), message: `nothing evicts ${plural}: only pods are evicted` }] : []),
  ];
}

/** The same object twice in `objects`: the second would silently replace the first. */
export function complainAboutDuplicates(objects: readonly PlacedManifest[]): ScenarioFault[] {
  const seen = new Map<string, Place>();
  return objects.flatMap(({ manifest, place }) => {
    const { apiVersion, kind, namespace = '', name } = manifest;
    const key = JSON.stringify([parseApiVersion(apiVersion).group, kind, namespace, name]);
    const first = seen.get(key);
    if (first !== undefined) {
      const where = first.file === place.file ? `at line ${first.line}` : `in ${first.file}, line ${first.line},`;
      return [{ place, message: `${kind} ${name} stands ${where} already` }];
    }
    seen.set(key, place);
    return [];
  });
}
