/**
 * The rules of a custom resource (`x-kubernetes-validations`).
 *
 * A rule is checked where its part of the object changed (as ratcheting has it); a transition rule wherever there is an old
 * value to compare with. A rule that cannot be evaluated here is skipped, and the server keeps a warning of it: an object must
 * not be refused for what this implementation of CEL lacks.
 */
import { Optional } from '@marcbachmann/cel-js';
import type { JsonObject, JsonValue } from '../json.ts';
import { equalJson, isArray, isObject } from '../json.ts';
import type { Cause } from '../status-errors.ts';
import { compileExpression } from './cel-environment.ts';
import { toCelValue } from './cel-values.ts';
import type { RuleText, Structural } from './structural.ts';
import { memberSchema, usesOldSelf } from './structural.ts';
import { render } from './violations.ts';

export interface RuleRun {
  /** Receives a text for every rule that was skipped. */
  readonly skipped: (warning: string) => void;
  /** Which rules are checked; default: all. */
  readonly selects?: (rule: RuleText) => boolean;
}

/** One cause for each rule that does not hold. */
export function complainAboutRules(
  object: JsonObject,
  old: JsonObject | undefined,
  schema: Structural,
  run: RuleRun,
): Cause[] {
  const causes: Cause[] = [];
  walk({ value: object, old, path: '' }, schema, run, causes);
  return causes;
}

/**
 * The same for the transition rules alone, and for nothing that a schema says. An object that breaks them without a change, because it
 * has not the right shape, may be changed at will.
 */
export function complainAboutTransitions(
  object: JsonObject,
  old: JsonObject,
  schema: Structural,
  { skipped }: RuleRun,
): Cause[] {
  if (!schema.within.transitions) return [];
  const run = { skipped, selects: usesOldSelf };
  const isUsable = complainAboutRules(old, old, schema, run).length === 0;
  return isUsable ? complainAboutRules(object, old, schema, run) : [];
}

/** A part of the object and the part of the stored object that it takes the place of, if that can be told. */
interface Place {
  readonly value: JsonValue;
  readonly old: JsonValue | undefined;
  readonly path: string;
}

function walk(place: Place, schema: Structural, run: RuleRun, causes: Cause[]): void {
  const { value, old, path } = place;
  if (value === null || !schema.within.rules) return;
  if (value === old && !schema.within.transitions) return;
  for (const rule of schema.rules) {
    if (run.selects?.(rule) === false) continue;
    const cause = check(place, schema, rule, run);
    if (cause !== undefined) causes.push(cause);
  }
  if (isObject(value)) {
    for (const [key, field] of Object.entries(value)) {
      const member = memberSchema(schema, key);
      if (field === undefined || member === undefined || member === 'any') continue;
      const fieldPath = schema.properties.has(key) ? joinField(path, key) : `${path}[${key}]`;
      walk({ value: field, old: isObject(old) ? old[key] : undefined, path: fieldPath }, member, run, causes);
    }
    return;
  }
  const { items } = schema;
  if (!isArray(value) || items === undefined) return;
  for (const [index, item] of value.entries()) {
    walk({ value: item, old: oldItem(item, old, schema), path: `${path}[${index}]` }, items, run, causes);
  }
}

/** Items of a map list have an identity across versions; of other lists they have none. */
function oldItem(item: JsonValue, old: JsonValue | undefined, { list, keys }: Structural): JsonValue | undefined {
  if (list !== 'map' || !isArray(old) || !isObject(item)) return undefined;
  return old.find(other => isObject(other) && keys.every(key => equalJson(other[key], item[key])));
}

const UNCHANGED_RULE = 'self == oldSelf';

function check({ value, old, path }: Place, schema: Structural, rule: RuleText, run: RuleRun): Cause | undefined {
  const isTransition = usesOldSelf(rule);
  if (isTransition && old === undefined && !rule.optionalOldSelf) return undefined;
  if (!isTransition && old !== undefined && equalJson(value, old)) return undefined;
  // The most common transition rule, on whole specs, needs no CEL.
  if (rule.rule === UNCHANGED_RULE && !rule.optionalOldSelf) {
    return equalJson(value, old) ? undefined : violation({ value, path }, schema, rule, undefined);
  }
  const variables = { self: toCelValue(value, schema), ...oldSelf(old, schema, rule) };
  const result = compileExpression(rule.rule)(variables);
  switch (result.kind) {
    case 'unsupported':
      run.skipped(
        `skipped a rule that is not supported here, at ${path || 'the object'}: ${rule.rule}: ${result.message}`,
      );
      return undefined;
    case 'error':
      return {
        reason: 'FieldValueInvalid',
        field: path,
        message: `Invalid value: ${render(schema.type ?? '')}: ${result.message} evaluating rule: ${rule.message ?? rule.rule}`,
      };
    case 'value':
      return result.value === true ? undefined : violation({ value, path }, schema, rule, messageOf(rule, variables));
  }
}

function oldSelf(old: JsonValue | undefined, schema: Structural, rule: RuleText): Record<string, unknown> {
  if (rule.optionalOldSelf)
    return { oldSelf: old === undefined ? Optional.none() : Optional.of(toCelValue(old, schema)) };
  return old === undefined ? {} : { oldSelf: toCelValue(old, schema) };
}

function messageOf({ messageExpression }: RuleText, variables: Record<string, unknown>): string | undefined {
  if (messageExpression === undefined) return undefined;
  const result = compileExpression(messageExpression)(variables);
  return result.kind === 'value' && typeof result.value === 'string' ? result.value : undefined;
}

function violation(
  { value, path }: Pick<Place, 'value' | 'path'>,
  schema: Structural,
  rule: RuleText,
  expressed: string | undefined,
): Cause {
  const detail = expressed ?? rule.message ?? `failed rule: ${rule.rule}`;
  const field = rule.fieldPath === undefined ? path : joinPath(path, rule.fieldPath);
  const shown = schema.type === 'object' || schema.type === 'array' ? '' : `: ${render(value)}`;
  switch (rule.reason) {
    case 'FieldValueForbidden':
      return { reason: rule.reason, field, message: `Forbidden: ${detail}` };
    case 'FieldValueRequired':
      return { reason: rule.reason, field, message: `Required value: ${detail}` };
    case 'FieldValueDuplicate':
      return { reason: rule.reason, field, message: `Duplicate value${shown}` };
    case undefined:
    default:
      return { reason: 'FieldValueInvalid', field, message: `Invalid value${shown}: ${detail}` };
  }
}

function joinField(path: string, field: string): string {
  return path === '' ? field : `${path}.${field}`;
}

/** A rule's `fieldPath` is relative and starts with a dot or a bracket. */
function joinPath(path: string, fieldPath: string): string {
  return path === '' ? fieldPath.replace(/^\./, '') : `${path}${fieldPath}`;
}
