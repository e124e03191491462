/** What phases an item is in: for each of its parts the words of closed lists that stand in it, together and with each other field. */
import type { JsonValue } from '../../shared/domain/kubernetes-object.ts';
import { isJsonObject } from '../../shared/domain/json.ts';
import type { StoredRecord } from '../../shared/ports/record-store.ts';

/** Fields whose values are words of a closed list. */
const WORDS = ['action', 'at', 'cordon', 'kind', 'onTimeout', 'phase', 'reason', 'requestedBy', 'scope', 'status'];
/** What users wrote: its shape is theirs. */
const CONTENT = ['spec', 'good', 'event', 'metadata'];
/** Of a termination: the step that it is at, and what it waits for. */
const STEP = /^[A-Za-z -]{1,40}(?=: )/;

/** The type of an item: `finalizer/nodeclaim`. */
export const typeOf = ({ owner, id }: Pick<StoredRecord, 'owner' | 'id'>): string => `${owner}/${id.split('/')[0]}`;

/** A text for each phase; the same phase has the same text in every cluster. */
export function phasesOf(
  record: Pick<StoredRecord, 'owner' | 'id' | 'state' | 'nextWakeTime' | 'hasOwnMessage'>,
): readonly string[] {
  const found = new Set<string>();
  visit(record.state, '', found);
  const timer = record.nextWakeTime === undefined ? 'none' : record.hasOwnMessage === true ? 'direct' : 'swept';
  return [...found, `timer ${timer}`].map(shape => `${typeOf(record)} ${shape}`);
}

function visit(value: JsonValue | undefined, path: string, found: Set<string>): void {
  if (Array.isArray(value)) {
    found.add(`${path}[${value.length > 1 ? 'several' : value.length}]`);
    for (const entry of value) visit(entry, `${path}[]`, found);
    return;
  }
  if (!isJsonObject(value)) return;
  const fields = Object.entries(value);
  const words = fields.flatMap(([key, entry]) => wordOf(key, entry)).join(' ');
  found.add(`${path}{${words}}`);
  for (const [key] of fields) if (!isName(key, fields.length)) found.add(`${path}{${words} ${key}}`);
  for (const [key, entry] of fields) {
    if (!CONTENT.includes(key)) visit(entry, `${path}.${isName(key, fields.length) ? '*' : key}`, found);
  }
}

/** Whether a key is the name of something in the cluster, not a field. */
const isName = (key: string, of: number): boolean =>
  /[^A-Za-z]/.test(key) || (of === 1 && /^(one|[a-z]\d*)$/.test(key));

function wordOf(key: string, value: JsonValue | undefined): readonly string[] {
  if (typeof value === 'boolean') return [`${key}=${value}`];
  if (typeof value !== 'string') return [];
  if (key === 'reported') return [`${key}=${STEP.exec(value)?.[0] ?? 'said'}`];
  return WORDS.includes(key) && /^[A-Za-z]+$/.test(value) ? [`${key}=${value}`] : [];
}
