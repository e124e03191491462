/**
 * The shortest interval between publications of one object. A user who may edit an object can change it a hundred times a second; each event
 * costs money and a run of each function that it is routed to.
 *
 * Each part of an object has its own allowance: `burst` publications at once, then one per `period`. So a flapping label never
 * delays a condition that becomes unhealthy, and the first changes of anything go out at once. What is held back waits in the queue,
 * where the latest state wins, and goes out when the period is over. Deletions and repeats are never held back.
 */
import { addDuration, toDurationMs, toEpochMs, type DurationMs, type EpochMs } from '../shared/domain/time.ts';
import type { ObjectChange } from './tracker.ts';

export interface PublishIntervalSettings {
  /** Zero: none. */
  readonly period: DurationMs;
  /** Publications of one part that need not wait. */
  readonly burst: number;
  /** Parts with an allowance of their own; what it does not say is as for all others. */
  readonly ofPart?: Readonly<Record<string, Partial<Pick<PublishIntervalSettings, 'period' | 'burst'>>>>;
}

export interface PublishInterval {
  /**
   * Time at which the change may be published; an instant of the past: at once. A part that may go takes the others
   * along.
   */
  earliest(key: string, change: ObjectChange): EpochMs;
  /** The change was published. */
  spend(key: string, change: ObjectChange, now: EpochMs): void;
  /** Objects that are remembered: those published within `burst` periods. */
  size(): number;
}

const AT_ONCE = toEpochMs(0);

interface PublishAllowance {
  readonly lastTime: EpochMs;
  /** Part name → when its allowance is whole again (generic cell rate algorithm). */
  readonly wholeAt: Readonly<Record<string, EpochMs>>;
}

/**
 * Remembers what was published within the longest allowance, and nothing of deleted objects: memory is bounded by the
 * rate of changes.
 */
export function createPublishInterval({ period, burst, ofPart = {} }: PublishIntervalSettings): PublishInterval {
  /** In the order of their last publication. */
  const recent = new Map<string, PublishAllowance>();
  const allowanceOf = (part: string) => {
    const own = { period, burst, ...ofPart[part] };
    return { period: own.period, capacity: toDurationMs(own.period * own.burst) };
  };
  const longest = toDurationMs(
    Math.max(period * burst, ...Object.keys(ofPart).map(part => allowanceOf(part).capacity)),
  );

  return {
    earliest(key, { change, changed, resync }) {
      const spent = recent.get(key);
      if (spent === undefined || change === 'Deleted' || changed.length === 0 || resync === true) return AT_ONCE;
      const times = changed.map(part => {
        const allowance = allowanceOf(part);
        return (spent.wholeAt[part] ?? AT_ONCE) - allowance.capacity + allowance.period;
      });
      return toEpochMs(Math.max(AT_ONCE, Math.min(...times)));
    },
    spend(key, { change, changed }, now) {
      const before = recent.get(key);
      recent.delete(key);
      for (const [old, { lastTime }] of recent) {
        if (addDuration(lastTime, longest) > now) break;
        recent.delete(old);
      }
      if (change === 'Deleted') return;
      const wholeAt: Record<string, EpochMs> = { ...before?.wholeAt };
      for (const part of changed) {
        const allowance = allowanceOf(part);
        const next = Math.max(now, wholeAt[part] ?? now) + allowance.period;
        wholeAt[part] = toEpochMs(Math.min(next, now + allowance.capacity));
      }
      recent.set(key, { lastTime: now, wholeAt });
    },
    size: () => recent.size,
  };
}
