import { describe, expect, it, onTestFinished } from 'vitest';
import { systemClock } from '../../../shared/adapters/system-clock.ts';
import { hours, toDurationMs } from '../../../shared/domain/time.ts';

describe('systemClock', () => {
  it('tells the time of the machine', () => {
    const before = Date.now();
    const now = systemClock.now();
    expect(now).toBeGreaterThanOrEqual(before);
    expect(now).toBeLessThanOrEqual(Date.now());
  });

  it('rejects with the reason of its signal', async () => {
    const abort = new AbortController();
    const reason = new Error('enough');
    const sleeping = systemClock.sleep(hours(1), abort.signal);
    abort.abort(reason);
    await expect(sleeping).rejects.toBe(reason);
    await expect(systemClock.sleep(hours(1), abort.signal)).rejects.toBe(reason);
  });

  it('does not sleep for no time', async () => {
    await expect(systemClock.sleep(toDurationMs(0))).resolves.toBeUndefined();
  });

  it('leaves no timer behind when a limit is lifted', () => {
    const timers = (): number => process.getActiveResourcesInfo().filter(name => name === 'Timeout').length;
    const before = timers();
    const limit = systemClock.startLimit(hours(1), () => expect.unreachable());
    expect(timers()).toBe(before + 1);
    limit.lift();
    expect(timers()).toBe(before);
  });

  it('sleeps longer than one timer of Node can', async () => {
    // Node warns of a timer above 2^31-1 ms, and lets it fire at once.
    const warnings: string[] = [];
    const note = (warning: Error): number => warnings.push(warning.name);
    process.on('warning', note);
    onTestFinished(() => void process.off('warning', note));
    const abort = new AbortController();
    const sleeping = systemClock.sleep(hours(1000), abort.signal);
    await new Promise(resolve => setImmediate(resolve));
    abort.abort(new Error('awake'));
    await expect(sleeping).rejects.toThrow('awake');
    expect(warnings).toEqual([]);
  });
});
