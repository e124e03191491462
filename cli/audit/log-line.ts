/** An audit line as a log has it, as a line of a trace: bare, behind a time stamp, or wrapped as CloudWatch exports it. */
import { at, textAt } from '../../packages/timeline/src/day/objects.ts';
import { traceLine, type LineOf } from '../../packages/timeline/src/trace/lines.ts';

/** undefined: the line is of somebody else. */
export function toAuditLine(value: unknown): unknown {
  const message = at(value, 'message');
  // `aws logs filter-log-events` and exports wrap the line as text.
  if (at(value, 'audit') !== true && typeof message === 'string' && message.trimStart().startsWith('{'))
    return toAuditLine(JSON.parse(message));
  const wrapped = at(value, '@message');
  if (typeof wrapped === 'string') return toAuditLine(JSON.parse(wrapped));
  if (at(value, 'audit') !== true) return textAt(value, 't') === undefined ? undefined : value;
  const {
    level: _,
    timestamp,
    service: __,
    audit: ___,
    auditVersion: ____,
    kind,
    namespace,
    name,
    uid,
    ...record
  } = asRecord(value);
  return { t: timestamp, ...record, kind: 'audit', namespace, name, uid, about: { kind, namespace, name, uid } };
}

/** The decision in a line of a log; undefined: it has none. */
export function readAuditLine(text: string): LineOf<'audit'> | undefined {
  let value: unknown;
  try {
    value = toAuditLine(JSON.parse(text));
  } catch {
    return undefined;
  }
  const parsed = traceLine.safeParse(value);
  return parsed.success && parsed.data.kind === 'audit' ? parsed.data : undefined;
}

const asRecord = (value: unknown): Record<string, unknown> =>
  typeof value === 'object' && value !== null ? { ...value } : {};
