/**
 * Instants and durations are different types, both in milliseconds. Rules get `now` as an argument and never read a clock.
 * Kubernetes stores instants as RFC 3339 text with whole seconds; Go duration text is parsed in `go-duration.ts`.
 */
import { invariant } from './invariant.ts';

declare const epochMs: unique symbol;
declare const durationMs: unique symbol;

/** Milliseconds since 1970-01-01T00:00:00Z. */
export type EpochMs = number & { readonly [epochMs]: true };
/** A length of time in milliseconds; may be negative where a difference is meant. */
export type DurationMs = number & { readonly [durationMs]: true };

/** The instant `ms` milliseconds after the epoch. */
export function toEpochMs(ms: number): EpochMs {
  invariant(Number.isFinite(ms), 'an instant is a finite number');
  return ms as EpochMs;
}

/** A duration of `ms` milliseconds; Infinity means "no end". */
export function toDurationMs(ms: number): DurationMs {
  invariant(!Number.isNaN(ms), 'a duration is a number');
  return ms as DurationMs;
}

export const seconds = (count: number): DurationMs => toDurationMs(count * 1000);
export const minutes = (count: number): DurationMs => toDurationMs(count * 60_000);
export const hours = (count: number): DurationMs => toDurationMs(count * 3_600_000);

/**
 * Two clocks that differ by no more than this agree: each machine has its own, and Kubernetes cuts instants to whole
 * seconds.
 */
export const CLOCK_SKEW = seconds(5);

/** May lie before `instant`, and at Infinity for "no end". */
export function addDuration(instant: EpochMs, duration: DurationMs): EpochMs {
  return (instant + duration) as EpochMs;
}

/** The first time after `instant`. */
export const rightAfter = (instant: EpochMs): EpochMs => addDuration(instant, toDurationMs(1));

/**
 * The wait before the next try after so many in a row: `first`, then twice as long each time, `longest` at most.
 * @param times from 1
 */
export function doubledWait(first: DurationMs, times: number, longest: DurationMs): DurationMs {
  return Math.min(first * 2 ** Math.min(Math.max(times - 1, 0), MAX_DOUBLINGS), longest) as DurationMs;
}

const MAX_DOUBLINGS = 30;

/**
 * The wait before the next try of something that failed and may soon succeed: 5 s, 10 s, 20 s … the longest.
 * @param times that it failed, from 1
 */
export const retryWait = (times: number, longest = minutes(1)): DurationMs => doubledWait(seconds(5), times, longest);

/** Time from `from` to `to`; negative when `to` is earlier. */
export function durationBetween(from: EpochMs, to: EpochMs): DurationMs {
  return (to - from) as DurationMs;
}

/** Whether something due at `due` may happen at `now`: the due instant itself counts (I3: never before). */
export function isDue(now: EpochMs, due: EpochMs): boolean {
  return now >= due;
}

/** Whether `time` still comes: at the instant itself it is there. */
export const isAhead = (now: EpochMs, time: EpochMs): boolean => !isDue(now, time);

/** The time while it is ahead; undefined: it has come, or there is none. */
export const whileAhead = (now: EpochMs, time: EpochMs | undefined): EpochMs | undefined =>
  time !== undefined && isAhead(now, time) ? time : undefined;

/** A state that still holds is reported again after this long: the API server deletes an Event after an hour. */
export const REPORT_EVERY = hours(1);

/** Whether something is to be reported: it never was, or not since then. */
export const isReportDue = (now: EpochMs, reportedTime: EpochMs | undefined, every = REPORT_EVERY): boolean =>
  reportedTime === undefined || isDue(now, addDuration(reportedTime, every));

/** Whether a timer comes no later than wanted. One that is earlier than needed is kept: it comes once without need. */
export const comesInTime = (armed: EpochMs | undefined, wanted: EpochMs, now: EpochMs): boolean =>
  armed !== undefined && isAhead(now, armed) && armed <= wanted;

/** The earlier of two instants, where undefined means "never". */
export function earliest(a: EpochMs, b: EpochMs | undefined): EpochMs;
export function earliest(a: EpochMs | undefined, b: EpochMs): EpochMs;
export function earliest(a: EpochMs | undefined, b: EpochMs | undefined): EpochMs | undefined;
export function earliest(a: EpochMs | undefined, b: EpochMs | undefined): EpochMs | undefined {
  if (a === undefined) return b;
  if (b === undefined) return a;
  return a <= b ? a : b;
}

/** The later of two instants. */
export const latest = (a: EpochMs, b: EpochMs): EpochMs => (a >= b ? a : b);

const RFC3339 = /^\d{4}-\d{2}-\d{2}[Tt](?:[01]\d|2[0-3]):\d{2}:\d{2}(?:\.\d+)?(?:[Zz]|[+-]\d{2}:\d{2})$/;

/**
 * Reads RFC 3339 text (numeric offsets and fractions allowed, below a millisecond truncated); undefined when it is not one. As in Go,
 * there is no 30 February and no 24:00, which `Date.parse` would take for the day after.
 */
export function parseTimestamp(text: string): EpochMs | undefined {
  if (!RFC3339.test(text)) return undefined;
  // Every month has so many; of the others the last one is asked for.
  const day = Number(text.slice(8, 10));
  if (day > 28 && day > lastDayOf(Number(text.slice(0, 4)), Number(text.slice(5, 7)))) return undefined;
  const ms = Date.parse(text.toUpperCase());
  return Number.isNaN(ms) ? undefined : (ms as EpochMs);
}

/** @param month from 1 */
const lastDayOf = (year: number, month: number): number => new Date(Date.UTC(year, month, 0)).getUTCDate();

/** RFC 3339 with whole seconds, truncated: how Kubernetes writes `metav1.Time`. */
export function toTimestamp(instant: EpochMs): string {
  return `${toIsoText(instant).slice(0, 19)}Z`;
}

/** RFC 3339 without loss: whole seconds as Kubernetes writes them, else with milliseconds. */
export function toExactTimestamp(instant: EpochMs): string {
  return instant % 1000 === 0 ? toTimestamp(instant) : toIsoText(instant);
}

/** RFC 3339 with milliseconds. */
export function toIsoText(instant: EpochMs): string {
  return new Date(instant).toISOString();
}
