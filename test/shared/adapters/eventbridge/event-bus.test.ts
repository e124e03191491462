import type { EventBridgeClient } from '@aws-sdk/client-eventbridge';
import { describe, expect, it } from 'vitest';
import { createEventBus } from '../../../../shared/adapters/eventbridge/event-bus.ts';
import { MAX_CALL_BYTES } from '../../../../shared/ports/event-bus.ts';
import { fakeClient, serviceError, type Sent } from '../fake-client.ts';

const entry = (name: string, size = 0) => ({
  source: 'curfew.forwarder',
  detailType: 'NodeChanged',
  detail: { name, filler: 'x'.repeat(size) },
});

function make(answer: Parameters<typeof fakeClient>[0]) {
  const { client, sent } = fakeClient<EventBridgeClient>(answer);
  return { bus: createEventBus({ client, busName: 'curfew' }), sent };
}

const countOf = ({ input }: Sent): number => (Array.isArray(input['Entries']) ? input['Entries'].length : 0);
const allTaken = (call: Sent) => ({ Entries: Array.from({ length: countOf(call) }, () => ({ EventId: 'e' })) });

describe('EventBus on EventBridge', () => {
  it('publishes entries to its bus', async () => {
    const { bus, sent } = make(allTaken);
    expect(await bus.publish([entry('a')])).toEqual([{ kind: 'published' }]);
    expect(sent[0]?.input).toEqual({
      Entries: [
        {
          EventBusName: 'curfew',
          Source: 'curfew.forwarder',
          DetailType: 'NodeChanged',
          Detail: '{"name":"a","filler":""}',
        },
      ],
    });
  });

  it('tells for each entry what became of it, in their order', async () => {
    const { bus } = make(() => ({
      FailedEntryCount: 5,
      Entries: [
        { EventId: 'e' },
        { ErrorCode: 'ThrottlingException', ErrorMessage: 'slow down' },
        { ErrorCode: 'InternalFailure' },
        { ErrorCode: 'MalformedDetail', ErrorMessage: 'not JSON' },
        { ErrorCode: 'NotAuthorizedForSourceException', ErrorMessage: 'no' },
        { ErrorCode: 'SomethingNew' },
      ],
    }));
    expect(await bus.publish(['a', 'b', 'c', 'd', 'e', 'f', 'g'].map(name => entry(name)))).toEqual([
      { kind: 'published' },
      { kind: 'retry', code: 'ThrottlingException' },
      { kind: 'retry', code: 'InternalFailure' },
      { kind: 'rejected', code: 'MalformedDetail', message: 'not JSON' },
      { kind: 'rejected', code: 'NotAuthorizedForSourceException', message: 'no' },
      { kind: 'rejected', code: 'SomethingNew', message: '' },
      // The answer is shorter than the request: nobody knows, and publishing twice does no harm.
      { kind: 'retry', code: 'NoResult' },
    ]);
  });

  it('splits entries that are too large together, and keeps their order', async () => {
    const { bus, sent } = make(allTaken);
    const outcomes = await bus.publish([entry('a', 400_000), entry('b', 400_000), entry('c', 400_000), entry('d')]);
    expect(outcomes).toEqual(Array.from({ length: 4 }, () => ({ kind: 'published' })));
    expect(sent.map(countOf)).toEqual([2, 2]);
    for (const { input } of sent) expect(JSON.stringify(input).length).toBeLessThan(MAX_CALL_BYTES);
  });

  it('rejects an entry that no call can carry, and publishes the others', async () => {
    const { bus, sent } = make(allTaken);
    // Two bytes for each of these characters.
    const tooLarge = { ...entry('b'), detail: { filler: 'ü'.repeat(500_000) } };
    expect(await bus.publish([entry('a'), tooLarge, entry('c')])).toEqual([
      { kind: 'published' },
      { kind: 'rejected', code: 'EntryTooLarge', message: expect.stringContaining('1000000') },
      { kind: 'published' },
    ]);
    expect(sent.map(countOf)).toEqual([2]);
  });

  describe('where calls carry less, as in the partition of China (256 KB)', () => {
    const refusal = serviceError(
      'ValidationException',
      'client',
      'Total size of the entries in the request is over the limit.',
    );
    const upTo256KB = (call: Sent): unknown => (JSON.stringify(call.input).length > 262_144 ? refusal : allTaken(call));

    it('publishes the entries one by one, and rejects the one that is too large', async () => {
      const { bus, sent } = make(upTo256KB);
      expect(await bus.publish([entry('a', 150_000), entry('b', 300_000), entry('c', 150_000)])).toEqual([
        { kind: 'published' },
        { kind: 'rejected', code: 'EntryTooLarge', message: expect.stringContaining('over the limit') },
        { kind: 'published' },
      ]);
      expect(sent.map(countOf)).toEqual([3, 1, 1, 1]);
    });

    it('rejects a single entry that is too large, rather than the message that led to it', async () => {
      const { bus } = make(upTo256KB);
      expect(await bus.publish([entry('a', 300_000)])).toMatchObject([{ kind: 'rejected', code: 'EntryTooLarge' }]);
      const status413 = Object.assign(serviceError('Unknown', 'client'), { $metadata: { httpStatusCode: 413 } });
      const other = make(() => status413);
      expect(await other.bus.publish([entry('a')])).toMatchObject([{ kind: 'rejected', code: 'EntryTooLarge' }]);
    });

    it('takes no other refusal of a call for that', async () => {
      const { bus } = make(() => serviceError('ValidationException', 'client', 'EventBusName is not valid'));
      await expect(bus.publish([entry('a')])).rejects.toMatchObject({ name: 'TerminalError' });
    });
  });

  it('is retryable when the whole call fails', async () => {
    const { bus } = make(() => serviceError('InternalException', 'server'));
    await expect(bus.publish([entry('a')])).rejects.toMatchObject({ name: 'RetryableError' });
  });

  it('keeps what one call achieved when another fails', async () => {
    const { bus } = make((call, index) =>
      index === 0 ? allTaken(call) : serviceError('ThrottlingException', 'client'),
    );
    expect(await bus.publish([entry('a', 600_000), entry('b', 600_000)])).toEqual([
      { kind: 'published' },
      { kind: 'retry', code: 'ThrottlingException' },
    ]);
  });

  it('publishes nothing when there is nothing, and refuses more than ten', async () => {
    const { bus, sent } = make(allTaken);
    expect(await bus.publish([])).toEqual([]);
    await expect(bus.publish(Array.from({ length: 11 }, () => entry('a')))).rejects.toThrow('at most 10');
    expect(sent).toEqual([]);
  });
});
