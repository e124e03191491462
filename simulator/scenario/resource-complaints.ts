/** What is wrong with the name of a resource in a scenario, and with the fields of what is written. */
import { parseApiVersion } from '../../shared/domain/kubernetes-object.ts';
import { didYouMean, nearestName, suggestion } from '../../shared/domain/nearest-name.ts';
import { conditionsWithoutText } from './condition-texts.ts';
import { misspeltFields, writtenFields, type Misspelling } from './object-fields.ts';
import type { Path } from './places.ts';
import { resourceOfManifest, resourcesNamed, type KnownResource } from './resource-names.ts';
import type { Manifest, Place, ScenarioFault, TargetRef } from './scenario.ts';

const VERSION = /^v\d+((alpha|beta)\d+)?$/;

/** A name that cannot be run, or one that can and was hardly meant. */
export interface Complaint extends ScenarioFault {
  readonly isDoubt?: true;
}

/** What is known of names where a scenario is read. */
export interface Names {
  readonly known: readonly KnownResource[];
  /** Whether it is the plural of a kind that the file names elsewhere and the cluster need not serve. */
  readonly mayBeUnserved: (name: string) => boolean;
  readonly locate: (path: Path) => Place;
}

export function ofManifest(manifest: Manifest, path: Path, { known, locate }: Names): Complaint[] {
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
  const fields = [
    ...misspeltFields(manifest.body, writtenFields(resource), path),
    ...conditionsWithoutText(manifest.body, path),
  ];
  return [...ofNamespace(resource, manifest.namespace, place), ...fields.map(each => toDoubt(each, locate))];
}

/** The same kind of another group, or one that is spelt nearly so. */
function kindHint({ apiVersion, kind }: Manifest, known: readonly KnownResource[]): string {
  const written = (each: KnownResource): string =>
    `${each.group === '' ? '' : `${each.group}/`}${each.version} ${each.kind}`;
  const sameKind = known.find(each => each.kind === kind);
  if (sameKind !== undefined) return didYouMean(written(sameKind));
  return suggestion(`${apiVersion} ${kind}`, known.map(written));
}

export const ofTarget = ({ resource, namespace }: TargetRef, path: Path, names: Names): Complaint[] =>
  ofResource(resource, namespace, path, names);

export function ofResource(name: string, namespace: string | undefined, path: Path, names: Names): Complaint[] {
  const { known, locate } = names;
  const [resource] = resourcesNamed(name, known);
  if (resource === undefined) return unknownResource(name, [...path, 'resource'], names);
  return ofNamespace(resource, namespace, locate(path));
}

export function unknownResource(name: string, path: Path, { known, mayBeUnserved, locate }: Names): Complaint[] {
  if (mayBeUnserved(name)) return [];
  const singular = known.find(({ kind }) => kind.toLowerCase() === name.toLowerCase())?.resource;
  const plurals = known.flatMap(({ resource, group }) => [resource, `${resource}.${group}`]);
  const hint = didYouMean(singular ?? nearestName(name, plurals));
  const rule = 'it must be a plural such as "nodes", with ".group" where two share it';
  const message = `the cluster serves no resource ${JSON.stringify(name)}${hint === '' ? `; ${rule}` : hint}`;
  return [{ place: locate(path), message }];
}

function ofNamespace(resource: KnownResource, namespace: string | undefined, place: Place): Complaint[] {
  if (namespace === undefined || resource.namespaced) return [];
  return [{ place, message: `${resource.resource} have no namespace` }];
}

export const toDoubt = ({ path, message }: Misspelling, locate: (path: Path) => Place): Complaint => ({
  isDoubt: true,
  place: locate(path),
  message,
});
