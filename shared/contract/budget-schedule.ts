/**
 * Tells when a disruption budget of a NodePool is in force: its schedule is a cron expression in UTC, as Karpenter
 * reads it, and it lasts for `duration` from each hit on. The fields are read as Karpenter's own reader (robfig/cron)
 * reads them; croner finds the hits.
 */
import { Cron } from 'croner';
import { toEpochMs, type DurationMs, type EpochMs } from '../domain/time.ts';

const NAMED: Readonly<Record<string, string>> = {
  '@yearly': '0 0 1 1 *',
  '@annually': '0 0 1 1 *',
  '@monthly': '0 0 1 * *',
  '@weekly': '0 0 * * 0',
  '@daily': '0 0 * * *',
  '@midnight': '0 0 * * *',
  '@hourly': '0 * * * *',
};
const MONTHS = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'] as const;
const WEEKDAYS = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'] as const;

/** A field of an expression: the least and the greatest value, and the names of values, the first for the least. */
interface Field {
  readonly least: number;
  readonly greatest: number;
  readonly names: readonly string[];
}

const FIELDS: readonly Field[] = [
  { least: 0, greatest: 59, names: [] },
  { least: 0, greatest: 23, names: [] },
  { least: 1, greatest: 31, names: [] },
  { least: 1, greatest: 12, names: MONTHS },
  { least: 0, greatest: 6, names: WEEKDAYS },
];
const PART = /^(?:[*?]|(?<from>\w+)(?<range>-(?<to>\w+))?)(?:\/(?<step>\d+))?$/;

const known = new Map<string, Cron | undefined>();

/** undefined: it cannot be read. */
function cronOf(schedule: string): Cron | undefined {
  if (known.has(schedule)) return known.get(schedule);
  const pattern = patternOf(NAMED[schedule] ?? schedule);
  const cron = pattern === undefined ? undefined : new Cron(pattern, { timezone: 'UTC', mode: '5-part', paused: true });
  if (known.size >= MAX_KNOWN) known.clear();
  known.set(schedule, cron);
  return cron;
}

/** The expression with each field as the list of its values, which croner and Karpenter read alike. */
function patternOf(schedule: string): string | undefined {
  const texts = schedule.trim().split(/\s+/);
  if (texts.length !== FIELDS.length) return undefined;
  const fields = FIELDS.map((field, index) => valuesOf(texts[index] ?? '', field));
  return fields.includes(undefined) ? undefined : fields.join(' ');
}

/**
 * `*` where any part has every value by a star: a day then has to match both day fields, else one of them. A star with a step of two or
 * more counts as a list there.
 */
function valuesOf(text: string, field: Field): string | undefined {
  const parts = text.split(',').map(part => partOf(part, field));
  if (parts.includes(undefined)) return undefined;
  return parts.includes('*') ? '*' : parts.join(',');
}

function partOf(text: string, field: Field): string | undefined {
  const groups = PART.exec(text)?.groups;
  if (groups === undefined) return undefined;
  const { from, range, to, step: steps } = groups;
  const step = steps === undefined ? 1 : Number(steps);
  if (from === undefined && step === 1) return '*';
  const first = from === undefined ? field.least : valueOf(from, field);
  const isOpen = from === undefined || (range === undefined && steps !== undefined);
  const last = isOpen ? field.greatest : valueOf(to ?? from, field);
  if (first === undefined || last === undefined || first > last || step === 0) return undefined;
  const count = Math.floor((last - first) / step) + 1;
  return Array.from({ length: count }, (_, index) => first + index * step).join(',');
}

function valueOf(text: string, { least, greatest, names }: Field): number | undefined {
  const index = names.indexOf(text.toLowerCase());
  if (index >= 0) return least + index;
  const value = /^\d+$/.test(text) ? Number(text) : Number.NaN;
  return value >= least && value <= greatest ? value : undefined;
}

const MAX_KNOWN = 1_000;

/** A time in which it is in force, and when that changes next; undefined: it cannot be read. */
export function activity(
  schedule: string,
  duration: DurationMs,
  now: EpochMs,
): { readonly isActive: boolean; readonly changes: EpochMs | undefined } | undefined {
  const cron = cronOf(schedule);
  if (cron === undefined) return undefined;
  const hit = cron.nextRun(new Date(now - duration));
  // What never comes is in force for ever, as Karpenter has it.
  if (hit === null) return { isActive: true, changes: undefined };
  const start = hit.getTime();
  return start <= now
    ? { isActive: true, changes: toEpochMs(start + duration) }
    : { isActive: false, changes: toEpochMs(start) };
}
