/** The refusals of the API server, each as the `Status` that kube-apiserver answers (codes, reasons, texts and details are API). */
import type { JsonObject } from './json.ts';
import { ApiStatusError } from './types.ts';
import type { Status } from './types.ts';

/** What `details` and messages name: a resource (`nodes`) or, for validation, a kind (`Node`). */
export interface Qualified {
  readonly group: string;
  readonly name: string;
}

/** One reason of a refusal that has several. `reason` is the cause type, `field` a path such as `metadata.name`. */
export interface Cause {
  readonly reason: string;
  readonly message: string;
  readonly field?: string;
}

interface Refusal {
  readonly code: number;
  readonly reason: string;
  readonly message: string;
  readonly details?: JsonObject;
}

function refuse(refusal: Refusal): ApiStatusError {
  const { code, reason, message, details } = refusal;
  return new ApiStatusError({
    kind: 'Status',
    apiVersion: 'v1',
    metadata: {},
    status: 'Failure',
    message,
    reason,
    ...(details === undefined ? {} : { details }),
    code,
  });
}

function qualifiedName(of: Qualified): string {
  return of.group === '' ? of.name : `${of.name}.${of.group}`;
}

function detailsOf(of: Qualified, name: string): JsonObject {
  return {
    ...(name === '' ? {} : { name }),
    ...(of.group === '' ? {} : { group: of.group }),
    ...(of.name === '' ? {} : { kind: of.name }),
  };
}

function causesJson(causes: readonly Cause[]): JsonObject[] {
  return causes.map(({ reason, message, field }) => ({
    ...(reason === '' ? {} : { reason }),
    message,
    ...(field === undefined ? {} : { field }),
  }));
}

/** 404 for an object. */
export function notFound(of: Qualified, name: string): ApiStatusError {
  return refuse({
    code: 404,
    reason: 'NotFound',
    message: `${qualifiedName(of)} "${name}" not found`,
    details: detailsOf(of, name),
  });
}

/** 404 for a resource that is not served. */
export function notServed(): ApiStatusError {
  return refuse({
    code: 404,
    reason: 'NotFound',
    message: 'the server could not find the requested resource',
    details: {},
  });
}

/** 409 for a create of a name that is taken. */
export function alreadyExists(of: Qualified, name: string, preface = ''): ApiStatusError {
  return refuse({
    code: 409,
    reason: 'AlreadyExists',
    message: `${preface}${qualifiedName(of)} "${name}" already exists`,
    details: detailsOf(of, name),
  });
}

/** 409 for a write that is not based on the stored object. */
export function conflict(of: Qualified, name: string, why: string): ApiStatusError {
  return refuse({
    code: 409,
    reason: 'Conflict',
    message: `Operation cannot be fulfilled on ${qualifiedName(of)} "${name}": ${why}`,
    details: detailsOf(of, name),
  });
}

/** The `why` of the optimistic lock. */
export const MODIFIED = 'the object has been modified; please apply your changes to the latest version and try again';

/** 409 for a server-side apply of fields that others own. */
export function applyConflict(causes: readonly Cause[], message: string): ApiStatusError {
  return refuse({ code: 409, reason: 'Conflict', message, details: { causes: causesJson(causes) } });
}

/** 403. */
export function forbidden(of: Qualified, name: string, why: string, causes: readonly Cause[] = []): ApiStatusError {
  return refuse({
    code: 403,
    reason: 'Forbidden',
    message: `${qualifiedName(of)} "${name}" is forbidden: ${why}`,
    details: { ...detailsOf(of, name), ...(causes.length === 0 ? {} : { causes: causesJson(causes) }) },
  });
}

const POLICY_CODES: Readonly<Record<string, number>> = {
  Unauthorized: 401,
  Forbidden: 403,
  RequestEntityTooLarge: 413,
  Invalid: 422,
};

/** What a ValidatingAdmissionPolicy denies: a refusal in the words of 403 with the reason that the validation gives. */
export function refusedByPolicy(of: Qualified, name: string, reason: string, why: string): ApiStatusError {
  return refuse({
    code: POLICY_CODES[reason] ?? 422,
    reason,
    message: `${qualifiedName(of)} "${name}" is forbidden: ${why}`,
    details: { ...detailsOf(of, name), causes: [{ message: why }] },
  });
}

/** What a MutatingAdmissionPolicy that cannot be evaluated refuses. */
export function notMutated(of: Qualified, name: string, why: string): ApiStatusError {
  return refuse({
    code: 403,
    reason: 'Invalid',
    message: why,
    details: { ...detailsOf(of, name), causes: [{ message: why }] },
  });
}

/** 403 of the authorizer. `of.name` is empty for a request that is about a path. */
export function notAuthorized(of: Qualified, name: string, why: string): ApiStatusError {
  const subject = of.name === '' ? 'forbidden' : `${qualifiedName(of)}${name === '' ? '' : ` "${name}"`} is forbidden`;
  return refuse({ code: 403, reason: 'Forbidden', message: `${subject}: ${why}`, details: detailsOf(of, name) });
}

/** 422: the object breaks rules of its kind, one cause for each. */
export function invalid(kind: Qualified, name: string, causes: readonly Cause[]): ApiStatusError {
  const lines = [...new Set(causes.map(cause => `${cause.field ?? ''}: ${cause.message}`))];
  const list = lines.length === 1 ? lines[0] : `[${lines.join(', ')}]`;
  return refuse({
    code: 422,
    reason: 'Invalid',
    message: `${qualifiedName(kind)} "${name}" is invalid${lines.length === 0 ? '' : `: ${list}`}`,
    details: { ...detailsOf(kind, name), ...(causes.length === 0 ? {} : { causes: causesJson(causes) }) },
  });
}

/** 422 for a body that parses but cannot be processed, with no object to name. */
export function unprocessable(message: string): ApiStatusError {
  return refuse({ code: 422, reason: 'Invalid', message, details: {} });
}

/** 400. */
export function badRequest(message: string): ApiStatusError {
  return refuse({ code: 400, reason: 'BadRequest', message });
}

/** 405: not now, or not at all, on this resource. */
export function methodNotAllowed(of: Qualified, message: string): ApiStatusError {
  return refuse({ code: 405, reason: 'MethodNotAllowed', message, details: detailsOf(of, '') });
}

/** 415: the patch type is not supported for this resource. */
export function unsupportedMediaType(message: string): ApiStatusError {
  return refuse({ code: 415, reason: 'UnsupportedMediaType', message, details: {} });
}

/** 410: the version or continue token asked for is no longer kept. */
export function expired(message: string): ApiStatusError {
  return refuse({ code: 410, reason: 'Expired', message });
}

/** 429 with the seconds after which a retry makes sense and, when known, what stands against the request. */
export function tooManyRequests(
  message: string,
  retryAfterSeconds: number,
  causes: readonly Cause[] = [],
): ApiStatusError {
  return refuse({
    code: 429,
    reason: 'TooManyRequests',
    message,
    details: {
      ...(causes.length === 0 ? {} : { causes: causesJson(causes) }),
      ...(retryAfterSeconds === 0 ? {} : { retryAfterSeconds }),
    },
  });
}

/** 500 for a request that kube-apiserver refuses without a reason: an error of its own that it did not expect. */
export function serverRefused(message: string): ApiStatusError {
  return new ApiStatusError({ kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Failure', message, code: 500 });
}

/** 500. */
export function internalError(message: string): ApiStatusError {
  return refuse({
    code: 500,
    reason: 'InternalError',
    message: `Internal error occurred: ${message}`,
    details: { causes: [{ message }] },
  });
}

/** The answer to a delete that removed the object. */
export function deleted(of: Qualified, name: string, uid: string | undefined): Status {
  return {
    kind: 'Status',
    apiVersion: 'v1',
    metadata: {},
    status: 'Success',
    details: { ...detailsOf(of, name), ...(uid === undefined ? {} : { uid }) },
    code: 200,
  };
}

/** One cause for each complaint about a value. */
export function invalidValue(field: string, value: string, complaints: readonly string[]): Cause[] {
  return complaints.map(text => ({
    reason: 'FieldValueInvalid',
    field,
    message: `Invalid value: ${JSON.stringify(value)}: ${text}`,
  }));
}

/** The cause for a value that must be there. */
export function required(field: string, why = ''): Cause {
  return { reason: 'FieldValueRequired', field, message: why === '' ? 'Required value' : `Required value: ${why}` };
}
