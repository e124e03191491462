import { afterEach, describe, expect, it } from 'vitest';
import { SILENT_LOG } from '../../forwarder/log.ts';
import { createResync, type ResyncSettings } from '../../forwarder/resync.ts';
import { hours, minutes, seconds } from '../../shared/domain/time.ts';
import { createManualClock } from '../fakes/manual-clock.ts';

const ends: (() => Promise<void>)[] = [];

function setUp(count: number, settings: Partial<ResyncSettings> = {}) {
  const clock = createManualClock();
  const published: { key: string; second: number }[] = [];
  let keys = Array.from({ length: count }, (_, index) => `u${index}`);
  const start = clock.now();
  const resync = createResync({
    settings: { period: hours(4), perSecondMax: 20, ...settings },
    clock,
    log: SILENT_LOG,
    keys: () => keys,
    publish: async key => void published.push({ key, second: (clock.now() - start) / 1000 }),
  });
  const end = new AbortController();
  const ended = resync.run(end.signal);
  ends.push(() => {
    end.abort(new Error('stopping'));
    return ended;
  });
  return { clock, published, resync, setKeys: (next: string[]) => (keys = next) };
}

describe('resync', () => {
  afterEach(async () => {
    await Promise.all(ends.splice(0).map(end => end()));
  });

  it('publishes each object once in a period, evenly spread', async () => {
    const { clock, published } = setUp(8);
    await clock.advance(hours(4));
    expect(published.map(({ key }) => key)).toEqual(['u0', 'u1', 'u2', 'u3', 'u4', 'u5', 'u6', 'u7']);
    expect(published.map(({ second }) => second)).toEqual([1, 2, 3, 4, 5, 6, 7, 8].map(part => part * 1800));
    await clock.advance(hours(4));
    expect(published).toHaveLength(16);
  });

  it('takes longer than the period rather than exceed its rate', async () => {
    const { clock, published } = setUp(10_000, { period: seconds(100), perSecondMax: 20 });
    await clock.advance(seconds(100));
    expect(published.length).toBeGreaterThan(1900);
    expect(published.length).toBeLessThanOrEqual(2000);
  });

  it('costs next to nothing while there is nothing to publish, and begins when there is', async () => {
    const { clock, published, setKeys } = setUp(0);
    await clock.advance(hours(4));
    setKeys(['a']);
    await clock.advance(hours(5));
    expect(published).toHaveLength(1);
  });

  it('publishes everything at once on request, at its rate, and goes on as before', async () => {
    const { clock, published, resync } = setUp(100);
    await clock.advance(minutes(1));
    resync.request();
    await clock.advance(seconds(6));
    expect(published).toHaveLength(100);
    await clock.advance(hours(4));
    expect(published).toHaveLength(200);
  });

  it('starts over when another request comes', async () => {
    const { clock, published, resync } = setUp(100);
    resync.request();
    await clock.advance(seconds(2));
    const before = published.length;
    resync.request();
    await clock.advance(seconds(6));
    expect(published).toHaveLength(before + 100);
  });

  it('with a period of zero publishes on request only', async () => {
    const { clock, published, resync } = setUp(10, { period: hours(0) });
    await clock.advance(hours(100));
    expect(published).toEqual([]);
    resync.request();
    await clock.advance(seconds(1));
    expect(published).toHaveLength(10);
  });
});
