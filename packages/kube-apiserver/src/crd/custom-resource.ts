/** The resources that a CustomResourceDefinition serves: one per version, with the rules of its schema. */
import type { JsonObject } from '../json.ts';
import { EMPTY_OBJECT, show } from '../json.ts';
import { STANDARD_FINALIZERS } from '../names.ts';
import { metadataOf } from '../objects.ts';
import { textFields } from '../resources/selectable-fields.ts';
import type { ResourceRules, ServedResource, Transition } from '../resources/resource-rules.ts';
import { VERBS } from '../resources/verbs.ts';
import { defaultObject } from '../schema/default.ts';
import { complainAboutLists } from '../schema/list-types.ts';
import { mergeSchemaOf } from '../schema/merge-schema.ts';
import type { Pruned } from '../schema/prune.ts';
import { pruneObject } from '../schema/prune.ts';
import type { RuleRun } from '../schema/rules.ts';
import { complainAboutRules, complainAboutTransitions } from '../schema/rules.ts';
import type { Structural } from '../schema/structural.ts';
import { compileSchema } from '../schema/structural.ts';
import { complainAboutSchema } from '../schema/validate.ts';
import type { Cause } from '../status-errors.ts';
import type { ResourceStorage } from '../store/object-store.ts';
import type { ResourceInfo, WriteOptions } from '../types.ts';
import { reportUnknownFields } from '../write/field-validation.ts';
import type { DefinedVersion, Definition } from './definition.ts';
import { byPreference } from './definition.ts';

/** The served versions, the preferred one first, over one storage. */
export function customResources(
  definition: Definition,
  storage: ResourceStorage,
  skipped: (warning: string) => void,
): ServedResource[] {
  return definition.versions
    .filter(({ served }) => served)
    .toSorted(byPreference)
    .map(version => ({
      info: infoOf(definition, version),
      apiVersion: `${definition.group}/${version.version}`,
      rules: rulesOf(definition, version, skipped),
      storage,
    }));
}

function infoOf(definition: Definition, version: DefinedVersion): ResourceInfo {
  const { group, kind, listKind, plural, singular, shortNames, categories, namespaced } = definition;
  const { hasStatus, printerColumns, schema } = version;
  return {
    group,
    version: version.version,
    resource: plural,
    kind,
    listKind,
    singular,
    shortNames,
    categories,
    namespaced,
    hasStatus,
    verbs: VERBS,
    subresources: hasStatus ? ['status'] : [],
    schema,
    ...(printerColumns === undefined ? {} : { printerColumns }),
  };
}

function rulesOf(definition: Definition, version: DefinedVersion, skipped: (warning: string) => void): ResourceRules {
  const { kind, name, terminating, namespaced } = definition;
  const schema = compileSchema(version.schema);
  // Objects are kept in the storage version, so nothing outlives a write that this one does not know.
  const stored = compileSchema(definition.versions.find(({ storage }) => storage)?.schema ?? version.schema);
  const run: RuleRun = { skipped: warning => skipped(`${name}: ${warning}`) };
  return {
    nameRule: 'subdomain',
    counted: true,
    createOnUpdate: false,
    unconditionalUpdate: false,
    keepsStatusOnCreate: false,
    qualifiedFinalizers: false,
    statusWriteKeeps: 'all',
    returnsDeleted: false,
    blank: EMPTY_OBJECT,
    graceful: false,
    strategicMerge: false,
    mergeSchema: mergeSchemaOf(schema),
    fields: textFields(namespaced, version.selectableFields),
    clean: (body, options, old) => {
      const cleaned = clean({ body, old, kind, version: version.version }, schema, options);
      return stored === schema ? cleaned : pruneObject(cleaned, stored, old, []);
    },
    prepare: ({ next, old, context }) => {
      warnAboutFinalizers(next, old, context.options);
      return next;
    },
    validate: transition => complain(transition, schema, run),
    ...(schema.within.transitions && {
      transitions: (next, old) => complainAboutTransitions(next, old, schema, run),
    }),
    ...(terminating ? { refusesCreate: 'create not allowed while custom resource definition is terminating' } : {}),
  };
}

interface Body {
  readonly body: JsonObject;
  readonly old: JsonObject | undefined;
  readonly kind: string;
  readonly version: string;
}

/** @throws ApiStatusError 400 for unknown fields under strict field validation */
function clean({ body, old, kind, version }: Body, schema: Structural, options: WriteOptions): JsonObject {
  const unknown: Pruned = [];
  const pruned = pruneObject(body, schema, old, unknown);
  reportUnknownFields(unknown, { kind, version, options });
  return defaultObject(pruned, schema, old);
}

/** Refusals after which rules are not looked at: the object has not even the right shape. */
const BLOCKING = new Set([
  'FieldValueRequired',
  'FieldValueTypeInvalid',
  'FieldValueNotSupported',
  'FieldValueTooLong',
  'FieldValueTooMany',
]);
const RULES_NOT_CHECKED: Cause = {
  reason: 'FieldValueInvalid',
  field: '<nil>',
  message:
    'Invalid value: null: some validation rules were not checked because the object was invalid; correct the existing errors to complete validation',
};

function complain(transition: Transition, schema: Structural, run: RuleRun): Cause[] {
  const { next, old } = transition;
  const causes = [...complainAboutSchema(transition, schema), ...complainAboutLists(next, old, schema)];
  if (!schema.within.rules) return causes;
  if (causes.some(({ reason }) => BLOCKING.has(reason))) return [...causes, RULES_NOT_CHECKED];
  return [...causes, ...complainAboutRules(next, old, schema, run)];
}

/** Finalizers of custom resources may lack a prefix, but should not. */
function warnAboutFinalizers(next: JsonObject, old: JsonObject | undefined, { onWarning }: WriteOptions): void {
  const { finalizers } = metadataOf(next);
  if (onWarning === undefined || !Array.isArray(finalizers) || finalizers === (old && metadataOf(old).finalizers))
    return;
  for (const finalizer of finalizers) {
    const name = show(finalizer);
    if (name.includes('/') || STANDARD_FINALIZERS.has(name)) continue;
    const path = name.includes('.') ? ' including a path (/)' : '';
    onWarning(
      `metadata.finalizers: "${name}": prefer a domain-qualified finalizer name${path} to avoid accidental conflicts with other finalizer writers`,
    );
  }
}
