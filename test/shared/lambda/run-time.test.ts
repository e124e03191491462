import { describe, expect, it } from 'vitest';
import { CLIENT_DEFAULTS } from '../../../shared/adapters/aws-errors.ts';
import { REQUEST_TIMEOUT } from '../../../shared/adapters/kubernetes/transport.ts';
import { INVOKE_CLIENT_DEFAULTS } from '../../../shared/adapters/lambda/invoke-function.ts';
import { FUNCTION_TIMEOUT_SECONDS, VISIBILITY_TIMEOUT_SECONDS } from '../../../shared/contract/inbox.ts';
import { seconds } from '../../../shared/domain/time.ts';
import {
  DEADLINE_RESERVE,
  DEADLINE_RESERVE_WITH_HOOKS,
  endCallsWith,
  endOfCalls,
  startRun,
  TIME_TO_ANSWER,
  TIME_TO_HIDE,
} from '../../../shared/lambda/run-time.ts';
import { createManualClock } from '../../fakes/manual-clock.ts';

const RUN = seconds(FUNCTION_TIMEOUT_SECONDS);
const awsCall = CLIENT_DEFAULTS.requestHandler.requestTimeout;

describe('the time of a run', () => {
  it('is enough for the longest call of a message that is begun last', () => {
    for (const longest of [awsCall, REQUEST_TIMEOUT])
      expect(DEADLINE_RESERVE - TIME_TO_HIDE).toBeGreaterThanOrEqual(longest);
    const invocation = INVOKE_CLIENT_DEFAULTS.requestHandler.requestTimeout;
    expect(DEADLINE_RESERVE_WITH_HOOKS - TIME_TO_HIDE).toBeGreaterThan(invocation);
    expect(DEADLINE_RESERVE_WITH_HOOKS).toBeGreaterThanOrEqual(DEADLINE_RESERVE);
  });

  it('is enough for more than one message of a batch', () => {
    for (const reserve of [DEADLINE_RESERVE, DEADLINE_RESERVE_WITH_HOOKS])
      expect(reserve).toBeLessThanOrEqual(0.8 * RUN);
  });

  it('ends while the messages are still hidden, and its calls before it', () => {
    expect(VISIBILITY_TIMEOUT_SECONDS).toBeGreaterThanOrEqual(6 * FUNCTION_TIMEOUT_SECONDS);
    expect(TIME_TO_HIDE).toBeGreaterThan(TIME_TO_ANSWER);
  });

  it('ends for what is left of an earlier run, and not for the next one', async () => {
    const clock = createManualClock();
    let wake = (): void => undefined;
    const frozen = new Promise<void>(resolve => (wake = resolve));
    const first = startRun(clock, RUN);
    const left = endCallsWith(first.messageCalls, async () => {
      await frozen;
      return endOfCalls()?.aborted;
    });
    await clock.advance(RUN);
    first[Symbol.dispose]();
    using second = startRun(clock, RUN);
    const next = endCallsWith(second.messageCalls, async () => {
      wake();
      await frozen;
      return endOfCalls()?.aborted;
    });
    expect([await left, await next]).toEqual([true, false]);
  });
});
