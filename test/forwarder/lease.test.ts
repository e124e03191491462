import { describe, expect, it } from 'vitest';
import { createLease, DEFAULT_LEASE_TIMINGS, type Lease } from '../../forwarder/lease.ts';
import { SILENT_LOG } from '../../forwarder/log.ts';
import { runWhileLeading } from '../../forwarder/standby.ts';
import { seconds } from '../../shared/domain/time.ts';
import { createManualClock } from '../fakes/manual-clock.ts';
import { createFakeLeases } from './fake-leases.ts';

function setUp() {
  const clock = createManualClock();
  const leases = createFakeLeases();
  const stop = new AbortController();
  const leaseOf = (identity: string): Lease =>
    createLease({
      kubernetes: leases.kubernetes,
      clock,
      log: SILENT_LOG,
      settings: { namespace: 'curfew', name: 'forwarder', identity, ...DEFAULT_LEASE_TIMINGS },
    });
  /** Starts to acquire; answers whether it has. */
  const acquire = (lease: Lease): (() => boolean) => {
    let acquired = false;
    lease.acquire(stop.signal).then(
      () => (acquired = true),
      () => undefined,
    );
    return () => acquired;
  };
  return { clock, leases, stop, leaseOf, acquire };
}

describe('lease', () => {
  it('is created by the first who wants it, in the format that the API server expects', async () => {
    const { clock, leases, leaseOf, acquire } = setUp();
    const acquired = acquire(leaseOf('a'));
    await clock.advance(0);
    expect(acquired()).toBe(true);
    expect(leases.spec()).toEqual({
      holderIdentity: 'a',
      leaseDurationSeconds: 30,
      acquireTime: '2024-11-01T15:00:00.000000Z',
      renewTime: '2024-11-01T15:00:00.000000Z',
      leaseTransitions: 0,
    });
  });

  it('stays with a holder that renews it, whatever its clock says', async () => {
    const { clock, leases, stop, leaseOf, acquire } = setUp();
    const holder = leaseOf('a');
    await holder.acquire(stop.signal);
    const held = holder.hold(stop.signal);
    leases.store({ ...leases.spec(), renewTime: '1999-01-01T00:00:00.000000Z' });
    const acquired = acquire(leaseOf('b'));
    await clock.advance(seconds(300));
    expect(acquired()).toBe(false);
    expect(leases.spec()).toMatchObject({ holderIdentity: 'a', renewTime: '2024-11-01T15:05:00.000000Z' });
    stop.abort(new Error('stopping'));
    expect(await held).toBe('aborted');
  });

  it('is given up with a word in the log when holding it fails for another reason than its end', async () => {
    const { clock, leases, stop, leaseOf } = setUp();
    await leaseOf('a').acquire(stop.signal);
    const errors: unknown[] = [];
    const holder = createLease({
      kubernetes: leases.kubernetes,
      clock: { ...clock, sleep: () => Promise.reject(new Error('a bug')) },
      log: { ...SILENT_LOG, error: (fields, message) => void errors.push({ fields, message }) },
      settings: { namespace: 'curfew', name: 'forwarder', identity: 'a', ...DEFAULT_LEASE_TIMINGS },
    });
    expect(await holder.hold(stop.signal)).toBe('lost');
    const fields = { lease: 'curfew/forwarder', identity: 'a', error: 'a bug' };
    expect(errors).toEqual([{ fields, message: 'holding the lease failed' }]);
  });

  it('is taken over when its holder has been silent for its duration, by our own clock', async () => {
    const { clock, leases, leaseOf, acquire } = setUp();
    leases.store({
      holderIdentity: 'dead',
      leaseDurationSeconds: 15,
      renewTime: '2030-01-01T00:00:00.000000Z',
      leaseTransitions: 6,
    });
    const acquired = acquire(leaseOf('b'));
    await clock.advance(seconds(14));
    expect(acquired()).toBe(false);
    await clock.advance(seconds(1));
    expect(acquired()).toBe(true);
    expect(leases.spec()).toMatchObject({ holderIdentity: 'b', leaseTransitions: 7 });
  });

  it('goes to one of two that try at once', async () => {
    const { clock, leases, leaseOf, acquire } = setUp();
    leases.store({ holderIdentity: '', leaseDurationSeconds: 1 });
    leases.beforeNextWrite(() => leases.store({ holderIdentity: 'c', leaseDurationSeconds: 30, renewTime: 'now' }));
    const acquired = acquire(leaseOf('b'));
    await clock.advance(seconds(20));
    expect(acquired()).toBe(false);
    expect(leases.holder()).toBe('c');
  });

  it('is given up when it cannot be renewed before others may take it', async () => {
    const { clock, leases, stop, leaseOf } = setUp();
    const holder = leaseOf('a');
    await holder.acquire(stop.signal);
    let ended: string | undefined;
    void holder.hold(stop.signal).then(how => (ended = how));
    await clock.advance(seconds(60));
    leases.setFault('unreachable');
    await clock.advance(seconds(17));
    expect(ended).toBeUndefined();
    await clock.advance(seconds(1));
    expect(ended).toBe('lost');
  });

  it('is given up in time when the API server does not even answer', async () => {
    const { clock, leases, stop, leaseOf } = setUp();
    const holder = leaseOf('a');
    await holder.acquire(stop.signal);
    let ended: string | undefined;
    void holder.hold(stop.signal).then(how => (ended = how));
    leases.setFault('hangs');
    await clock.advance(seconds(18));
    expect(ended).toBe('lost');
    expect(clock.sleepers()).toBe(0);
  });

  it('is lost to somebody who took it', async () => {
    const { clock, leases, stop, leaseOf } = setUp();
    const holder = leaseOf('a');
    await holder.acquire(stop.signal);
    const held = holder.hold(stop.signal);
    leases.store({ holderIdentity: 'b', leaseDurationSeconds: 30, renewTime: 'now' });
    await clock.advance(seconds(5));
    expect(await held).toBe('lost');
  });

  it('can be taken at once after it was released', async () => {
    const { clock, leases, stop, leaseOf, acquire } = setUp();
    const holder = leaseOf('a');
    await holder.acquire(stop.signal);
    await holder.release();
    const acquired = acquire(leaseOf('b'));
    await clock.advance(0);
    expect(acquired()).toBe(true);
    await holder.release();
    expect(leases.holder()).toBe('b');
  });
});

describe('runWhileLeading', () => {
  it('starts when the lease is acquired, stops when it is lost, and starts anew after', async () => {
    const { clock, leases, stop, leaseOf } = setUp();
    const log: string[] = [];
    let count = 0;
    const create = () => {
      const id = ++count;
      return { start: () => void log.push(`start ${id}`), stop: async () => void log.push(`stop ${id}`) };
    };
    const ended = runWhileLeading({ lease: leaseOf('a'), create }, stop.signal);
    await clock.advance(seconds(10));
    expect(log).toEqual(['start 1']);
    leases.store({ holderIdentity: 'b', leaseDurationSeconds: 30, renewTime: 'now' });
    await clock.advance(seconds(30));
    expect(log).toEqual(['start 1', 'stop 1']);
    await clock.advance(seconds(10));
    expect(log).toEqual(['start 1', 'stop 1', 'start 2']);
    stop.abort(new Error('stopping'));
    await ended;
    expect(log.at(-1)).toBe('stop 2');
    expect(leases.holder()).toBe('');
  });

  it('ends while it stands by', async () => {
    const { clock, leases, stop, leaseOf } = setUp();
    leases.store({ holderIdentity: 'b', leaseDurationSeconds: 30, renewTime: 'now' });
    const ended = runWhileLeading({ lease: leaseOf('a'), create: mustNotStart }, stop.signal);
    await clock.advance(seconds(10));
    stop.abort(new Error('stopping'));
    await ended;
    expect(leases.holder()).toBe('b');
  });
});

function mustNotStart(): never {
  throw new Error('must not start');
}
