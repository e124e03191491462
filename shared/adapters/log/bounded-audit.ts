/**
 * Keeps each audit line small, of every function and on its way to any log. A user can write an annotation of 250 KB. Such text must not
 * fill the log, nor forge what a terminal shows of it. What is cut says so.
 */
import type { JsonObject, JsonValue } from '../../domain/kubernetes-object.ts';
import { printable } from '../../domain/printable.ts';
import type { AuditLog, AuditRecord } from '../../ports/audit-log.ts';

/**
 * The most bytes of JSON of the message, and of all details together. With the short fields and what the logger adds, a
 * line stays below 8,000 bytes.
 */
const MAX_PART_BYTES = 3_000;
/** Each of the short fields: names, UID, reason. */
const MAX_FIELD_BYTES = 300;

/** `log` with every line cut to 8,000 bytes, and its message printable. */
export function boundedAuditLog(log: AuditLog): AuditLog {
  return { write: record => log.write(bounded(record)) };
}

function bounded({ message, details, namespace, uid, ...fields }: AuditRecord): AuditRecord {
  return {
    function: fields.function,
    decision: cutText(fields.decision, MAX_FIELD_BYTES),
    reason: cutText(fields.reason, MAX_FIELD_BYTES),
    message: cutText(printable(message), MAX_PART_BYTES),
    kind: cutText(fields.kind, MAX_FIELD_BYTES),
    ...(namespace !== undefined && { namespace: cutText(namespace, MAX_FIELD_BYTES) }),
    name: cutText(fields.name, MAX_FIELD_BYTES),
    ...(uid !== undefined && { uid: cutText(uid, MAX_FIELD_BYTES) }),
    ...(details !== undefined && { details: cutDetails(details) }),
  };
}

const sizeOf = (value: JsonValue): number => Buffer.byteLength(JSON.stringify(value));

function cutText(text: string, maxBytes: number): string {
  // A character takes at most six bytes of JSON (`\u0000`): most texts need not be measured.
  if ((text.length + 1) * 6 <= maxBytes || sizeOf(text) <= maxBytes) return text;
  const mark = `… (cut, ${text.length} characters in all)`;
  const atOnce = text.slice(0, maxBytes);
  let kept = atOnce.length;
  while (kept > 0 && sizeOf(atOnce.slice(0, kept) + mark) > maxBytes) kept = Math.floor(kept * 0.9);
  return `${atOnce.slice(0, kept).toWellFormed()}${mark}`;
}

/** The entries that fit, in order; long texts are cut, and `cut` names what was left out. */
function cutDetails(details: JsonObject): JsonObject {
  if (sizeOf(details) <= MAX_PART_BYTES) return details;
  const kept: Record<string, JsonValue> = {};
  const leftOut: string[] = [];
  let remainingBytes = MAX_PART_BYTES - MAX_FIELD_BYTES;
  for (const [key, value] of Object.entries(details)) {
    if (value === undefined) continue;
    const short = typeof value === 'string' ? cutText(value, MAX_PART_BYTES / 4) : value;
    const size = sizeOf({ [key]: short });
    if (size <= remainingBytes) {
      kept[key] = short;
      remainingBytes -= size;
    } else leftOut.push(key);
  }
  if (leftOut.length === 0) return kept;
  return { ...kept, cut: leftOut.slice(0, 5).map(key => cutText(key, 60)) };
}
