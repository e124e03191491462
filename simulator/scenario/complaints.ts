/** What is wrong with the names in a scenario: kinds, plurals, fields, against what the simulated cluster serves. */
import { parseApiVersion, type JsonObject } from '../../shared/domain/kubernetes-object.ts';
import { isCustomDrainKind } from '../configured-kinds.ts';
import { conditionsWithoutText } from './condition-texts.ts';
import { ofExpectation } from './expectation-complaints.ts';
import { emptyFields, misspeltFields, writtenFields } from './object-fields.ts';
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

/** @param locate where a path of the scenario's document stands */
export function complainAboutNames(
  scenario: Scenario,
  documentSteps: readonly DocumentStep[],
  catalog: ResourceCatalog,
  locate: (path: Path) => Place,
): Complaint[] {
  const names: Names = {
    known: resourcesOf(scenario, catalog),
    mayBeUnserved: name => isCustomDrainKind(name, scenario),
    locate,
  };
  return [
    ...scenario.objects.flatMap(({ manifest }, index) => ofObject(manifest, ['spec', 'objects', index], names)),
    ...documentSteps.flatMap((step, index) => ofStep(step, ['spec', 'steps', index], names)),
    ...scenario.expectations.flatMap((each, index) => ofExpectation(each, ['spec', 'expect', index], names)),
  ];
}

/** What of a step names objects. */
export interface DocumentStep {
  readonly apply?: Manifest | undefined;
  readonly patch?: (TargetRef & { readonly merge: JsonObject }) | undefined;
  readonly delete?: TargetRef | undefined;
  readonly refuse?: RefusedRequests | undefined;
}

/** In what is applied, null takes a field away. */
const ofObject = (manifest: Manifest, path: Path, names: Names): Complaint[] => [
  ...ofManifest(manifest, path, names),
  ...emptyFields(manifest).map(each => toDoubt({ ...each, path: [...path, ...each.path] }, names.locate)),
];

function ofStep({ apply, patch, delete: deletion, refuse }: DocumentStep, path: Path, names: Names): Complaint[] {
  if (apply !== undefined) return ofManifest(apply, [...path, 'apply'], names);
  if (deletion !== undefined) return ofTarget(deletion, [...path, 'delete'], names);
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
    if (first !== undefined) return [{ place, message: `${kind} ${name} stands at line ${first.line} already` }];
    seen.set(key, place);
    return [];
  });
}
