/** What is wrong with the names in a scenario: kinds, plurals, fields, against what the simulated cluster serves. */
import { parseApiVersion, type JsonObject } from '../../shared/domain/kubernetes-object.ts';
import { didYouMean, nearestName, suggestion } from '../../shared/domain/nearest-name.ts';
import { parsePath } from '../match.ts';
import {
  emptyFields,
  expectedFields,
  misspeltFields,
  misspeltKey,
  writtenFields,
  type Misspelling,
} from './object-fields.ts';
import type { Path } from './places.ts';
import {
  resourceOfManifest,
  resourcesNamed,
  resourcesOf,
  type KnownResource,
  type ResourceCatalog,
} from './resource-names.ts';
import type {
  Expectation,
  Manifest,
  Place,
  PlacedManifest,
  Scenario,
  ScenarioFault,
  TargetRef,
  TracePattern,
} from './scenario.ts';

/** What stands in a trace beside the resources of the API. */
const CLOUD_RESOURCES: readonly string[] = ['instances', 'cleanups', 'hooks'];
/** Kinds of subjects of audit lines that no cluster serves. */
const OWN_KINDS: readonly string[] = ['Instance', 'Orphan', 'TerminationHook'];
const VERSION = /^v\d+((alpha|beta)\d+)?$/;

/** A name that cannot be run, or one that can and was hardly meant. */
export interface Complaint extends ScenarioFault {
  readonly isDoubt?: true;
}

interface Names {
  readonly known: readonly KnownResource[];
  readonly locate: (path: Path) => Place;
}

/** @param locate where a path of the scenario's document stands */
export function complainAboutNames(
  scenario: Scenario,
  documentSteps: readonly DocumentStep[],
  catalog: ResourceCatalog,
  locate: (path: Path) => Place,
): Complaint[] {
  const names: Names = { known: resourcesOf(scenario, catalog), locate };
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
}

/** In what is applied, null takes a field away. */
const ofObject = (manifest: Manifest, path: Path, names: Names): Complaint[] => [
  ...ofManifest(manifest, path, names),
  ...emptyFields(manifest).map(each => toDoubt({ ...each, path: [...path, ...each.path] }, names.locate)),
];

function ofManifest(manifest: Manifest, path: Path, { known, locate }: Names): Complaint[] {
  const { apiVersion, kind } = manifest;
  const place = locate(path);
  const resource = resourceOfManifest(manifest, known);
  if (resource === undefined) {
    return [{ place, message: `the cluster serves no ${apiVersion} ${kind}${kindHint(manifest, known)}` }];
  }
  const { version } = parseApiVersion(apiVersion);
  if (!VERSION.test(version)) {
    return [
      {
        isDoubt: true,
        place,
        message: `${JSON.stringify(version)} in ${apiVersion} is no version of an API, such as ${resource.version}`,
      },
    ];
  }
  return [
    ...ofNamespace(resource, manifest.namespace, place),
    ...misspeltFields(manifest.body, writtenFields(resource), path).map(each => toDoubt(each, locate)),
  ];
}

/** The same kind of another group, or one that is spelt nearly so. */
function kindHint({ apiVersion, kind }: Manifest, known: readonly KnownResource[]): string {
  const written = (each: KnownResource): string =>
    `${each.group === '' ? '' : `${each.group}/`}${each.version} ${each.kind}`;
  const sameKind = known.find(each => each.kind === kind);
  if (sameKind !== undefined) return didYouMean(written(sameKind));
  return suggestion(`${apiVersion} ${kind}`, known.map(written));
}

function ofStep({ apply, patch, delete: deletion }: DocumentStep, path: Path, names: Names): Complaint[] {
  if (apply !== undefined) return ofManifest(apply, [...path, 'apply'], names);
  if (deletion !== undefined) return ofTarget(deletion, [...path, 'delete'], names);
  if (patch === undefined) return [];
  const at = [...path, 'patch'];
  const [resource] = resourcesNamed(patch.resource, names.known);
  const fields = misspeltFields(patch.merge, writtenFields(resource), [...at, 'merge']);
  return [...ofTarget(patch, at, names), ...fields.map(each => toDoubt(each, names.locate))];
}

function ofExpectation(expectation: Expectation, path: Path, names: Names): Complaint[] {
  switch (expectation.kind) {
    case 'finalInstance':
      return [];
    case 'trace':
      return ofPattern(expectation.pattern, [...path, expectation.pattern.kind], names);
    case 'finalObject': {
      const at = [...path, 'final'];
      const { target, match, absent } = expectation;
      const [resource] = resourcesNamed(target.resource, names.known);
      const schema = expectedFields(resource);
      return [
        ...ofTarget(target, at, names),
        ...misspeltFields(match, writtenFields(resource), [...at, 'match']).map(each => toDoubt(each, names.locate)),
        ...ofPaths(absent, [], schema, [...at, 'absent'], names),
      ];
    }
  }
}

function ofPattern({ kind, fields, absent }: TracePattern, path: Path, names: Names): Complaint[] {
  const { known, locate } = names;
  if (kind !== 'write') return ofKind(fields, path, names);
  const { resource: name, body } = fields;
  const isResource = typeof name === 'string' && !CLOUD_RESOURCES.includes(name);
  const found = isResource ? resourcesNamed(name, known) : [];
  const schema = expectedFields(found[0]);
  return [
    ...(isResource && found.length === 0 ? [unknownResource(name, locate([...path, 'resource']), known)] : []),
    ...misspeltFields(body, writtenFields(found[0]), [...path, 'body']).map(each => toDoubt(each, locate)),
    ...ofPaths(absent, ['body'], schema, [...path, 'absent'], names),
  ];
}

/** The kind of the object that an Event or audit line is about. */
function ofKind({ about }: JsonObject, path: Path, { known, locate }: Names): Complaint[] {
  const kind = typeof about === 'object' && about !== null && 'kind' in about ? about['kind'] : undefined;
  if (typeof kind !== 'string') return [];
  const kinds = [...new Set([...known.map(each => each.kind), ...OWN_KINDS])];
  if (kinds.includes(kind)) return [];
  return [
    {
      isDoubt: true,
      place: locate([...path, 'kind']),
      message: `the cluster serves no kind ${JSON.stringify(kind)}${suggestion(kind, kinds)}`,
    },
  ];
}

/** Dotted paths that must not exist; what can never exist can never fail. */
function ofPaths(
  paths: readonly string[],
  root: readonly string[],
  schema: JsonObject,
  path: Path,
  { locate }: Names,
): Complaint[] {
  return paths.flatMap((text, index) => {
    const keys = parsePath(text);
    if (root.some((key, depth) => keys[depth] !== key)) return [];
    const problem = misspeltKey(keys.slice(root.length), schema);
    return problem === undefined
      ? []
      : [{ isDoubt: true, place: locate([...path, index]), message: `${text} can never exist: ${problem}` }];
  });
}

function ofTarget({ resource: name, namespace }: TargetRef, path: Path, { known, locate }: Names): Complaint[] {
  const [resource] = resourcesNamed(name, known);
  if (resource === undefined) return [unknownResource(name, locate([...path, 'resource']), known)];
  return ofNamespace(resource, namespace, locate(path));
}

function unknownResource(name: string, place: Place, known: readonly KnownResource[]): ScenarioFault {
  const singular = known.find(({ kind }) => kind.toLowerCase() === name.toLowerCase())?.resource;
  const plurals = known.flatMap(({ resource, group }) => [resource, `${resource}.${group}`]);
  const hint = didYouMean(singular ?? nearestName(name, plurals));
  const rule = 'it must be a plural such as "nodes", with ".group" where two share it';
  return {
    place,
    message: `the cluster serves no resource ${JSON.stringify(name)}${hint === '' ? `; ${rule}` : hint}`,
  };
}

function ofNamespace(resource: KnownResource, namespace: string | undefined, place: Place): Complaint[] {
  if (namespace === undefined || resource.namespaced) return [];
  return [{ place, message: `${resource.resource} have no namespace` }];
}

const toDoubt = ({ path, message }: Misspelling, locate: (path: Path) => Place): Complaint => ({
  isDoubt: true,
  place: locate(path),
  message,
});

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
