/**
 * A refusal of the API server as data, whether it came over HTTP or from an API server in the same process. Its texts are cut here, where
 * they come in: a webhook or an admission policy may say megabytes.
 */
import { cutText } from '../../domain/cut-text.ts';
import { isJsonObject, listIn, objectIn, readJson, textOrEmpty } from '../../domain/json.ts';

export interface FailureCause {
  /** `DisruptionBudget`, `NamespaceTerminating`, `FieldValueInvalid`, … */
  readonly reason: string;
  readonly message: string;
  readonly field: string;
}

export interface ApiFailure {
  /** HTTP status code. */
  readonly status: number;
  /** `reason` of the Status body: `NotFound`, `Conflict`, `AlreadyExists`, …; empty when the body is not a Status. */
  readonly reason: string;
  readonly message: string;
  /** `details.kind`, `details.group` and `details.name`: what the refusal is about, not always what was asked for. */
  readonly about: { readonly group: string; readonly kind: string; readonly name: string };
  readonly causes: readonly FailureCause[];
  readonly retryAfterMs?: number;
}

/** Longest part of a body that is not a Status to be quoted in a message. */
const MAX_QUOTED_CHARS = 200;

/** Reads a `Status` object (or whatever a proxy sent in its place). `retryAfter` is the header of that name, in seconds. */
export function toApiFailure(status: number, body: unknown, retryAfter?: string): ApiFailure {
  const isStatus = isJsonObject(body) && body['kind'] === 'Status';
  const details = isStatus ? objectIn(body, 'details') : {};
  const seconds = Number(retryAfter ?? details['retryAfterSeconds'] ?? Number.NaN);
  return {
    status,
    reason: isStatus ? textOrEmpty(body['reason']) : '',
    message: isStatus ? cutText(textOrEmpty(body['message'])) : textOrEmpty(body).trim().slice(0, MAX_QUOTED_CHARS),
    about: {
      group: textOrEmpty(details['group']),
      kind: textOrEmpty(details['kind']),
      name: textOrEmpty(details['name']),
    },
    causes: listIn(details, 'causes')
      .filter(isJsonObject)
      .map(cause => ({
        reason: textOrEmpty(cause['reason']),
        message: cutText(textOrEmpty(cause['message'])),
        field: textOrEmpty(cause['field']),
      })),
    ...(Number.isFinite(seconds) && seconds >= 0 ? { retryAfterMs: seconds * 1000 } : {}),
  };
}

/** Reads a failure from the text of an HTTP body. */
export function parseApiFailure(status: number, body: string, retryAfter?: string): ApiFailure {
  const parsed = readJson(body);
  // Not a Status: e.g. `404 page not found` for a group that is not served, or the HTML of a load balancer.
  return toApiFailure(status, parsed === undefined ? body : parsed, retryAfter);
}

/**
 * Whether the API server itself says that there is no such object or resource: by a `Status`, or by this text for a path that it does not
 * serve. A proxy or load balancer in between answers 404 too, with a page of its own, while the object is there.
 */
export const isNotFound = ({ status, reason, message }: ApiFailure): boolean =>
  status === 404 && (reason === 'NotFound' || message === '404 page not found');

/** Whether a `NotFound` is about the kind: the API server names the object where it serves its kind and has none of that name. */
export const isKindNotServed = (failure: ApiFailure): boolean => isNotFound(failure) && failure.about.name === '';
