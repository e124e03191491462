/** Where several things fail, each failure reaches the log: the error that is thrown tells of all. */
import { describe, expect, it } from 'vitest';
import { joinFailures, RetryableError, TerminalError } from '../../shared/errors.ts';
import { KindNotServed } from '../../shared/ports/read-answer.ts';

describe('several failures', () => {
  const [slow, busy] = [new RetryableError('slow', { reason: 'Timeout', retryAfterMs: 5 }), new RetryableError('busy')];
  const refused = new TerminalError('Invalid', 'refused');

  it('are none where there is none, and one as it is', () => {
    expect(joinFailures([])).toBeUndefined();
    expect(joinFailures([slow])).toBe(slow);
  });

  it.each([
    ['tried again while one may pass', [refused, slow, busy], RetryableError],
    ['given up where none may', [refused, refused], TerminalError],
    ['a mistake of ours where one is', [slow, new TypeError('wrong'), refused], TypeError],
  ])('are %s, and tell of all', (_, failures, kind) => {
    const failure = joinFailures(failures) as Error;
    expect(failure).toBeInstanceOf(kind === TypeError ? Error : kind);
    expect(failure instanceof RetryableError || failure instanceof TerminalError).toBe(kind !== TypeError);
    for (const { message } of failures) expect(failure.message).toContain(message);
    expect(failure.cause).toBe(failures.find(each => each instanceof kind));
  });

  it('keep the reason and the wait of the first that may pass', () => {
    expect(joinFailures([slow, busy])).toMatchObject({ reason: 'Timeout', retryAfterMs: 5, outcomeUnknown: false });
    const lost = new RetryableError('lost', { outcomeUnknown: true });
    expect(joinFailures([slow, lost])).toMatchObject({ outcomeUnknown: true });
    const notAllowed = new RetryableError('no', { reason: 'Forbidden', permission: 'cannot patch resource "nodes"' });
    expect(joinFailures([slow, notAllowed])).toMatchObject({ permission: 'cannot patch resource "nodes"' });
    const refused = new RetryableError('no', { reason: 'BadRequest', isReadRefused: true });
    expect(joinFailures([refused, refused])).toMatchObject({ isReadRefused: true });
    expect(joinFailures([refused, slow])).toMatchObject({ isReadRefused: false });
  });

  it('are not served where all of them are, and may pass where another one may', () => {
    const hidden = new KindNotServed({ group: 'karpenter.sh', version: 'v1', resource: 'nodepools' });
    expect(joinFailures([hidden, hidden])).toBe(hidden);
    const failure = joinFailures([hidden, slow]);
    expect(failure).toBeInstanceOf(RetryableError);
    expect(failure).not.toBeInstanceOf(KindNotServed);
  });
});
