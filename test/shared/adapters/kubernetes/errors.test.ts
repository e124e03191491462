import { describe, expect, it } from 'vitest';
import { parseApiFailure, toApiFailure } from '../../../../shared/adapters/kubernetes/api-failure.ts';
import {
  toCreateOutcome,
  toDeleteOutcome,
  toEvictOutcome,
  toThrown,
  toWriteOutcome,
} from '../../../../shared/adapters/kubernetes/errors.ts';
import { RESOURCES } from '../../../../shared/contract/resources.ts';
import { RetryableError, TerminalError } from '../../../../shared/errors.ts';
import { status } from './scripted-server.ts';

/** The API server names what it has none of, and no name where it does not serve the kind. */
const NAMED = { name: 'n1' };
const REF = { type: RESOURCES.Node };

const refusal = (code: number, reason = '', message = 'because', details: object = {}) =>
  toApiFailure(code, status(code, reason, message, details));

const budgetCause = {
  causes: [{ reason: 'DisruptionBudget', message: 'The disruption budget web needs 3 healthy pods' }],
};

/** The outcome, or what was thrown, as comparable data. */
function outcomeOf(ask: () => unknown): unknown {
  try {
    return ask();
  } catch (error) {
    if (error instanceof RetryableError) {
      const { reason, outcomeUnknown, retryAfterMs } = error;
      return { thrown: 'retryable', reason, outcomeUnknown, ...(retryAfterMs === undefined ? {} : { retryAfterMs }) };
    }
    if (error instanceof TerminalError) return { thrown: 'terminal', reason: error.reason };
    throw error;
  }
}

const retryable = (reason: string, outcomeUnknown: boolean) => ({ thrown: 'retryable', reason, outcomeUnknown });

describe('what no verb expects', () => {
  it.each([
    // Nothing was done: the message may be tried again.
    { code: 401, reason: 'Unauthorized', thrown: retryable('Unauthorized', false) },
    { code: 403, reason: 'Forbidden', thrown: retryable('Forbidden', false) },
    { code: 409, reason: 'Conflict', thrown: retryable('Conflict', false) },
    { code: 410, reason: 'Expired', thrown: retryable('Expired', false) },
    { code: 429, reason: 'TooManyRequests', thrown: retryable('TooManyRequests', false) },
    // It may have been done (I4).
    { code: 408, reason: '', thrown: retryable('RequestTimeout', true) },
    { code: 500, reason: 'InternalError', thrown: retryable('InternalError', true) },
    { code: 502, reason: '', thrown: retryable('Status502', true) },
    { code: 503, reason: 'ServiceUnavailable', thrown: retryable('ServiceUnavailable', true) },
    { code: 504, reason: 'Timeout', thrown: retryable('Timeout', true) },
    { code: 302, reason: '', thrown: retryable('Status302', true) },
    // It stays wrong.
    { code: 400, reason: 'BadRequest', thrown: { thrown: 'terminal', reason: 'BadRequest' } },
    { code: 405, reason: 'MethodNotAllowed', thrown: { thrown: 'terminal', reason: 'MethodNotAllowed' } },
    { code: 413, reason: '', thrown: { thrown: 'terminal', reason: 'Invalid' } },
    { code: 415, reason: 'UnsupportedMediaType', thrown: { thrown: 'terminal', reason: 'UnsupportedMediaType' } },
    { code: 422, reason: 'Invalid', thrown: { thrown: 'terminal', reason: 'Invalid' } },
  ])('$code $reason', ({ code, reason, thrown }) => {
    const outcome = outcomeOf(() => {
      throw toThrown(refusal(code, reason), { doing: 'patching nodes n1', write: true });
    });
    expect(outcome).toEqual(thrown);
  });

  it('is never of unknown outcome when it was a read', () => {
    expect(toThrown(refusal(504, 'Timeout'), { doing: 'reading nodes n1', write: false })).toMatchObject({
      outcomeUnknown: false,
    });
  });

  it.each([400, 405, 413, 415, 422])('is tried again when it was a read: %d', code => {
    const thrown = toThrown(refusal(code, 'Invalid'), { doing: 'reading nodes n1', write: false });
    expect(thrown).toBeInstanceOf(RetryableError);
    expect(thrown).toMatchObject({ reason: 'Invalid', isReadRefused: true });
  });

  it.each([
    'nodes "n1" is forbidden: ValidatingAdmissionPolicy "keep" with binding "keep" denied request: no',
    'admission webhook "x" denied the request: no',
  ])('tells a denial by admission from a missing permission: %s', message => {
    const error = toThrown(refusal(403, 'Forbidden', message), { doing: 'patching nodes n1', write: true });
    expect(error).toBeInstanceOf(TerminalError);
  });

  it.each([
    ['User "x" cannot patch resource "nodes" in API group ""', 'cannot patch resource "nodes" in API group ""'],
    ['exceeded quota', undefined],
  ])('names the permission that is missing: %s', (message, permission) => {
    const error = toThrown(refusal(403, 'Forbidden', message), { doing: 'patching nodes n1', write: true });
    expect(error).toMatchObject({ reason: 'Forbidden', permission });
  });

  it('says what was being done, and what the server said', () => {
    const error = toThrown(refusal(403, 'Forbidden', 'User "x" cannot patch'), {
      doing: 'patching nodes n1',
      write: true,
    });
    expect(error.message).toBe('patching nodes n1: 403 Forbidden: User "x" cannot patch');
  });

  it('passes on when to come again, from the header or the body', () => {
    const attempt = { doing: 'listing nodes', write: false };
    const fromHeader = toThrown(parseApiFailure(429, 'slow down', '3'), attempt);
    const fromBody = toThrown(refusal(429, 'TooManyRequests', '', { retryAfterSeconds: 10 }), attempt);
    expect(fromHeader).toMatchObject({ retryAfterMs: 3000 });
    expect(fromBody).toMatchObject({ retryAfterMs: 10_000 });
  });

  it('quotes the beginning of a body that is no Status', () => {
    const failure = parseApiFailure(502, `<html>${'x'.repeat(1000)}`);
    expect(failure.message).toHaveLength(200);
    expect(failure.message).toMatch(/^<html>xxx/);
  });
});

describe('create', () => {
  it.each([
    { failure: refusal(404, 'NotFound'), outcome: { kind: 'notFound' } },
    { failure: parseApiFailure(404, '404 page not found\n'), outcome: { kind: 'notFound' } },
    { failure: refusal(409, 'AlreadyExists'), outcome: { kind: 'exists' } },
    // A quota that changed in between.
    { failure: refusal(409, 'Conflict'), outcome: retryable('Conflict', false) },
    {
      failure: refusal(422, 'Invalid', 'spec.size: Invalid value'),
      outcome: { kind: 'invalid', message: 'spec.size: Invalid value' },
    },
    {
      failure: refusal(400, 'BadRequest', 'strict decoding error'),
      outcome: { kind: 'invalid', message: 'strict decoding error' },
    },
    {
      failure: refusal(403, 'Forbidden', 'is being terminated', { causes: [{ reason: 'NamespaceTerminating' }] }),
      outcome: { kind: 'notFound' },
    },
    {
      failure: refusal(403, 'Forbidden', 'admission webhook "x" denied the request: no'),
      outcome: { kind: 'invalid', message: 'admission webhook "x" denied the request: no' },
    },
    { failure: refusal(403, 'Forbidden', 'User "x" cannot create resource'), outcome: retryable('Forbidden', false) },
    { failure: refusal(500, 'InternalError'), outcome: retryable('InternalError', true) },
  ])('$failure.status $failure.message', ({ failure, outcome }) => {
    expect(outcomeOf(() => toCreateOutcome(failure, 'creating'))).toEqual(outcome);
  });
});

describe('patch', () => {
  const uidCause = { causes: [{ reason: 'FieldValueInvalid', field: 'metadata.uid', message: 'field is immutable' }] };
  const fieldCause = { causes: [{ reason: 'FieldValueInvalid', field: 'spec.taints', message: 'no' }] };
  it.each([
    { failure: refusal(404, 'NotFound', 'no such node', NAMED), hasTest: false, outcome: { kind: 'notFound' } },
    { failure: refusal(404, 'NotFound'), hasTest: false, outcome: retryable('NotServed', false) },
    {
      failure: refusal(409, 'Conflict', 'modified'),
      hasTest: false,
      outcome: { kind: 'conflict', message: 'modified' },
    },
    {
      failure: refusal(422, 'Invalid', 'uid', uidCause),
      hasTest: false,
      outcome: { kind: 'conflict', message: 'uid' },
    },
    { failure: refusal(422, 'Invalid', 'test'), hasTest: true, outcome: { kind: 'conflict', message: 'test' } },
    { failure: refusal(422, 'Invalid', 'bad'), hasTest: false, outcome: { thrown: 'terminal', reason: 'Invalid' } },
    {
      failure: refusal(422, 'Invalid', 'bad', fieldCause),
      hasTest: true,
      outcome: { thrown: 'terminal', reason: 'Invalid' },
    },
  ])('$failure.status $failure.message (test operation: $hasTest)', ({ failure, hasTest, outcome }) => {
    expect(outcomeOf(() => toWriteOutcome(failure, REF, 'patching', hasTest))).toEqual(outcome);
  });

  it('of a subresource says nothing of the kind', () => {
    const failure = refusal(404, 'NotFound');
    expect(toWriteOutcome(failure, { ...REF, subresource: 'status' }, 'patching', false)).toEqual({ kind: 'notFound' });
  });
});

describe('delete', () => {
  it.each([
    { failure: refusal(404, 'NotFound', 'no such node', NAMED), outcome: { kind: 'notFound' } },
    { failure: refusal(404, 'NotFound'), outcome: retryable('NotServed', false) },
    { failure: refusal(409, 'Conflict', 'uid'), outcome: { kind: 'conflict', message: 'uid' } },
    { failure: refusal(403, 'Forbidden'), outcome: retryable('Forbidden', false) },
    { failure: refusal(504, 'Timeout'), outcome: retryable('Timeout', true) },
  ])('$failure.status', ({ failure, outcome }) => {
    expect(outcomeOf(() => toDeleteOutcome(failure, REF, 'deleting'))).toEqual(outcome);
  });
});

describe('evict', () => {
  const aboutBudget = { group: 'policy', kind: 'poddisruptionbudget' };
  it.each([
    { failure: refusal(404, 'NotFound'), outcome: { kind: 'notFound' } },
    { failure: refusal(409, 'Conflict', 'uid'), outcome: { kind: 'conflict', message: 'uid' } },
    {
      failure: refusal(429, 'TooManyRequests', 'Cannot evict pod.', budgetCause),
      outcome: { kind: 'blocked', message: 'Cannot evict pod. The disruption budget web needs 3 healthy pods' },
    },
    {
      failure: refusal(429, 'TooManyRequests', 'Cannot evict pod.', { ...budgetCause, retryAfterSeconds: 10 }),
      outcome: {
        kind: 'blocked',
        message: 'Cannot evict pod. The disruption budget web needs 3 healthy pods',
        retryAfterMs: 10_000,
      },
    },
    // Priority and fairness, not a budget: the pod was never looked at.
    {
      failure: refusal(429, 'TooManyRequests', 'too many requests', { retryAfterSeconds: 1 }),
      outcome: { ...retryable('TooManyRequests', false), retryAfterMs: 1000 },
    },
    {
      failure: refusal(403, 'Forbidden', 'terminating', { causes: [{ reason: 'NamespaceTerminating', message: '' }] }),
      outcome: { kind: 'blocked', message: 'terminating' },
    },
    {
      failure: refusal(403, 'Forbidden', 'DisruptedPods map too big - too many evictions', aboutBudget),
      outcome: { kind: 'blocked', message: 'DisruptedPods map too big - too many evictions' },
    },
    {
      failure: refusal(403, 'Forbidden', 'pdb disruptions allowed is negative', aboutBudget),
      outcome: { kind: 'misconfigured', message: 'pdb disruptions allowed is negative' },
    },
    {
      failure: refusal(403, 'Forbidden', 'User "x" cannot create pods/eviction', { kind: 'pods' }),
      outcome: retryable('Forbidden', false),
    },
    {
      failure: refusal(500, '', 'This pod has more than one PodDisruptionBudget, which …'),
      outcome: { kind: 'misconfigured', message: 'This pod has more than one PodDisruptionBudget, which …' },
    },
    {
      failure: refusal(500, 'InternalError', 'etcdserver: request timed out'),
      outcome: retryable('InternalError', true),
    },
  ])('$failure.status $failure.message', ({ failure, outcome }) => {
    expect(outcomeOf(() => toEvictOutcome(failure, 'evicting'))).toEqual(outcome);
  });
});

/** kube-apiserver passes on whatever status a webhook answers with: often that of something that the webhook itself looked up. */
describe('a denial by admission', () => {
  const message = 'admission webhook "x" denied the request: widgets "a" not found';
  const by = {
    patch: (failure: ReturnType<typeof refusal>) => toWriteOutcome(failure, REF, 'patching', true),
    delete: (failure: ReturnType<typeof refusal>) => toDeleteOutcome(failure, REF, 'deleting'),
    evict: (failure: ReturnType<typeof refusal>) => toEvictOutcome(failure, 'evicting'),
  };
  describe.each(['patch', 'delete', 'evict'] as const)('of a %s', verb => {
    it.each([400, 401, 403, 404, 409, 422])('is none of the API server, with status %d', code => {
      expect(outcomeOf(() => by[verb](refusal(code, 'Reason', message)))).toEqual({
        thrown: 'terminal',
        reason: 'Reason',
      });
    });
  });

  it.each([401, 403, 404, 409])('of a create is an invalid object, with status %d', code => {
    const outcome = outcomeOf(() => toCreateOutcome(refusal(code, 'NotFound', message), 'creating'));
    expect(outcome).toEqual({ kind: 'invalid', message });
  });

  it.each([429, 500])('of an eviction is tried again as for a budget, with status %d', code => {
    expect(outcomeOf(() => by.evict(refusal(code, '', message)))).toEqual({ kind: 'blocked', message });
  });

  it.each([429, 500])('of another write is tried again, with status %d', code => {
    expect(outcomeOf(() => by.patch(refusal(code, 'Reason', message)))).toMatchObject({ thrown: 'retryable' });
  });
});
