/** NVSentinel's annotation on a Node: the HealthEvents that keep it quarantined. */
import { parseHealthEvent } from '../../shared/contract/health-event.ts';
import { isJsonObject, readJson } from '../../shared/domain/json.ts';
import { faultOf } from './faults.ts';
import type { Fault } from './request-record.ts';

/** Ids of the HealthEvents in the annotation; entries without one name none. */
export function quarantineIds(text: string): readonly string[] | 'unreadable' {
  const value = readJson(text);
  if (!Array.isArray(value)) return 'unreadable';
  return (value as readonly unknown[]).flatMap(each => {
    const id = typeof each === 'object' && each !== null && 'id' in each ? each.id : undefined;
    return typeof id === 'string' && id !== '' ? [id] : [];
  });
}

/** More entries than a node has checks are not read. */
const MAX_ENTRIES = 1000;

/** The faults that the annotation lists. Never throws. */
export function listedFaults(text: string | undefined): readonly Fault[] {
  const entries = readJson(text);
  if (!Array.isArray(entries)) return [];
  return entries.slice(0, MAX_ENTRIES).flatMap((entry: unknown) => {
    const read = isJsonObject(entry) ? parseHealthEvent({ nodeName: 'any', id: 'any', ...entry }) : undefined;
    return read?.ok === true ? [faultOf(read.value.event)] : [];
  });
}
