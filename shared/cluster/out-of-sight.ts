/**
 * A subject that cannot be judged because a kind is not served. Nothing of it counts as gone, and nothing begins (I6): its record's timer
 * brings the next look a minute later, and it is said. Curfew's own kinds not served: Curfew is not installed.
 */
import { CURFEW_GROUP } from '../contract/names.ts';
import { EVENT_REASONS } from '../contract/reasons.ts';
import { addDuration, hours, isDue, minutes, type EpochMs } from '../domain/time.ts';
import type { Clock } from '../ports/clock.ts';
import { OutOfSight } from '../ports/read-answer.ts';
import type { Reporter } from '../lifecycle/reporter.ts';
import type { TimedRecord } from '../lifecycle/timed-record.ts';

const CHECK = minutes(1);
/** What is still so is said again after this long. */
const SAID_FOR = hours(1);

export interface OutOfSightParts {
  readonly clock: Clock;
  readonly reporter: Reporter;
}

/**
 * Does the work, or holds its subject, whose record the work has opened. Without a record there is nothing to hold: of a kind of Curfew's own nothing was promised, unless
 * the message is a hint, and the error of any other goes up, so that the message comes again.
 */
export type HoldOutOfSight = <Value>(
  opened: () => TimedRecord<Value> | undefined,
  work: () => Promise<void>,
  options?: {
    /** The message asks for something that is nowhere else. */
    readonly isRequest?: boolean;
    /** Without a record, only the message knows of the subject: it comes again. */
    readonly isHint?: boolean;
  },
) => Promise<void>;

/** What was said is remembered as long as the environment lives: an Event that is said again is the same Event. */
export function createHoldOutOfSight({ clock, reporter }: OutOfSightParts): HoldOutOfSight {
  const said = new Map<string, EpochMs>();
  return async (opened, work, { isRequest = false, isHint = false } = {}) => {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof OutOfSight)) throw error;
      const isOwn = error.type.group === CURFEW_GROUP;
      const record = opened();
      const held = record === undefined ? undefined : await record.load();
      if (held?.kind === 'newer') return;
      if (record === undefined || held?.kind !== 'held') {
        if (isOwn && !isRequest && !isHint) return;
        throw error;
      }
      const { stored, value } = held;
      const { kind, apiVersion, name, namespace, uid } = stored.subject;
      const now = clock.now();
      const wanted = addDuration(now, CHECK);
      const armed = stored.nextWakeTime;
      const wakeTime = armed !== undefined && armed > now && armed < wanted ? armed : wanted;
      const key = `${uid ?? name} ${error.message}`;
      const before = said.get(key);
      if (before === undefined || isDue(now, addDuration(before, SAID_FOR))) {
        const what = isOwn ? `${error.message}: Curfew is not installed` : error.message;
        await reporter.report({
          about: { apiVersion, kind, metadata: { name, ...(namespace && { namespace }), ...(uid && { uid }) } },
          decision: 'wait',
          reason: EVENT_REASONS.kindNotServed,
          message: `${what}; nothing is done meanwhile, and it is looked at again every minute`,
          event: { type: 'Warning' },
        });
        said.set(key, now);
      }
      await record.save({ subject: stored.subject, value, wakeTime });
      if (isRequest) throw error;
    }
  };
}
