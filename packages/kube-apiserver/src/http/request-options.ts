/** Query parameters and bodies, read into the options of the core's verbs. Throws 400 or 422 for what is not valid. */
import type { JsonObject } from '../json.ts';
import type { DeleteOptions, ListOptions, WriteOptions } from '../types.ts';
import { deleteOptionsOfBody, dryRunOf, propagationOf } from './delete-options.ts';
import { objectAt } from './json-fields.ts';
import { notANumber, tooLongOption, unsupportedOption, type OptionsKind } from './option-errors.ts';

/** A boolean as the API server reads it from a query: `1`, `true` and the bare name are true. */
export function flag(query: URLSearchParams, name: string): boolean {
  const text = query.get(name);
  return text !== null && text !== 'false' && text !== '0';
}

/** A whole number, or undefined when the parameter is absent or empty. */
export function wholeNumber(query: URLSearchParams, name: string): number | undefined {
  const text = query.get(name);
  if (text === null || text === '') return undefined;
  if (!/^-?\d{1,15}$/.test(text)) throw notANumber(text);
  return Number(text);
}

function fieldValidationOf(kind: OptionsKind, query: URLSearchParams): 'Ignore' | 'Warn' | 'Strict' {
  const text = query.get('fieldValidation') ?? '';
  if (text === '') return 'Warn';
  if (text === 'Ignore' || text === 'Warn' || text === 'Strict') return text;
  throw unsupportedOption(kind, 'fieldValidation', JSON.stringify(text), ['', 'Ignore', 'Strict', 'Warn']);
}

const MAX_FIELD_MANAGER_BYTES = 128;

/** Options of creates, updates and patches. Without `fieldManager` the program in the User-Agent is the manager. */
export function writeOptions(
  kind: OptionsKind,
  query: URLSearchParams,
  user: string,
  program: string | undefined,
): WriteOptions {
  const asked = query.get('fieldManager') ?? '';
  if (Buffer.byteLength(asked) > MAX_FIELD_MANAGER_BYTES)
    throw tooLongOption(kind, 'fieldManager', MAX_FIELD_MANAGER_BYTES);
  const fieldManager = asked || program;
  return {
    user,
    ...(fieldManager === undefined ? {} : { fieldManager }),
    ...(dryRunOf(kind, query.getAll('dryRun')) ? { dryRun: true } : {}),
    fieldValidation: fieldValidationOf(kind, query),
  };
}

/** Selectors and paging of lists, watches and collection deletes. */
export function listOptions(query: URLSearchParams, namespace: string | undefined): ListOptions {
  const limit = wholeNumber(query, 'limit');
  const labelSelector = query.get('labelSelector');
  const fieldSelector = query.get('fieldSelector');
  const token = query.get('continue');
  return {
    ...(namespace === undefined ? {} : { namespace }),
    ...(labelSelector ? { labelSelector } : {}),
    ...(fieldSelector ? { fieldSelector } : {}),
    ...(limit === undefined || limit <= 0 ? {} : { limit }),
    ...(token ? { continue: token } : {}),
  };
}

/** Options of a delete: its body when it has one, else the query. */
export function deleteOptions(query: URLSearchParams, body: JsonObject | undefined, user: string): DeleteOptions {
  const options = body === undefined ? {} : deleteOptionsOfBody(body, user);
  if (body !== undefined && Object.keys(body).some(key => key !== 'kind' && key !== 'apiVersion')) return options;
  const gracePeriodSeconds = wholeNumber(query, 'gracePeriodSeconds');
  const propagation = query.get('propagationPolicy');
  return {
    user,
    ...(dryRunOf('DeleteOptions', query.getAll('dryRun')) ? { dryRun: true } : {}),
    ...(gracePeriodSeconds === undefined ? {} : { gracePeriodSeconds }),
    ...(propagation ? { propagationPolicy: propagationOf(propagation) } : {}),
  };
}

/** The `deleteOptions` of an Eviction, and the dry run of its query. */
export function evictionOptions(query: URLSearchParams, eviction: JsonObject, user: string): DeleteOptions {
  const options = deleteOptionsOfBody(objectAt(eviction, 'deleteOptions'), user);
  return dryRunOf('CreateOptions', query.getAll('dryRun')) ? { ...options, dryRun: true } : options;
}
