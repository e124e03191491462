/** Numbers and times as words. */
export const unitOf = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? '' : 's'}`;

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;

/** `55 min`, `17 h`, `2 h 30 min`, `5 s`: two units at most, rounded down. */
export function spanText(ms: number): string {
  if (ms >= HOUR) {
    const [hours, minutes] = [Math.floor(ms / HOUR), Math.floor((ms % HOUR) / MINUTE)];
    return minutes === 0 || hours >= 10 ? `${hours} h` : `${hours} h ${minutes} min`;
  }
  if (ms >= MINUTE) {
    const [minutes, seconds] = [Math.floor(ms / MINUTE), Math.floor((ms % MINUTE) / SECOND)];
    return seconds === 0 || minutes >= 10 ? `${minutes} min` : `${minutes} min ${seconds} s`;
  }
  return `${Math.floor(ms / SECOND)} s`;
}

/** `18:30:00`; UTC. */
export const clockText = (time: number): string => new Date(time).toISOString().slice(11, 19);
/** `18:30`, with seconds where there are any. */
export const shortClock = (time: number): string => {
  const text = clockText(time);
  return text.endsWith(':00') ? text.slice(0, 5) : text;
};

const DAYS = ['Sun', 'Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat'];
const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];
/** `Fri 1 Nov`; UTC. */
export function dayText(time: number): string {
  const date = new Date(time);
  return `${DAYS[date.getUTCDay()] ?? ''} ${date.getUTCDate()} ${MONTHS[date.getUTCMonth()] ?? ''}`;
}

/** What a guard is called in a sentence. */
const GUARDS: Readonly<Record<string, string>> = {
  ZoneOutage: 'a zone outage',
  ClusterConcurrencyBudget: 'the limit of the cluster',
  ZoneConcurrencyBudget: 'the limit of a zone',
  ConcurrencyBudget: 'the limit of its pool',
  UnhealthyThreshold: 'maxUnhealthy',
  DisruptionBudget: 'a disruption budget',
  BeingDisrupted: 'others at work',
  Settling: 'settling',
  RampUp: 'the ramp after a hold',
  ClusterFreeze: 'a freeze of the cluster',
  FutileRepairs: 'repairs that did not help',
  ActionsExhausted: 'a ladder at its end',
  ReplacementUnavailable: 'replacements that do not come',
  NotConfirmed: 'a missing confirmation',
  DoNotRepair: 'do-not-repair',
  Observe: 'mode Observe',
};
export const guardName = (guard: string): string => GUARDS[guard] ?? guard;

/** That a kind is not served, from the message of the wait for it. */
export const notServedText = ({ detail }: { readonly detail: string }): string =>
  `${/serves? (\w+)/.exec(detail)?.[1] ?? 'the custom resource'} is not served${/ in (.*), not in (\S+):/.test(detail) ? ' in the version that is asked for' : ''}`;
