/**
 * A subject that cannot be judged because a kind is not served. Nothing of it counts as gone, and nothing begins (I6). An Event says so, and
 * its record's timer brings the next look a minute later. Curfew's own kinds not served: Curfew is not installed.
 */
import { CURFEW_GROUP } from '../contract/names.ts';
import { EVENT_REASONS } from '../contract/reasons.ts';
import { aboutSubject, type Subject } from '../contract/subject.ts';
import { addDuration, earliest, isReportDue, minutes, whileAhead, type EpochMs } from '../domain/time.ts';
import type { Clock } from '../ports/clock.ts';
import { KindNotServed } from '../ports/read-answer.ts';
import type { Reporter } from '../lifecycle/reporter.ts';
import type { TimedRecord } from '../lifecycle/timed-record.ts';

/** A subject of which a kind is not served is looked at again after this long. */
export const NOT_SERVED_CHECK = minutes(1);

export interface NotServedDeps {
  readonly clock: Clock;
  readonly reporter: Reporter;
}

export interface NotServedSubject<Value> {
  /** The record that the work has opened. */
  readonly openedRecord: () => TimedRecord<Value> | undefined;
  /** The record to write if there is none yet; undefined: nobody knows whether there is such a subject. */
  readonly firstState: (text: string, now: EpochMs) => { readonly subject: Subject; readonly value: Value } | undefined;
  /** The message asks for something that is nowhere else: it comes again. */
  readonly isRequest?: boolean;
}

/** Does the work, or pauses its subject by its record. */
export type PauseIfNotServed = <Value>(work: () => Promise<void>, subject: NotServedSubject<Value>) => Promise<void>;

/** Says that a kind is not served. Throws any other error. */
export function notServedText(error: unknown): string {
  if (!(error instanceof KindNotServed)) throw error;
  const what = error.type.group === CURFEW_GROUP ? `${error.message}: Curfew is not installed` : error.message;
  return `${what}; nothing is done meanwhile, and it is looked at again every minute`;
}

/** Reports that a kind is not served, where it is time to. */
export type ReportNotServed = (subject: Subject, text: string) => Promise<void>;

/**
 * Remembers in this process what was reported, until it is due again. A new process repeats it, which counts up the
 * same Event.
 */
export function createReportNotServed({ clock, reporter }: NotServedDeps): ReportNotServed {
  const reportTimes = new Map<string, EpochMs>();
  return async (subject, text) => {
    const now = clock.now();
    const key = `${subject.uid ?? subject.name} ${text}`;
    if (!isReportDue(now, reportTimes.get(key))) return;
    await reporter.report({
      about: aboutSubject(subject),
      decision: 'wait',
      reason: EVENT_REASONS.kindNotServed,
      message: text,
      event: { type: 'Warning' },
    });
    forgetDue(reportTimes, now);
    reportTimes.set(key, now);
  };
}

/** Arms the subject's record for the next look, and says why. Throws what is another error, and for a request the same again. */
export function createPauseIfNotServed(deps: NotServedDeps): PauseIfNotServed {
  const { clock } = deps;
  const report = createReportNotServed(deps);
  return async (work, { openedRecord, firstState, isRequest = false }) => {
    try {
      return await work();
    } catch (error) {
      const text = notServedText(error);
      const timedRecord = openedRecord();
      const loaded = await timedRecord?.load();
      if (loaded?.kind === 'newer') return;
      const now = clock.now();
      const known =
        loaded?.kind === 'known' ? { subject: loaded.stored.subject, value: loaded.value } : firstState(text, now);
      if (timedRecord === undefined || known === undefined) throw error;
      const { subject, value } = known;
      const wanted = addDuration(now, NOT_SERVED_CHECK);
      const armed = loaded?.kind === 'known' ? loaded.stored.nextWakeTime : undefined;
      const wakeTime = earliest(wanted, whileAhead(now, armed));
      await report(subject, text);
      await timedRecord.save({ subject, value, wakeTime });
      if (isRequest) throw error;
    }
  };
}

/** The oldest stand first: each new report moves its entry to the end. */
function forgetDue(reportTimes: Map<string, EpochMs>, now: EpochMs): void {
  for (const [key, time] of reportTimes) {
    if (!isReportDue(now, time)) return;
    reportTimes.delete(key);
  }
}
