/** What a schedule left behind, without what differs from run to run: versions, the instants of the runs themselves, Events. */
import type { JsonObject, KubernetesObject } from '../../shared/domain/kubernetes-object.ts';
import type { TouchedObject } from './explored-cluster.ts';
import type { StoredRecord } from '../../shared/ports/record-store.ts';
import { annotationOf, TERMINATION_TIMESTAMP } from '../invariants/reading.ts';

/** Lines of text, sorted; two schedules ended alike when theirs are equal. */
export type EndState = readonly string[];

/** @param volatile fields of records that count what was tried, and not what came of it */
export function endStateOf(
  touched: readonly TouchedObject[],
  records: readonly StoredRecord[],
  volatile: readonly string[],
): EndState {
  const lines: string[] = [];
  for (const { thing, original, current } of touched) {
    if (thing.startsWith('events/')) continue;
    const text = current && canonical(withoutRunTimes(current));
    if (text !== (original && canonical(withoutRunTimes(original)))) lines.push(`${thing} ${text ?? 'is gone'}`);
  }
  for (const { owner, id, state, subject, nextWakeTime } of records) {
    const timer = nextWakeTime === undefined ? 'without timer' : 'with timer';
    lines.push(`record ${owner} ${id} ${timer} about ${subject.name}: ${canonical(withoutInstants(state, volatile))}`);
  }
  return lines.toSorted();
}

/** What stands in one and not in the other. */
export function differenceOf(actual: EndState, expected: EndState): readonly string[] {
  return [
    ...expected.filter(line => !actual.includes(line)).map(line => `- ${line}`),
    ...actual.filter(line => !expected.includes(line)).map(line => `+ ${line}`),
  ];
}

/** What differs from run to run. */
const IGNORED: ReadonlySet<string> = new Set(['resourceVersion', 'managedFields', 'generation', 'creationTimestamp']);

function withoutRunTimes(object: KubernetesObject): JsonObject {
  const { deletionTimestamp, annotations } = object.metadata;
  const metadata = Object.fromEntries(Object.entries(object.metadata).filter(([key]) => !IGNORED.has(key)));
  // When it was set is when its run was at work.
  const isForced = annotationOf(object, TERMINATION_TIMESTAMP) !== undefined;
  const marks = { ...annotations, ...(isForced && { [TERMINATION_TIMESTAMP]: 'set' }) };
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

function withoutInstants(value: unknown, volatile: readonly string[]): unknown {
  if (typeof value === 'number') return value > FIRST_INSTANT ? 'an instant' : value;
  if (typeof value === 'string') return RFC_3339.test(value) ? 'an instant' : value;
  if (Array.isArray(value)) return value.map(item => withoutInstants(item, volatile));
  if (typeof value !== 'object' || value === null) return value;
  const fields = Object.entries(value).filter(([key]) => !volatile.includes(key));
  return Object.fromEntries(fields.map(([key, field]) => [key, withoutInstants(field, volatile)]));
}

/** JSON with sorted keys. */
function canonical(value: unknown): string {
  return JSON.stringify(value, (_, field: unknown) =>
    typeof field === 'object' && field !== null && !Array.isArray(field)
      ? Object.fromEntries(Object.entries(field).toSorted(([a], [b]) => (a < b ? -1 : 1)))
      : field,
  );
}
