import { expect, it } from 'vitest';
import { publishAnswers } from '../../functions/drain/drain-completed.ts';
import type { FinishedDrain } from '../../functions/drain/request-record.ts';
import { cancelDrain } from '../../functions/repair/actions/drain.ts';
import { toEpochMs } from '../../shared/domain/time.ts';
import { retryReason } from '../../shared/lambda/retry-reason.ts';
import type { EventBus } from '../../shared/ports/event-bus.ts';

const NODE = { name: 'worker-1', uid: 'node-uid' };
const FINISHED: FinishedDrain = {
  id: 'drain-1',
  scope: { kind: 'full' },
  status: 'Succeeded',
  reason: 'Drained',
  message: 'all pods have gone',
  left: [],
  drained: 1,
  startTime: toEpochMs(0),
  endTime: toEpochMs(1),
  fault: { agent: 'monitor', componentClass: '', checkName: '', entities: [] },
  recovered: false,
};

const SENT = [
  ['the answer of a drain', (bus: EventBus) => publishAnswers({ bus }, NODE, [FINISHED])],
  ['the end of a drain', (bus: EventBus) => cancelDrain({ bus }, { nodeName: 'n1', requestId: 'request-1' })],
] as const;

// The metric `Retries` and the alarm for services that fail go by the code.
it.each(SENT)('EventBridge that does not take %s is counted by what it says', async (_, send) => {
  for (const [code, reason] of [
    ['ThrottlingException', 'Throttled'],
    ['InternalFailure', 'ServerError'],
  ] as const) {
    const bus: EventBus = { publish: async entries => entries.map(() => ({ kind: 'retry', code })) };
    const error: unknown = await send(bus).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ name: 'RetryableError', reason: code });
    expect(retryReason(code)).toBe(reason);
  }
});

it.each(SENT)('EventBridge that rejects %s is told: it is not taken for sent', async (_, send) => {
  const bus: EventBus = {
    publish: async entries => entries.map(() => ({ kind: 'rejected', code: 'NotAuthorizedForSource', message: 'no' })),
  };
  const error: unknown = await send(bus).catch((thrown: unknown) => thrown);
  expect(error).toMatchObject({ name: 'TerminalError', message: 'no' });
});

it('an answer that EventBridge rejects holds back no other one, and one that it did not take is sent again', async () => {
  const sent: unknown[] = [];
  const bus: EventBus = {
    async publish(entries) {
      sent.push(...entries.map(({ detail }) => detail['id']));
      return entries.map(({ detail }) =>
        detail['id'] === 'drain-0'
          ? { kind: 'rejected', code: 'MalformedDetail', message: 'no' }
          : detail['id'] === 'drain-1'
            ? { kind: 'retry', code: 'InternalFailure' }
            : { kind: 'published' },
      );
    },
  };
  const finished = Array.from({ length: 12 }, (_, index) => ({ ...FINISHED, id: `drain-${index}` }));
  const error: unknown = await publishAnswers({ bus }, NODE, finished).catch((thrown: unknown) => thrown);
  expect(error).toMatchObject({ name: 'RetryableError' });
  expect(sent).toHaveLength(12);
});
