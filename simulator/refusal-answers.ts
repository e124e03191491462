/** What an API server answers to a request that it refuses, by the HTTP status: reason, text and details as kube-apiserver has them. */
import { forbiddenRequest, type ResourceAttributes } from '../packages/kube-apiserver/src/authorization/attributes.ts';
import {
  badRequest,
  conflict,
  expired,
  internalError,
  invalid,
  methodNotAllowed,
  MODIFIED,
  notFound,
  notServed,
  tooManyRequests,
} from '../packages/kube-apiserver/src/status-errors.ts';
import { ApiStatusError } from '../packages/kube-apiserver/src/types.ts';
import type { RefusedAs } from './scenario/scenario.ts';

/** One request of Curfew's to the API server. */
export interface ApiRequest extends ResourceAttributes {
  /** Whom the API server sees. */
  readonly user: string;
}

/** Seconds in the `Retry-After` of API priority and fairness. */
const RETRY_AFTER_SECONDS = 1;

/** Reasons of the statuses that have no texts of their own (`k8s.io/apimachinery`, `NewGenericServerResponse`). */
const REASONS: Readonly<Record<number, readonly [reason: string, message: string]>> = {
  401: ['Unauthorized', 'Unauthorized'],
  408: ['Timeout', 'Timeout: request did not complete within the allotted timeout'],
  413: ['RequestEntityTooLarge', 'Request entity too large'],
  503: ['ServiceUnavailable', 'the server is currently unable to handle the request'],
  504: ['Timeout', 'Timeout: request did not complete within the allotted timeout'],
};

export function answerTo(request: ApiRequest, refused: RefusedAs): ApiStatusError {
  if ('notServed' in refused) return notServed();
  const { status } = refused;
  const { group, resource, name, user } = request;
  const of = { group, name: resource };
  switch (status) {
    case 400:
      return badRequest('the request is refused by the scenario');
    case 403:
      return forbiddenRequest(user, request);
    case 404:
      return name === undefined || request.verb === 'create' ? notServed() : notFound(of, name);
    case 405:
      return methodNotAllowed(of, `${request.verb} is not supported on resources of kind "${resource}"`);
    case 409:
      return conflict(of, name ?? '', MODIFIED);
    case 410:
      return expired('The provided resource version is too old.');
    case 422:
      return invalid(of, name ?? '', [
        { reason: 'FieldValueInvalid', field: 'spec', message: 'refused by the scenario' },
      ]);
    case 429:
      return tooManyRequests('Too many requests, please try again later.', RETRY_AFTER_SECONDS);
    case 500:
      return internalError('refused by the scenario');
  }
  const [reason, message] = REASONS[status] ?? [undefined, `the server answered with status ${status}`];
  return new ApiStatusError({
    kind: 'Status',
    apiVersion: 'v1',
    metadata: {},
    status: 'Failure',
    message,
    ...(reason !== undefined && { reason }),
    code: status,
  });
}
