/** The refusals that only exist over HTTP; all others come from `../status-errors.ts`. */
import type { JsonObject } from '../json.ts';
import { ApiStatusError } from '../types.ts';

function refuse(code: number, reason: string, message: string, details: JsonObject = {}): ApiStatusError {
  return new ApiStatusError({
    kind: 'Status',
    apiVersion: 'v1',
    metadata: {},
    status: 'Failure',
    message,
    reason,
    details,
    code,
  });
}

/** 404 for a path that leads to no API at all: kube-apiserver answers it with text, not with a `Status`. */
export class PathNotFound extends Error {
  constructor() {
    super('404 page not found');
    this.name = 'PathNotFound';
  }
}

/** 401: the credentials are nobody's. */
export function unauthorized(): ApiStatusError {
  return new ApiStatusError({
    kind: 'Status',
    apiVersion: 'v1',
    metadata: {},
    status: 'Failure',
    message: 'Unauthorized',
    reason: 'Unauthorized',
    code: 401,
  });
}

/** 403: only programs of this machine are served. */
export function fromElsewhere(header: 'Origin' | 'Host', value: string): ApiStatusError {
  return refuse(403, 'Forbidden', `the ${header} ${JSON.stringify(value)} is not this machine, which alone is served`);
}

/** 405 for a verb that a path does not have. */
export function methodNotServed(): ApiStatusError {
  return refuse(405, 'MethodNotAllowed', 'the server does not allow this method on the requested resource');
}

/** 406: the client accepts nothing that is served. */
export function notAcceptable(served: readonly string[]): ApiStatusError {
  return refuse(406, 'NotAcceptable', `only the following media types are accepted: ${served.join(', ')}`);
}

/** 406: the answer cannot be turned into what was asked for. */
export function notConvertible(message: string): ApiStatusError {
  return refuse(406, 'NotAcceptable', message);
}

/** 413. */
export function bodyTooLarge(limitBytes: number): ApiStatusError {
  return refuse(413, 'RequestEntityTooLarge', `Request entity too large: limit is ${limitBytes}`);
}

/** 501: kube-apiserver has it, this server has not. */
export function notImplemented(why: string): ApiStatusError {
  return refuse(501, 'NotImplemented', why);
}

/** 504: a resourceVersion that the store has not reached; clients retry after a second. */
export function versionNotReached(asked: string, current: string): ApiStatusError {
  return refuse(504, 'Timeout', `Timeout: Too large resource version: ${asked}, current: ${current}`, {
    causes: [{ reason: 'ResourceVersionTooLarge', message: 'Too large resource version' }],
    retryAfterSeconds: 1,
  });
}
