/** `DeleteOptions`, decoded as Go decodes them: an option of the wrong type is refused, for a deletion that ignores it may hit the wrong object. */
import { isObject } from '../json.ts';
import type { JsonObject, JsonValue } from '../json.ts';
import { badRequest } from '../status-errors.ts';
import type { DeleteOptions, Preconditions } from '../types.ts';
import { invalidOption, unsupportedOption } from './option-errors.ts';

const KIND = 'DeleteOptions';

/** The Go type of each option. */
const TYPES: Readonly<Record<string, string>> = {
  gracePeriodSeconds: 'int64',
  preconditions: 'v1.Preconditions',
  orphanDependents: 'bool',
  propagationPolicy: 'v1.DeletionPropagation',
  dryRun: '[]string',
};
const PRECONDITION_TYPES: Readonly<Record<string, string>> = { uid: 'types.UID', resourceVersion: 'string' };

/**
 * Options out of a `DeleteOptions` body: a delete's own, or those inside an Eviction.
 * @throws ApiStatusError 400 for what does not decode, 422 for what contradicts itself
 */
export function deleteOptionsOfBody(body: JsonObject, user: string): DeleteOptions {
  const kind = body.kind ?? KIND;
  if (kind !== KIND) throw badRequest(`no kind ${JSON.stringify(kind)} is registered for version "meta.k8s.io/v1"`);
  checkTypes(body, TYPES, 'DeleteOptions.');
  const { gracePeriodSeconds, propagationPolicy, orphanDependents, dryRun } = body;
  const preconditions = preconditionsOf(body.preconditions);
  if (typeof orphanDependents === 'boolean' && typeof propagationPolicy === 'string') {
    const why = 'orphanDependents and deletionPropagation cannot be both set';
    throw invalidOption(KIND, 'propagationPolicy', JSON.stringify(propagationPolicy), why);
  }
  const directives = Array.isArray(dryRun) ? dryRun.map(String) : [];
  return {
    user,
    ...(dryRunOf(KIND, directives) ? { dryRun: true } : {}),
    ...(typeof gracePeriodSeconds === 'number' ? { gracePeriodSeconds } : {}),
    ...(typeof propagationPolicy === 'string' ? { propagationPolicy: propagationOf(propagationPolicy) } : {}),
    ...(typeof orphanDependents === 'boolean' ? { propagationPolicy: orphanDependents ? 'Orphan' : 'Background' } : {}),
    ...(preconditions === undefined ? {} : { preconditions }),
  };
}

function preconditionsOf(value: JsonValue | undefined): Preconditions | undefined {
  if (!isObject(value)) return undefined;
  checkTypes(value, PRECONDITION_TYPES, 'Preconditions.preconditions.');
  const { uid, resourceVersion } = value;
  return {
    ...(typeof uid === 'string' ? { uid } : {}),
    ...(typeof resourceVersion === 'string' ? { resourceVersion } : {}),
  };
}

function checkTypes(options: JsonObject, types: Readonly<Record<string, string>>, path: string): void {
  for (const [name, type] of Object.entries(types)) {
    const value = options[name];
    // A null is the same as an absent option.
    if (value === undefined || value === null || fits(value, type)) continue;
    throw badRequest(`json: cannot unmarshal ${described(value)} into Go struct field ${path}${name} of type ${type}`);
  }
}

function fits(value: JsonValue, type: string): boolean {
  switch (type) {
    case 'int64':
      return Number.isInteger(value);
    case 'bool':
      return typeof value === 'boolean';
    case 'v1.Preconditions':
      return isObject(value);
    case '[]string':
      return Array.isArray(value) && value.every(each => typeof each === 'string');
    default:
      return typeof value === 'string';
  }
}

function described(value: JsonValue): string {
  if (Array.isArray(value)) return 'array';
  if (typeof value === 'number') return Number.isInteger(value) ? 'number' : `number ${value}`;
  return typeof value === 'boolean' ? 'bool' : typeof value;
}

/** @throws ApiStatusError 422 for a policy that there is not */
export function propagationOf(text: string): 'Orphan' | 'Background' | 'Foreground' {
  if (text === 'Orphan' || text === 'Background' || text === 'Foreground') return text;
  const supported = ['Foreground', 'Background', 'Orphan', 'nil'];
  throw unsupportedOption(KIND, 'propagationPolicy', JSON.stringify(text), supported);
}

/** Whether to go without effect. @throws ApiStatusError 422 for any directive but `All` */
export function dryRunOf(kind: Parameters<typeof unsupportedOption>[0], directives: readonly string[]): boolean {
  if (directives.some(directive => directive !== 'All')) {
    throw unsupportedOption(kind, 'dryRun', JSON.stringify(directives), ['All']);
  }
  return directives.length > 0;
}
