/**
 * When a disruption budget of a NodePool is in force: its schedule is a cron expression in UTC, as Karpenter reads it, and it lasts for
 * `duration` from each hit on. What is read is what both croner and Karpenter's own reader (robfig/cron) read, and mean the same by.
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
const VALUE = String.raw`(\d{1,2}|[a-z]{3})`;
const PART = String.raw`(\*|\?|${VALUE}(-${VALUE})?)(/\d{1,2})?`;
/** Five fields; croner knows more signs, and a Sunday that is 7. */
const FIELDS = new RegExp(String.raw`^\s*(${PART}(,${PART})*\s+){4}(?!(\S*[-,])?7)${PART}(,${PART})*\s*$`, 'i');

const known = new Map<string, Cron | undefined>();

/** undefined: it cannot be read. */
function cronOf(schedule: string): Cron | undefined {
  if (known.has(schedule)) return known.get(schedule);
  const pattern = NAMED[schedule] ?? (FIELDS.test(schedule) ? schedule : undefined);
  let cron: Cron | undefined;
  try {
    cron =
      pattern === undefined
        ? undefined
        : new Cron(pattern, { timezone: 'UTC', mode: '5-part', sloppyRanges: true, paused: true });
  } catch {
    // No schedule: whoever asks says so.
    cron = undefined;
  }
  if (known.size >= MOST_KNOWN) known.clear();
  known.set(schedule, cron);
  return cron;
}

const MOST_KNOWN = 1_000;

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
