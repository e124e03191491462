import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createRealScheduler } from '../../runtime/real-scheduler.ts';
import { addDuration, seconds } from '../../shared/domain/time.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

describe('the real scheduler', () => {
  it('runs an action at its time', () => {
    const scheduler = createRealScheduler();
    const ran: string[] = [];
    scheduler.at(addDuration(scheduler.now(), seconds(2)), () => ran.push('later'));
    scheduler.at(scheduler.now(), () => ran.push('now'));
    vi.advanceTimersByTime(1999);
    expect(ran).toEqual(['now']);
    vi.advanceTimersByTime(2);
    expect(ran).toEqual(['now', 'later']);
  });

  it('runs nothing that was called off', () => {
    const scheduler = createRealScheduler();
    const action = vi.fn<() => void>();
    scheduler.at(addDuration(scheduler.now(), seconds(1)), action)();
    vi.runAllTimers();
    expect(action).not.toHaveBeenCalled();
  });

  it('holds no timer once it is closed, not even for those who are still at work', () => {
    const scheduler = createRealScheduler();
    const action = vi.fn<() => void>();
    scheduler.at(addDuration(scheduler.now(), seconds(1)), action);
    scheduler.close();
    scheduler.at(addDuration(scheduler.now(), seconds(1)), action);
    expect(vi.getTimerCount()).toBe(0);
    vi.runAllTimers();
    expect(action).not.toHaveBeenCalled();
  });
});
