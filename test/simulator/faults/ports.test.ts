import { describe, expect, it } from 'vitest';
import { createLifetime } from '../../../runtime/lifetime.ts';
import { createFaultInjector } from '../../../simulator/faults/injector.ts';
import { deliverWithFaults } from '../../../simulator/faults/messages.ts';
import type { FaultMix, MessageFault } from '../../../simulator/faults/mix.ts';
import { faultyForwarder } from '../../../simulator/faults/ports.ts';
import { createRandom } from '../../../simulator/random.ts';
import { createVirtualTime } from '../../../simulator/virtual-time.ts';
import { addDuration, hours, seconds, toEpochMs } from '../../../shared/domain/time.ts';
import type { ForwarderPorts } from '../../../runtime/system-parts.ts';
import type { BusEntry } from '../../../shared/contract/envelope.ts';
import { NO_FAULTS } from './no-faults.ts';

const START = toEpochMs(Date.UTC(2024, 10, 1));
const NODES = { group: '', version: 'v1', resource: 'nodes' };

function start(probability: Partial<FaultMix['probability']>, skew = NO_FAULTS.clockSkew) {
  const time = createVirtualTime({ start: START });
  const mix = { ...NO_FAULTS, clockSkew: skew, probability: { ...NO_FAULTS.probability, ...probability } };
  const injector = createFaultInjector(mix, createRandom(1));
  const published: BusEntry[] = [];
  let compactions = 0;
  const ports: ForwarderPorts = {
    clock: time,
    bus: {
      async publish(entries) {
        published.push(...entries);
        return entries.map(() => ({ kind: 'published' }));
      },
    },
    watch: {
      resolve: async () => undefined,
      versionsOf: async () => [],
      list: async () => ({ kind: 'page', items: [], resourceVersion: '1' }),
      async *watch() {
        yield { type: 'BOOKMARK', resourceVersion: '2' };
        yield { type: 'BOOKMARK', resourceVersion: '3' };
      },
    },
  };
  const context = { injector, scheduler: time, lifetime: createLifetime() };
  const faulty = faultyForwarder(ports, context, createRandom(2), () => (compactions += 1));
  return { time, injector, faulty, published, compactions: () => compactions };
}

const watchOptions = { resourceVersion: '1', timeoutSeconds: 60, signal: new AbortController().signal };

async function read(stream: AsyncIterable<unknown>): Promise<string> {
  const iterator = stream[Symbol.asyncIterator]();
  const next = iterator.next().then(
    ({ done }) => (done === true ? 'end' : 'event'),
    () => 'error',
  );
  const turn = new Promise<string>(resolve => setImmediate(() => resolve('silence')));
  return await Promise.race([next, turn]);
}

describe('a watch', () => {
  it.each([
    ['watchDrop', 'error', 0],
    ['watchExpired', 'error', 1],
    ['watchStall', 'silence', 0],
  ] as const)('%s', async (kind, outcome, compacted) => {
    const { faulty, compactions } = start({ [kind]: 1 });
    expect(await read(faulty.watch.watch(NODES, watchOptions))).toBe(outcome);
    expect(compactions()).toBe(compacted);
  });

  it('is left alone without faults', async () => {
    const { faulty } = start({});
    expect(await read(faulty.watch.watch(NODES, watchOptions))).toBe('event');
  });
});

describe('the bus', () => {
  const entries = ['a', 'b', 'c', 'd'].map(name => ({ source: 's', detailType: 't', detail: { name } }));

  it('refuses single entries, some of which it took', async () => {
    const { faulty, published } = start({ busEntry: 1 });
    const outcomes = await faulty.bus.publish(entries);
    expect(outcomes).toEqual(entries.map(() => ({ kind: 'retry', code: 'InternalFailure' })));
    expect(published.map(({ detail }) => detail['name'])).toEqual(['b', 'd']);
  });

  it('refuses entries that come one at a time, some of which it took', async () => {
    const { faulty, published } = start({ busEntry: 1 });
    for (const entry of entries) await faulty.bus.publish([entry]);
    expect(published.map(({ detail }) => detail['name'])).toEqual(['b', 'd']);
  });

  it('keeps outcomes and entries together when it refuses some', async () => {
    const { faulty, published } = start({ busEntry: 0.5 });
    for (let call = 0; call < 20; call++) {
      published.length = 0;
      const outcomes = await faulty.bus.publish(entries);
      expect(outcomes).toHaveLength(entries.length);
      for (const [index, outcome] of outcomes.entries()) {
        const entry = entries[index];
        if (outcome.kind === 'published') expect(published).toContain(entry);
      }
    }
  });
});

describe('a clock', () => {
  it('is off by no more than the mix says, and right again when faults stop', () => {
    const { faulty, injector, time } = start({}, { behind: seconds(2), ahead: seconds(0) });
    const skew = faulty.clock.now() - time.now();
    expect(skew).toBeLessThan(0);
    expect(skew).toBeGreaterThanOrEqual(-2000);
    injector.stop();
    expect(faulty.clock.now()).toBe(time.now());
  });
});

describe('a message', () => {
  const deliveries = async (kind: MessageFault | 'none'): Promise<number[]> => {
    const { time, injector } = start(kind === 'none' ? {} : { [kind]: 1 });
    const times: number[] = [];
    deliverWithFaults(seconds(0), () => times.push(time.now() - START), injector, time);
    await time.runUntil(addDuration(START, hours(48)));
    return times;
  };

  it('comes once and at once without faults', async () => {
    expect(await deliveries('none')).toEqual([0]);
  });

  it('may come twice', async () => {
    expect(await deliveries('duplicate')).toEqual([0, expect.any(Number)]);
  });

  it('may come late, and is never lost', async () => {
    const [time = 0, ...more] = await deliveries('delay');
    expect(more).toEqual([]);
    expect(time).toBeGreaterThan(0);
    expect(await deliveries('redelivery')).toEqual([180_000]);
  });

  it('may come once more after days', async () => {
    expect(await deliveries('redrive')).toEqual([0, hours(30)]);
  });
});
