/** The timers that are armed: repair records of nodes that are tolerated, most for days, some due while the bench looks. Pure. */
import { nodeCodec } from '../../functions/repair/record.ts';
import {
  addDuration,
  hours,
  minutes,
  toDurationMs,
  toEpochMs,
  type DurationMs,
  type EpochMs,
} from '../../shared/domain/time.ts';
import type { NewRecord } from '../../shared/ports/record-store.ts';

export interface TimerPlan {
  /** All that are armed. */
  readonly armed: number;
  /** How many of them are due in the window; the others are later. */
  readonly due: number;
  readonly windowStart: EpochMs;
  readonly window: DurationMs;
}

/** Those that are not due in the window are due from then on, over so long. */
const LATER_FROM = hours(2);
const LATER_SPAN = hours(24 * 30);

export interface Timer {
  readonly name: string;
  readonly uid: string;
  readonly dueTime: EpochMs;
}

/** The `index`th timer; the first `plan.due` are those in the window. Spread evenly, in an order that looks like none. */
export function timerAt(plan: TimerPlan, index: number): Timer {
  const isDue = index < plan.due;
  const from = isDue ? plan.windowStart : addDuration(plan.windowStart, LATER_FROM);
  const fraction = (index * 0.618_033_988_749_894_9) % 1;
  return {
    name: `node-${index}`,
    uid: `00000000-0000-4000-8000-${String(index).padStart(12, '0')}`,
    dueTime: addDuration(from, toDurationMs(Math.floor(fraction * (isDue ? plan.window : LATER_SPAN)))),
  };
}

/** The record as the repair function writes it when it begins to tolerate a condition. */
export function recordFor({ name, uid, dueTime }: Timer): NewRecord {
  const incident = {
    conditionType: 'Ready',
    conditionStatus: 'Unknown',
    lastTransitionTime: toEpochMs(dueTime - minutes(30)),
    dueTime,
  };
  return {
    owner: 'repair',
    id: `node/${uid}`,
    subject: { apiVersion: 'v1', kind: 'Node', name, uid },
    state: { schemaVersion: nodeCodec.schemaVersion, ...nodeCodec.toState({ incident, taken: false, episodes: [] }) },
    nextWakeTime: dueTime,
  };
}
