/** Refusals of request options: 422 with one cause, naming the kind of the options as kube-apiserver does. */
import { badRequest, invalid } from '../status-errors.ts';
import type { ApiStatusError } from '../types.ts';

export type OptionsKind = 'CreateOptions' | 'UpdateOptions' | 'PatchOptions' | 'DeleteOptions' | 'ListOptions';

function refuse(kind: OptionsKind, reason: string, field: string, message: string): ApiStatusError {
  return invalid({ group: 'meta.k8s.io', name: kind }, '', [{ reason, field, message }]);
}

/** `value` is JSON text as it appears in the message. */
export function unsupportedOption(
  kind: OptionsKind,
  field: string,
  value: string,
  supported: readonly string[],
): ApiStatusError {
  const list = supported.map(each => JSON.stringify(each)).join(', ');
  return refuse(kind, 'FieldValueNotSupported', field, `Unsupported value: ${value}: supported values: ${list}`);
}

/** `value` is JSON text as it appears in the message. */
export function invalidOption(kind: OptionsKind, field: string, value: string, why: string): ApiStatusError {
  return refuse(kind, 'FieldValueInvalid', field, `Invalid value: ${value}: ${why}`);
}

export function forbiddenOption(kind: OptionsKind, field: string, why: string): ApiStatusError {
  return refuse(kind, 'FieldValueForbidden', field, `Forbidden: ${why}`);
}

export function requiredOption(kind: OptionsKind, field: string, why: string): ApiStatusError {
  return refuse(kind, 'FieldValueRequired', field, `Required value: ${why}`);
}

export function tooLongOption(kind: OptionsKind, field: string, maxBytes: number): ApiStatusError {
  return refuse(kind, 'FieldValueTooLong', field, `Too long: may not be more than ${maxBytes} bytes`);
}

/** A parameter that should be a number and is not: 400. */
export function notANumber(text: string): ApiStatusError {
  return badRequest(`strconv.ParseInt: parsing ${JSON.stringify(text)}: invalid syntax`);
}
