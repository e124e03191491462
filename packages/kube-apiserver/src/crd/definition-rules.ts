/** CustomResourceDefinitions: what is filled in, what is refused, and how they change what the server serves. */
import type { JsonObject, JsonValue } from '../json.ts';
import { arrayAt, equalJson, isObject, objectAt, shareObject, textAt } from '../json.ts';
import { complainAboutName } from '../names.ts';
import type { Registry } from '../resources/registry.ts';
import type { ResourceRules, Transition } from '../resources/resource-rules.ts';
import { compileSchema } from '../schema/structural.ts';
import type { Cause } from '../status-errors.ts';
import { expired, invalidValue, required } from '../status-errors.ts';
import type { ObjectStore } from '../store/object-store.ts';
import { customResources } from './custom-resource.ts';
import { readDefinition } from './definition.ts';
import { complainAboutParts } from './schema-parts.ts';

export interface DefinitionContext {
  readonly registry: Registry;
  readonly store: ObjectStore;
  /** Receives a text for each rule of a schema that had to be skipped. */
  readonly skipped: (warning: string) => void;
}

/** The rules of CustomResourceDefinitions. */
export function definitionRules(context: DefinitionContext): Partial<ResourceRules> {
  const storages: Storages = new Map();
  return {
    prepare: prepareDefinition,
    validate: ({ next, old }) => complainAboutDefinition(next, old),
    stored: object => serve(context, storages, object),
    removed: object => stopServing(context, storages, object),
  };
}

/** By name of the definition, also of one that serves none of its versions. */
type Storages = Map<string, ReturnType<ObjectStore['newStorage']>>;

function serve({ registry, store, skipped }: DefinitionContext, storages: Storages, object: JsonObject): void {
  const definition = readDefinition(object);
  const { name, group, plural } = definition;
  const storage = storages.get(name) ?? store.newStorage();
  storages.set(name, storage);
  registry.stopServing(group, plural);
  registry.serve(customResources(definition, storage, skipped));
}

function stopServing({ registry, store }: DefinitionContext, storages: Storages, object: JsonObject): void {
  const { name, group, plural } = readDefinition(object);
  const storage = storages.get(name);
  storages.delete(name);
  registry.stopServing(group, plural);
  if (storage !== undefined) store.endWatches(storage, expired('the custom resource definition is gone').status);
}

/** Fills in names and states at once that the names are accepted: there is no controller that would do it later. */
function prepareDefinition({ next, old, subresource, context }: Transition): JsonObject {
  if (subresource === 'status') return next;
  const spec = objectAt(next, 'spec');
  const names = objectAt(spec, 'names');
  const kind = textAt(names, 'kind') ?? '';
  const filledNames = {
    ...names,
    singular: textAt(names, 'singular') ?? kind.toLowerCase(),
    listKind: textAt(names, 'listKind') ?? `${kind}List`,
  };
  const filled = { ...spec, conversion: spec.conversion ?? { strategy: 'None' }, names: filledNames };
  const status = {
    ...objectAt(old ?? {}, 'status'),
    acceptedNames: filledNames,
    conditions: [
      ...arrayAt(objectAt(old ?? {}, 'status'), 'conditions')
        .filter(isObject)
        .filter(({ type }) => type === 'Terminating'),
      ...ACCEPTED.map(condition => accepted(condition, old, context.now)),
    ],
    storedVersions: storedVersions(spec, old),
  };
  return shareObject(old ?? next, { ...next, spec: filled, status });
}

/** Of a definition whose names nobody else has: here that is each. */
const ACCEPTED = [
  { type: 'NamesAccepted', reason: 'NoConflicts', message: 'no conflicts found' },
  { type: 'Established', reason: 'InitialNamesAccepted', message: 'the initial names have been accepted' },
] as const;

function accepted(
  { type, reason, message }: (typeof ACCEPTED)[number],
  old: JsonObject | undefined,
  now: string,
): JsonObject {
  const conditions = arrayAt(objectAt(old ?? {}, 'status'), 'conditions');
  const present = conditions.filter(isObject).find(condition => condition.type === type);
  return { type, status: 'True', lastTransitionTime: present?.lastTransitionTime ?? now, reason, message };
}

/** Versions in which objects may be stored: never fewer than before. */
function storedVersions(spec: JsonObject, old: JsonObject | undefined): JsonValue[] {
  const before = arrayAt(objectAt(old ?? {}, 'status'), 'storedVersions');
  const now = arrayAt(spec, 'versions')
    .filter(isObject)
    .filter(({ storage }) => storage === true)
    .flatMap(({ name }) => name ?? []);
  return [...new Set([...before, ...now])];
}

function complainAboutDefinition(next: JsonObject, old: JsonObject | undefined): Cause[] {
  const spec = objectAt(next, 'spec');
  const { group, plural, kind, versions, name } = readDefinition(next);
  const causes: Cause[] = [];
  if (group === '') causes.push(required('spec.group'));
  if (plural === '') causes.push(required('spec.names.plural'));
  else causes.push(...invalidValue('spec.names.plural', plural, complainAboutName('label', plural)));
  if (kind === '') causes.push(required('spec.names.kind'));
  if (name !== `${plural}.${group}`) {
    causes.push(...invalidValue('metadata.name', name, [`must be spec.names.plural+"."+spec.group`]));
  }
  if (spec.scope !== 'Namespaced' && spec.scope !== 'Cluster') {
    const message = `Unsupported value: ${JSON.stringify(spec.scope ?? '')}: supported values: "Cluster", "Namespaced"`;
    causes.push({ reason: 'FieldValueNotSupported', field: 'spec.scope', message });
  }
  if (versions.filter(({ storage }) => storage).length !== 1) {
    const message = `Invalid value: ${JSON.stringify(spec.versions ?? null)}: must have exactly one version marked as storage version`;
    causes.push({ reason: 'FieldValueInvalid', field: 'spec.versions', message });
  }
  for (const [index, { schema }] of versions.entries())
    causes.push(...complainAboutSchemaOf(schema, schemaPath(versions, index)));
  return [...causes, ...(old === undefined ? [] : complainAboutChanges(spec, objectAt(old, 'spec')))];
}

/** A schema that all versions share is validated as one for all. */
function schemaPath(versions: readonly { readonly schema: JsonObject }[], index: number): string {
  const [first] = versions;
  const isShared =
    Object.keys(first?.schema ?? {}).length > 0 && versions.every(({ schema }) => equalJson(schema, first?.schema));
  return isShared ? 'spec.validation' : `spec.versions[${index}].schema`;
}

function complainAboutSchemaOf(schema: JsonObject, path: string): Cause[] {
  if (Object.keys(schema).length === 0) return [required(`${path}.openAPIV3Schema`, 'schemas are required')];
  const { type } = compileSchema(schema);
  if (type === 'object') return complainAboutParts(schema, `${path}.openAPIV3Schema`);
  const shown = JSON.stringify(type ?? '');
  return [
    {
      reason: 'FieldValueInvalid',
      field: `${path}.openAPIV3Schema.type`,
      message: `Invalid value: ${shown}: must be object at the root`,
    },
  ];
}

/** Scope, group and names stay what they are once they are established. */
function complainAboutChanges(spec: JsonObject, old: JsonObject): Cause[] {
  const names = objectAt(spec, 'names');
  const oldNames = objectAt(old, 'names');
  return [
    ...immutable('spec.group', spec.group, old.group),
    ...immutable('spec.scope', spec.scope, old.scope),
    ...immutable('spec.names.kind', names.kind, oldNames.kind),
    ...immutable('spec.names.plural', names.plural, oldNames.plural),
  ];
}

function immutable(field: string, value: JsonValue | undefined, old: JsonValue | undefined): Cause[] {
  return value === old ? [] : invalidValue(field, typeof value === 'string' ? value : '', ['field is immutable']);
}
