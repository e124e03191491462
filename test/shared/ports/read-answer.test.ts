import { describe, expect, it } from 'vitest';
import { RetryableError, TerminalError } from '../../../shared/errors.ts';
import { orRejected } from '../../../shared/ports/read-answer.ts';

describe('orRejected', () => {
  it('passes on what came of the change', async () => {
    expect(await orRejected(Promise.resolve({ kind: 'ok' }))).toEqual({ kind: 'ok' });
  });

  it('makes an answer of what the API server refuses', async () => {
    const cause = new TerminalError('Invalid', 'a policy denied it');
    expect(await orRejected(Promise.reject<object>(cause))).toEqual({
      kind: 'rejected',
      message: 'a policy denied it',
      cause,
    });
  });

  it.each([new RetryableError('throttled'), new Error('a bug')])('throws whatever else happened: %s', async error => {
    await expect(orRejected(Promise.reject(error))).rejects.toBe(error);
  });
});
