/** What is wrong with the names in an expectation. */
import type { JsonObject } from '../../shared/domain/kubernetes-object.ts';
import { suggestion } from '../../shared/domain/nearest-name.ts';
import { parsePath } from '../match.ts';
import { expectedFields, misspeltFields, misspeltKey, writtenFields } from './object-fields.ts';
import type { Path } from './places.ts';
import { ofTarget, toDoubt, unknownResource, type Complaint, type Names } from './resource-complaints.ts';
import { resourcesNamed } from './resource-names.ts';
import type { Expectation, TracePattern } from './scenario.ts';

/** What stands in a trace beside the resources of the API. */
const CLOUD_RESOURCES: readonly string[] = ['instances', 'cleanups', 'hooks'];
/** Verbs that only lines of these resources have, as one says it of them. */
const OWN_VERBS: Readonly<Record<string, { readonly says: string; readonly resources: readonly string[] }>> = {
  evict: { says: 'evicts', resources: ['pods'] },
  terminate: { says: 'terminates', resources: ['instances'] },
  reboot: { says: 'reboots', resources: ['instances'] },
  invoke: { says: 'invokes', resources: ['cleanups', 'hooks'] },
};
/** Maps in the metadata of every object, and what one entry is. */
const TEXT_MAPS: Readonly<Record<string, string>> = { annotations: 'an annotation', labels: 'a label' };
/** Kinds of subjects of audit lines that no cluster serves. */
const OWN_KINDS: readonly string[] = ['Instance', 'Orphan', 'TerminationHook'];
export function ofExpectation(expectation: Expectation, path: Path, names: Names): Complaint[] {
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
        ...ofPaths(absent, { root: [], schema }, [...at, 'absent'], names),
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
    ...(isResource && found.length === 0 ? unknownResource(name, [...path, 'resource'], names) : []),
    ...ofVerb(fields, [...path, 'resource'], names),
    ...misspeltFields(body, writtenFields(found[0]), [...path, 'body']).map(each => toDoubt(each, locate)),
    ...ofPaths(absent, { root: ['body'], schema }, [...path, 'absent'], names),
  ];
}

/** A verb that no line of the resource has: expected of nothing it never fails. */
function ofVerb({ verb, resource }: JsonObject, path: Path, { locate }: Names): Complaint[] {
  if (typeof verb !== 'string' || typeof resource !== 'string') return [];
  const [plural = ''] = resource.split('.');
  const own = OWN_VERBS[verb];
  if (own !== undefined && !own.resources.includes(plural)) {
    const message = `nothing ${own.says} ${plural}: the resource of this verb is ${own.resources.join(' or ')}`;
    return [{ isDoubt: true, place: locate(path), message }];
  }
  const verbs = Object.keys(OWN_VERBS).filter(each => OWN_VERBS[each]?.resources.includes(plural));
  if (!CLOUD_RESOURCES.includes(plural) || verbs.includes(verb)) return [];
  const message = `the verb of ${plural} is ${verbs.join(' or ')}, not ${verb}`;
  return [{ isDoubt: true, place: locate(path), message }];
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
  { root, schema }: { readonly root: readonly string[]; readonly schema: JsonObject },
  path: Path,
  { locate }: Names,
): Complaint[] {
  return paths.flatMap((text, index) => {
    const keys = parsePath(text);
    if (root.some((key, depth) => keys[depth] !== key)) return [];
    const problem = misspeltKey(keys.slice(root.length), schema) ?? intoText(keys);
    return problem === undefined
      ? []
      : [{ isDoubt: true, place: locate([...path, index]), message: `${text} can never exist: ${problem}` }];
  });
}

/** A name with dots that stands without quotes. */
function intoText(keys: readonly string[]): string | undefined {
  const map = keys.findIndex((key, index) => keys[index - 1] === 'metadata' && Object.hasOwn(TEXT_MAPS, key));
  const name = keys.slice(map + 1);
  if (map === -1 || name.length < 2) return undefined;
  return `${TEXT_MAPS[keys[map] ?? '']} holds text; write ${keys.slice(0, map + 1).join('.')}[${JSON.stringify(name.join('.'))}]`;
}
