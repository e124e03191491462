/**
 * What a schedule left behind, without what differs from run to run: versions and the instants of the runs themselves. Of Events counts
 * the object and the reason: a message may be older than the next one, and a count depends on who looked how often.
 */
import type { JsonObject, KubernetesObject } from '../../shared/domain/kubernetes-object.ts';
import type { TouchedObject } from './explored-cluster.ts';
import type { StoredRecord } from '../../shared/ports/record-store.ts';
import type { Situation } from './situation.ts';
import { annotationOf, dig, listOf, textOf, TERMINATION_TIMESTAMP } from '../invariants/reading.ts';

/** Lines of text, sorted. */
type Lines = readonly string[];

export interface EndState {
  readonly world: Lines;
  /** The same without the fields that a run that dies leaves uncounted. */
  readonly uncounted: Lines;
  readonly events: Lines;
}

/**
 * @param instances each with its state
 * @param uncounted paths of such fields in records, without the places in lists: `attempt.number`; `inexact` likewise
 */
export function endStateOf(
  touched: readonly TouchedObject[],
  records: readonly StoredRecord[],
  instances: readonly (readonly [providerID: string, state: string])[],
  {
    uncounted = [],
    inexact = [],
    caches = [],
    passing = [],
  }: Pick<Situation, 'uncounted' | 'inexact' | 'caches' | 'passing'>,
): EndState {
  const [objects, events]: [string[], string[]] = [[], []];
  for (const { thing, original, current } of touched) {
    if (thing.startsWith('events/')) {
      if (current !== undefined && !passing.includes(textOf(dig(current, 'reason')) ?? ''))
        events.push(`Event ${eventOf(current)}`);
      continue;
    }
    const text = current && canonical(withoutRunTimes(current));
    if (text !== (original && canonical(withoutRunTimes(original)))) objects.push(`${thing} ${text ?? 'is gone'}`);
  }
  const compared = records.filter(record => !caches.includes(record.id) && !isIdleRound(record));
  const linesWithout = (paths: readonly string[]): Lines =>
    [
      ...objects,
      ...instances.map(([providerID, state]) => `instance ${providerID} ${state}`),
      ...compared.map(record => describeRecord(record, paths)),
    ].toSorted();
  return {
    world: linesWithout(inexact),
    uncounted: linesWithout([...inexact, ...uncounted]),
    events: [...new Set(events)].toSorted(),
  };
}

/** A round of which nothing is under way, and for which nobody waits, is there only until the sweep. */
const isIdleRound = ({ id, state }: StoredRecord): boolean =>
  id.startsWith('round/') && listOf(state['waiting']).length + listOf(state['underWay']).length === 0;

function describeRecord({ owner, id, state, subject, nextWakeTime }: StoredRecord, without: readonly string[]): string {
  const timer = nextWakeTime === undefined ? 'without timer' : 'with timer';
  return `record ${owner} ${id} ${timer} about ${subject.name}: ${canonical(withoutInstants(state, without))}`;
}

/**
 * What is in the end state and not in the nearest of those expected, and the other way round; empty where it is one of them. A run
 * that dies has perhaps not counted, and not said, what it had done: reports come after the effect, and are not repeated. What is
 * said must be what some order says: a run that looked before a change says what was so then.
 */
export function differenceFrom(actual: EndState, expected: readonly EndState[], isCrashed: boolean): Lines {
  const linesOf = ({ world, uncounted, events }: EndState): Lines => (isCrashed ? uncounted : [...world, ...events]);
  const without = (lines: Lines, others: Lines): Lines => lines.filter(line => !others.includes(line));
  const sayable = expected.flatMap(({ events }) => events);
  const unheardOf = without(actual.events, sayable).map(line => `+ ${line}`);
  const differences = expected.map(each => [
    ...without(linesOf(each), linesOf(actual)).map(line => `- ${line}`),
    ...without(without(linesOf(actual), linesOf(each)), actual.events).map(line => `+ ${line}`),
    ...unheardOf,
  ]);
  return differences.toSorted((a, b) => a.length - b.length)[0] ?? [];
}

function eventOf(event: KubernetesObject): string {
  const about = dig(event, 'involvedObject');
  const parts = [
    dig(about, 'kind'),
    dig(about, 'namespace'),
    dig(about, 'name'),
    dig(about, 'uid'),
    dig(event, 'reason'),
  ];
  return parts.flatMap(part => textOf(part) ?? []).join(' ');
}

const LAST_REBOOT = 'curfew.dev/last-reboot';

/** What differs from run to run. */
const IGNORED: ReadonlySet<string> = new Set(['resourceVersion', 'managedFields', 'generation', 'creationTimestamp']);
/** The same anywhere in an object: instants, and pods that were evicted, each with its instant. */
const INSTANTS: ReadonlySet<string> = new Set(['lastTransitionTime', 'lastHeartbeatTime', 'disruptedPods']);

function withoutRunTimes(object: KubernetesObject): JsonObject {
  const { deletionTimestamp, annotations } = object.metadata;
  const metadata = Object.fromEntries(Object.entries(object.metadata).filter(([key]) => !IGNORED.has(key)));
  // When it was set is when its run was at work.
  const isForced = annotationOf(object, TERMINATION_TIMESTAMP) !== undefined;
  const reboot = annotationOf(object, LAST_REBOOT)?.replace(/"time":"[^"]*"/, '"time":"set"');
  const marks = {
    ...annotations,
    ...(isForced && { [TERMINATION_TIMESTAMP]: 'set' }),
    ...(reboot !== undefined && { [LAST_REBOOT]: reboot }),
  };
  return {
    ...object,
    metadata: {
      ...metadata,
      // None and an empty map are the same.
      annotations: Object.keys(marks).length === 0 ? null : marks,
      ...(deletionTimestamp !== undefined && { deletionTimestamp: 'set' }),
    },
  };
}

/** Instants in records are mostly those of the runs that wrote them. */
const FIRST_INSTANT = Date.parse('2000-01-01T00:00:00Z');
const RFC_3339 = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/;

function withoutInstants(value: unknown, without: readonly string[], path = ''): unknown {
  if (typeof value === 'number') return value > FIRST_INSTANT ? 'an instant' : value;
  if (typeof value === 'string') return RFC_3339.test(value) ? 'an instant' : value;
  if (Array.isArray(value)) return value.map(item => withoutInstants(item, without, path));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).flatMap(([key, field]) => {
      const own = path === '' ? key : `${path}.${key}`;
      return without.includes(own) ? [] : [[key, withoutInstants(field, without, own)]];
    }),
  );
}

/** JSON with sorted keys, without the instants of transitions. */
function canonical(value: unknown): string {
  return JSON.stringify(value, (key, field: unknown) => {
    if (INSTANTS.has(key)) return undefined;
    if (typeof field !== 'object' || field === null || Array.isArray(field)) return field;
    return Object.fromEntries(Object.entries(field).toSorted(([a], [b]) => (a < b ? -1 : 1)));
  });
}
