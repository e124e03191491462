import { afterEach, describe, expect, it } from 'vitest';
import { createPublisher } from '../../forwarder/publish.ts';
import { createChangeQueue } from '../../forwarder/queue.ts';
import { DEFAULT_SETTINGS } from '../../forwarder/settings.ts';
import type { ObjectChange } from '../../forwarder/tracker.ts';
import { clusterEventSchema } from '../../shared/contract/cluster-event.ts';
import type { BusEntry } from '../../shared/contract/envelope.ts';
import { minutes, seconds } from '../../shared/domain/time.ts';
import { RetryableError } from '../../shared/errors.ts';
import type { MetricSink } from '../../shared/ports/metrics.ts';
import type { PublishOutcome } from '../../shared/ports/event-bus.ts';
import { createManualClock } from '../fakes/manual-clock.ts';
import { aChange } from './builders.ts';
import { createCountingMetrics } from './counting-metrics.ts';
import { createFakeBus } from './fake-bus.ts';

const stops: (() => Promise<void>)[] = [];

function setUp(sink?: MetricSink) {
  const clock = createManualClock();
  const bus = createFakeBus();
  const metrics = createCountingMetrics();
  const queue = createChangeQueue(1000);
  const errors: object[] = [];
  const publisher = createPublisher({
    cluster: 'test',
    queue,
    bus: bus.bus,
    clock,
    metrics: sink ?? metrics.sink,
    log: { info: () => undefined, warn: () => undefined, error: fields => errors.push(fields) },
    timings: DEFAULT_SETTINGS.publish,
  });
  const stop = new AbortController();
  const ended = publisher.run(stop.signal);
  stops.push(() => {
    stop.abort(new Error('stopping'));
    return ended;
  });
  const offer = (change: Partial<ObjectChange> & { uid?: string } = {}) =>
    queue.offer(aChange({ observedTime: clock.now(), ...change }), stop.signal);
  const published = (): string[] => bus.events.map(({ subject }) => subject.uid);
  return { clock, bus, metrics, queue, publisher, errors, offer, published };
}

const uidOf = (entry: BusEntry): string => clusterEventSchema.parse(entry.detail).subject.uid;
/** Answers every entry by its UID; what is not named is published. */
const answering = (outcomes: Record<string, PublishOutcome>) => (entries: readonly BusEntry[]) =>
  entries.map((entry): PublishOutcome => outcomes[uidOf(entry)] ?? { kind: 'published' });
const throttled: PublishOutcome = { kind: 'retry', code: 'ThrottlingException' };

describe('publisher', () => {
  afterEach(async () => {
    await Promise.all(stops.splice(0).map(stop => stop()));
  });

  it('fills the next batch while a call is under way', async () => {
    const { clock, bus, offer } = setUp();
    bus.answerWith(async entries => {
      await clock.sleep(seconds(0.02));
      return entries.map(() => ({ kind: 'published' }));
    });
    for (let index = 0; index < 26; index++) {
      await offer({ uid: `u${index}` });
      if (index === 0) await clock.settle();
    }
    await clock.advance(seconds(1));
    expect(bus.batchSizes).toEqual([1, 10, 10, 5]);
    expect(bus.events).toHaveLength(26);
  });

  it('sends only the failed entries again, each later than the last time', async () => {
    const { clock, bus, metrics, offer, published } = setUp();
    bus.answerWith(answering({ u1: throttled }));
    for (const uid of ['u0', 'u1', 'u2']) await offer({ uid });
    await clock.advance(0);
    expect(published()).toEqual(['u0', 'u2']);
    await clock.advance(seconds(1));
    await clock.advance(seconds(2));
    expect(bus.batchSizes).toEqual([3, 1, 1]);
    bus.recover();
    await clock.advance(seconds(4));
    expect(published()).toEqual(['u0', 'u2', 'u1']);
    expect(metrics.sum('PublishRetried{code=ThrottlingException}')).toBe(3);
  });

  it('is not held up by entries that keep failing', async () => {
    const { clock, bus, offer, published } = setUp();
    const stuck = Array.from({ length: 10 }, (_, index) => `stuck${index}`);
    bus.answerWith(answering(Object.fromEntries(stuck.map(uid => [uid, throttled]))));
    for (const uid of [...stuck, 'later']) await offer({ uid });
    await clock.advance(seconds(3));
    expect(published()).toEqual(['later']);
  });

  it('keeps everything when calls fail, and tries less and less often', async () => {
    const { clock, bus, metrics, publisher, offer, published } = setUp();
    bus.failWith(new RetryableError('503'));
    for (let index = 0; index < 12; index++) await offer({ uid: `u${index}` });
    await clock.advance(seconds(1 + 2 + 4 + 8 + 16));
    expect(bus.batchSizes).toHaveLength(6);
    await clock.advance(seconds(20));
    expect(bus.batchSizes).toHaveLength(7);
    expect(publisher.problem()).toMatchObject({ reason: '503' });
    expect(metrics.sum('PublishFailed')).toBe(7);
    bus.recover();
    await clock.advance(seconds(20));
    expect(published()).toEqual(Array.from({ length: 12 }, (_, index) => `u${index}`));
    expect(publisher.problem()).toBeUndefined();
  });

  it('waits as long as the bus asks it to', async () => {
    const { clock, bus, offer } = setUp();
    bus.failWith(new RetryableError('slow down', { retryAfterMs: 15_000 }));
    await offer();
    await clock.advance(seconds(14));
    expect(bus.batchSizes).toHaveLength(1);
    await clock.advance(seconds(1));
    expect(bus.batchSizes).toHaveLength(2);
  });

  it('sends the latest state after a failed call, once', async () => {
    const { clock, bus, offer } = setUp();
    bus.failWith(new RetryableError('503'));
    await offer({ resourceVersion: '1', changed: ['taints'] });
    await clock.advance(0);
    await offer({ resourceVersion: '2', changed: ['conditions'] });
    bus.recover();
    await clock.advance(seconds(1));
    expect(bus.events).toMatchObject([{ resourceVersion: '2', changed: ['conditions', 'taints'] }]);
  });

  it('drops what the bus refuses for good, and says so', async () => {
    const { clock, bus, metrics, queue, errors, offer, published } = setUp();
    bus.answerWith(answering({ u1: { kind: 'rejected', code: 'MalformedDetail', message: 'detail is malformed' } }));
    for (const uid of ['u0', 'u1']) await offer({ uid });
    await clock.advance(0);
    expect(published()).toEqual(['u0']);
    expect(queue.depth()).toBe(0);
    expect(metrics.sum('EventsRejected{kind=Node,code=MalformedDetail}')).toBe(1);
    expect(errors).toMatchObject([
      { audit: true, decision: 'dropped', reason: 'MalformedDetail', subject: { kind: 'Node', uid: 'u1' } },
    ]);
  });

  it('keeps what it only lacks the permission for', async () => {
    const { clock, bus, publisher, offer, published } = setUp();
    bus.answerWith(answering({ u1: { kind: 'rejected', code: 'NotAuthorizedForSourceException', message: 'no' } }));
    await offer({ uid: 'u1' });
    await clock.advance(minutes(10));
    expect(published()).toEqual([]);
    expect(publisher.problem()?.reason).toBe('NotAuthorizedForSourceException');
    bus.recover();
    await clock.advance(minutes(1));
    expect(published()).toEqual(['u1']);
  });

  it('finds the one entry that makes whole calls fail, and publishes the others', async () => {
    const { clock, bus, queue, offer, published } = setUp();
    bus.answerWith(entries => {
      if (entries.some(entry => uidOf(entry) === 'u3')) throw new Error('ValidationException');
      return entries.map(() => ({ kind: 'published' }));
    });
    for (let index = 0; index < 25; index++) await offer({ uid: `u${index}` });
    await clock.advance(minutes(2));
    expect(new Set(published()).size).toBe(24);
    expect(queue.depth()).toBe(1);
  });

  it('goes on, and loses nothing, when counting itself fails', async () => {
    let broken = true;
    const { clock, offer, published, queue } = setUp({
      count: () => {
        if (broken) throw new Error('no such label');
      },
      milliseconds: () => undefined,
    });
    await offer({ uid: 'u0' });
    await offer({ uid: 'u1' });
    await clock.advance(seconds(19));
    broken = false;
    await clock.advance(seconds(1));
    expect(new Set(published())).toEqual(new Set(['u0', 'u1']));
    expect(queue.depth()).toBe(0);
  });

  it('sends an entry again that the answer says nothing of', async () => {
    const { clock, bus, offer, published } = setUp();
    bus.answerWith(() => [{ kind: 'published' }]);
    for (const uid of ['u0', 'u1']) await offer({ uid });
    await clock.advance(seconds(1));
    expect(published()).toEqual(['u0', 'u1']);
  });

  it('sends what is new without waiting for what is held back', async () => {
    const { clock, bus, offer, published } = setUp();
    bus.answerWith(answering({ u0: throttled }));
    for (const uid of ['u0', 'u1']) await offer({ uid });
    await clock.advance(seconds(2.5));
    await offer({ uid: 'u2' });
    await clock.advance(0);
    expect(published()).toEqual(['u1', 'u2']);
  });
});
