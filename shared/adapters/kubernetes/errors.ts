/**
 * The one table of what the API server's refusals mean. Expected ones become outcomes. Others are thrown: `RetryableError` if the same
 * message may succeed later, `TerminalError` if only another input can. A read that is refused is tried again, too, ever less often.
 *
 * 401 and 403 are retryable, but for the denial of an admission policy or webhook. Permission goes missing in operation (an access entry
 * that is not yet consistent, a role being rolled out, a clock that drifts) and comes back. To park the message would lose a hint that
 * nobody sends again (I9). To act without the answer is forbidden (I6). The wait is visible: the reason stands in each failed
 * attempt's log line and metric, and the redrive policy ends it in the DLQ.
 */
import type { ObjectRef } from '../../domain/kubernetes-object.ts';
import { permissionIn } from '../../domain/refusal.ts';
import { RetryableError, TerminalError } from '../../errors.ts';
import type { CreateOutcome, DeleteOutcome, EvictOutcome, WriteOutcome } from '../../ports/kubernetes-api.ts';
import { KindNotServed, type ObjectAnswer } from '../../ports/read-answer.ts';
import { isKindNotServed, isNotFound, type ApiFailure } from './api-failure.ts';

/** A call as its errors describe it: `doing` is `deleting nodeclaims nc1`, `write` says whether it changes anything. */
export interface ApiCall {
  readonly doing: string;
  readonly write: boolean;
}

/** Translates what no verb expects. */
export function toThrown(failure: ApiFailure, attempt: ApiCall): RetryableError | TerminalError {
  const message = `${attempt.doing}: ${failure.status} ${failure.reason || 'no reason'}: ${failure.message}`;
  const retryable = (reason: string, outcomeUnknown: boolean, permission?: string): RetryableError =>
    new RetryableError(message, {
      reason: failure.reason || reason,
      outcomeUnknown: outcomeUnknown && attempt.write,
      permission,
      ...(failure.retryAfterMs === undefined ? {} : { retryAfterMs: failure.retryAfterMs }),
    });
  // A read is one of a few that work every day: what refuses it stands in between, and passes. Nothing was done.
  const refused = (): RetryableError | TerminalError =>
    attempt.write
      ? new TerminalError(failure.reason || 'Invalid', message)
      : new RetryableError(message, { reason: failure.reason || 'Invalid', isReadRefused: true });
  if (isRefusedByPolicy(failure)) return refused();
  switch (failure.status) {
    case 401: // The token was refused although it is fresh: clocks or credentials, see above. Nothing was done.
      return retryable('Unauthorized', false);
    case 403: // RBAC, which names the permission; or quota, or a terminating namespace. Nothing was done.
      return retryable('Forbidden', false, permissionIn(failure.message));
    case 404: // The API server's own is expected by every verb; another's says nothing of the object.
      if (!isNotFound(failure)) return retryable('Status404', true);
      break;
    case 408: // The server gave up reading the request.
      return retryable('RequestTimeout', true);
    case 409: // Expected by every verb that can meet it; here e.g. a quota that changed during a create. Nothing was done.
      return retryable('Conflict', false);
    case 410: // A continue token or resourceVersion is too old. Reads handle it; nothing was done.
      return retryable('Expired', false);
    case 425: // Too early (TLS early data). Nothing was done.
    case 429: // Priority and fairness turned the request away before it ran. Retry-After says when to come again.
      return retryable('TooManyRequests', false);
  }
  // 500 etcd timed out or a webhook failed, 502/503/504 in between or "may still be processing": a write may have happened.
  if (failure.status >= 500) return retryable(`Status${failure.status}`, true);
  // 3xx: the API server never redirects these verbs; a proxy in between does, while something is being set up.
  if (failure.status < 400) return retryable(`Status${failure.status}`, true);
  // 400, 405, 406, 413, 415, 422, …: the request itself is wrong. A change stays wrong.
  return refused();
}

/** Answer of a refused `get`. */
export function toObjectAnswer(failure: ApiFailure, { type }: ObjectRef, doing: string): ObjectAnswer {
  if (isKindNotServed(failure)) return { kind: 'notServed', type };
  if (isNotFound(failure)) return { kind: 'notThere' };
  throw toThrown(failure, { doing, write: false });
}

/** Outcome of a refused create. */
export function toCreateOutcome(failure: ApiFailure, doing: string): CreateOutcome {
  if (isRefusedByPolicy(failure)) return { kind: 'invalid', message: failure.message };
  // The namespace does not exist, or the resource is not served (its CRD is missing).
  if (isNotFound(failure)) return { kind: 'notFound' };
  switch (failure.status) {
    case 409: // AlreadyExists; any other conflict (quota) is worth another try.
      if (failure.reason === 'AlreadyExists') return { kind: 'exists' };
      break;
    case 403:
      if (isNamespaceTerminating(failure)) return { kind: 'notFound' };
      break;
    case 400: // Does not decode.
    case 422: // Validation by schema or CEL rule.
      return { kind: 'invalid', message: failure.message };
  }
  throw toThrown(failure, { doing, write: true });
}

/**
 * Outcome of a refused patch. `hasTest`: the JSON patch starts from an assumption (`op: test`). Of a subresource nobody can tell that the kind
 * has none from that it is not served.
 */
export function toWriteOutcome(
  failure: ApiFailure,
  { type, subresource }: Pick<ObjectRef, 'type'> & { readonly subresource?: string | undefined },
  doing: string,
  hasTest: boolean,
): WriteOutcome {
  if (isRefusedByPolicy(failure)) throw toThrown(failure, { doing, write: true });
  if (subresource === undefined && isKindNotServed(failure)) throw new KindNotServed(type);
  if (isNotFound(failure)) return { kind: 'notFound' };
  switch (failure.status) {
    case 409: // The resourceVersion or UID in the patch is not the stored one.
      return { kind: 'conflict', message: failure.message };
    case 422: // Validation, with two exceptions that mean "not the object you looked at":
      // - a patch that carries another UID is refused as a change of an immutable field,
      if (failure.causes.some(cause => cause.field === 'metadata.uid')) return conflict(failure);
      // - a failed `op: test` is answered with no cause at all.
      if (hasTest && failure.causes.length === 0) return conflict(failure);
      break;
  }
  throw toThrown(failure, { doing, write: true });
}

/** Outcome of a refused delete. */
export function toDeleteOutcome(failure: ApiFailure, { type }: Pick<ObjectRef, 'type'>, doing: string): DeleteOutcome {
  if (isRefusedByPolicy(failure)) throw toThrown(failure, { doing, write: true });
  if (isKindNotServed(failure)) throw new KindNotServed(type);
  if (isNotFound(failure)) return { kind: 'notFound' };
  if (failure.status === 409) return conflict(failure); // A precondition is not met.
  throw toThrown(failure, { doing, write: true });
}

/** Outcome of a refused eviction. */
export function toEvictOutcome(failure: ApiFailure, doing: string): EvictOutcome {
  if (isRefusedByPolicy(failure)) throw toThrown(failure, { doing, write: true });
  // A webhook wants to be asked again, as while it moves a virtual machine away: nothing was done.
  if (isDeniedByPolicy(failure)) return blocked(failure);
  if (isNotFound(failure)) return { kind: 'notFound' };
  switch (failure.status) {
    case 409: // A precondition is not met: another pod of that name, or the pod has changed.
      return conflict(failure);
    case 429: // A budget allows no disruption now, or its status is not up to date. Throttling has no such cause.
      if (isAboutDisruptionBudget(failure)) return blocked(failure);
      break;
    case 403: // The namespace is being deleted, and its pods with it: nothing for us to do but wait.
      if (isNamespaceTerminating(failure)) return blocked(failure);
      // The budget has too many unconfirmed evictions: passes. A negative allowance: someone must repair the budget.
      if (/DisruptedPods map too big/.test(failure.message)) return blocked(failure);
      if (isAboutDisruptionBudget(failure)) return { kind: 'misconfigured', message: failure.message };
      break;
    case 500: // Two budgets select the pod, which the eviction API does not support. Any other 500 is a failure.
      if (/more than one PodDisruptionBudget/i.test(failure.message)) {
        return { kind: 'misconfigured', message: failure.message };
      }
      break;
  }
  throw toThrown(failure, { doing, write: true });
}

const conflict = (failure: ApiFailure) => ({ kind: 'conflict', message: failure.message }) as const;

function blocked(failure: ApiFailure): EvictOutcome {
  const message = [failure.message, ...failure.causes.map(cause => cause.message)].filter(Boolean).join(' ');
  return {
    kind: 'blocked',
    message,
    ...(failure.retryAfterMs === undefined ? {} : { retryAfterMs: failure.retryAfterMs }),
  };
}

const isNamespaceTerminating = (failure: ApiFailure): boolean =>
  failure.causes.some(cause => cause.reason === 'NamespaceTerminating');

/** An admission webhook or policy said no; RBAC words its 403 otherwise (`User "…" cannot create resource …`). */
const isDeniedByPolicy = (failure: ApiFailure): boolean => /denied (the )?request/.test(failure.message);

/**
 * It said so with whatever status it likes: the 404 or 409 of something that it looked up, the 401 of a policy's `reason`. Taken for the API
 * server's own, a 404 would mean that the object is gone. With 429 and 5xx it asks for another try.
 */
const isRefusedByPolicy = (failure: ApiFailure): boolean =>
  isDeniedByPolicy(failure) && failure.status < 500 && failure.status !== 429;

const isAboutDisruptionBudget = (failure: ApiFailure): boolean =>
  failure.causes.some(cause => cause.reason === 'DisruptionBudget') || /disruption ?budget/i.test(failure.about.kind);

/** A failure of the connection, and how far the request had got by then. */
export interface NetworkFailure {
  readonly error: Error;
  /** Bytes of the request may have reached the server. */
  readonly sent: boolean;
}

/**
 * Translates a failed connection. What was never sent had no effect; a write that was sent and got no answer (`ECONNRESET`,
 * `EPIPE`, a time-out) may have taken effect.
 */
export function fromNetworkFailure({ error, sent }: NetworkFailure, attempt: ApiCall): RetryableError {
  const code = 'code' in error && typeof error.code === 'string' ? error.code : error.name;
  return new RetryableError(`${attempt.doing}: ${code}: ${error.message}`, {
    cause: error,
    reason: code,
    outcomeUnknown: sent && attempt.write,
  });
}
