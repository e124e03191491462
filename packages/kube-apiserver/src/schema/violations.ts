/** Ajv's errors in the words of kube-apiserver. */
import type { ErrorObject } from 'ajv';
import type { JsonValue } from '../json.ts';
import { equalJson, isArray, isObject } from '../json.ts';
import type { Cause } from '../status-errors.ts';

/** Branches of these report on alternatives that need not hold, so only the failure of the whole is told. */
const ALTERNATIVES = /\/(anyOf|oneOf|not)\//;

export interface Validated {
  /** Path of what was validated, such as `spec`; empty for the whole object. */
  readonly root: string;
  /** The same as messages name it: a write of the status subresource is about the status alone. */
  readonly rootInMessages: string;
  /** The old value of what was validated: violations in parts that are unchanged are forgiven. */
  readonly old: JsonValue | undefined;
}

/** One cause per violation. */
export function toCauses(errors: readonly ErrorObject[], { root, rootInMessages, old }: Validated): Cause[] {
  const causes: Cause[] = [];
  const tooLongOrShort = new Set(errors.filter(isLength).map(({ instancePath }) => instancePath));
  for (const error of errors) {
    if (ALTERNATIVES.test(error.schemaPath)) continue;
    // Of a text of the wrong length it does not matter that it also has the wrong form.
    if (error.keyword === 'pattern' && tooLongOrShort.has(error.instancePath)) continue;
    const steps = error.instancePath.split('/').slice(1).map(unescapePointer);
    const value: unknown = error.data;
    if (old !== undefined && equalJson(valueAt(old, steps), value)) continue;
    const shownPath = steps.reduce(joinStep, rootInMessages);
    causes.push(toCause(error, steps.reduce(joinStep, root), shownPath));
    if (isFraction(error) && formatOf(error) === undefined) causes.push(outOfRange('(default format)', shownPath));
  }
  return causes;
}

function isLength({ keyword }: ErrorObject): boolean {
  return keyword === 'maxLength' || keyword === 'minLength';
}

function unescapePointer(step: string): string {
  return step.replaceAll('~1', '/').replaceAll('~0', '~');
}

function joinStep(path: string, step: string): string {
  return /^\d+$/.test(step) ? `${path}[${step}]` : joinField(path, step);
}

function valueAt(value: JsonValue, steps: readonly string[]): JsonValue | undefined {
  let at: JsonValue | undefined = value;
  for (const step of steps) at = isArray(at) ? at[Number(step)] : isObject(at) ? at[step] : undefined;
  return at;
}

/** A fraction where an integer is wanted. */
function isFraction({ keyword, params, data }: ErrorObject): boolean {
  return keyword === 'type' && typeof data === 'number' && typeName(params.type) === 'integer';
}

function formatOf({ parentSchema }: ErrorObject): string | undefined {
  const format: unknown = parentSchema?.format;
  return typeof format === 'string' ? format : undefined;
}

/** Said of a number beside its type, of the object as a whole. */
function outOfRange(format: string, shownPath: string): Cause {
  return invalid('<nil>', '', `Checked value must be of type integer ${format} in ${shownPath}`);
}

function toCause(error: ErrorObject, path: string, shownPath: string): Cause {
  const { keyword, params } = error;
  const value: unknown = error.data;
  const limit = String(params.limit);
  const place = shownPath === '' ? '' : `${shownPath} `;
  const should = (text: string) => invalid(path, value, `${place}in body should ${text}`);
  switch (keyword) {
    case 'required':
      return {
        reason: 'FieldValueRequired',
        field: joinField(path, String(params.missingProperty)),
        message: 'Required value',
      };
    case 'type': {
      const format = formatOf(error);
      const isNamedByFormat = format !== undefined && value !== null && typeof value !== 'string' && !isArray(value);
      const expected = isNamedByFormat ? format : typeName(params.type);
      const actual = isNamedByFormat ? formatOfNumber(value) : jsonTypeOf(value);
      const message = `Invalid value: "${actual}": ${place}in body must be of type ${expected}: "${actual}"`;
      return { reason: 'FieldValueTypeInvalid', field: path, message };
    }
    case 'enum': {
      const supported = allowedValues(params.allowedValues)
        .map(each => JSON.stringify(textOf(each)))
        .join(', ');
      return {
        reason: 'FieldValueNotSupported',
        field: path,
        message: `Unsupported value: ${render(value)}: supported values: ${supported}`,
      };
    }
    case 'format':
      if (typeof value === 'number') return outOfRange(`with format ${String(params.format)}`, shownPath);
      return {
        reason: 'FieldValueTypeInvalid',
        field: path,
        message: `Invalid value: ${render(value)}: ${place}in body must be of type ${String(params.format)}: ${render(value)}`,
      };
    case 'maxLength':
      return { reason: 'FieldValueTooLong', field: path, message: `Too long: may not be more than ${limit} bytes` };
    case 'minLength':
      return should(`be at least ${limit} chars long`);
    case 'pattern':
      return should(`match '${String(params.pattern)}'`);
    case 'maximum':
      return should(`be less than or equal to ${limit}`);
    case 'exclusiveMaximum':
      return should(`be less than ${limit}`);
    case 'minimum':
      return should(`be greater than or equal to ${limit}`);
    case 'exclusiveMinimum':
      return should(`be greater than ${limit}`);
    case 'multipleOf':
      return should(`be a multiple of ${String(params.multipleOf)}`);
    case 'maxItems':
      return tooMany(path, isArray(value) ? value.length : 0, limit);
    case 'maxProperties':
      return tooMany(path, isObject(value) ? Object.keys(value).length : 0, limit);
    case 'minItems':
      return invalid(path, isArray(value) ? value.length : 0, `${place}in body should have at least ${limit} items`);
    case 'minProperties':
      return invalid(
        path,
        isObject(value) ? Object.keys(value).length : 0,
        `${place}in body should have at least ${limit} properties`,
      );
    case 'uniqueItems':
      return invalid(path, value, `${place}in body shouldn't contain duplicates`);
    case 'anyOf':
      return invalid('<nil>', '', `"${shownPath}" must validate at least one schema (anyOf)`);
    case 'oneOf':
      return invalid('<nil>', '', `"${shownPath}" must validate one and only one schema (oneOf). Found none valid`);
    case 'not':
      return invalid('<nil>', '', `"${shownPath}" must not validate the schema (not)`);
    default:
      return invalid(path, value, `${place}in body violates ${keyword}`);
  }
}

function invalid(field: string, value: unknown, why: string): Cause {
  return { reason: 'FieldValueInvalid', field, message: `Invalid value: ${render(value)}: ${why}` };
}

function tooMany(field: string, actual: number, limit: string): Cause {
  const items = limit === '1' ? 'item' : 'items';
  return { reason: 'FieldValueTooMany', field, message: `Too many: ${actual}: must have at most ${limit} ${items}` };
}

/** A value as refusals quote it: texts in quotes, the rest as JSON. */
export function render(value: unknown): string {
  return JSON.stringify(value) ?? 'null';
}

function joinField(path: string, field: string): string {
  return path === '' ? field : `${path}.${field}`;
}

function allowedValues(values: unknown): readonly unknown[] {
  return Array.isArray(values) ? values : [];
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : render(value);
}

/** The type that the schema wants: of several (`nullable`, int-or-string) the first that is not null. */
function typeName(types: unknown): string {
  const names = Array.isArray(types) ? types.filter(type => type !== 'null') : [types];
  return names.map(String).join(',');
}

/** The format that Go has for a value; only numbers have one. */
function formatOfNumber(value: unknown): string {
  if (typeof value !== 'number') return '';
  return Number.isInteger(value) ? 'int64' : 'float64';
}

function jsonTypeOf(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  if (typeof value === 'number') return Number.isInteger(value) ? 'integer' : 'number';
  return typeof value;
}
