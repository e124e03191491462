/**
 * Times in built-in kinds. Go decodes them, and writes them back in its own way: `Time` in whole seconds of UTC, `MicroTime` with six
 * digits, which it also insists on when reading. (In custom resources times are texts, and stay as they are.)
 */
/** Fields of type `metav1.Time` wherever they occur in the served kinds. */
const TIMES = new Set([
  'completionTime',
  'creationTimestamp',
  'deletionTimestamp',
  'finishedAt',
  'firstTimestamp',
  'lastHeartbeatTime',
  'lastProbeTime',
  'lastScheduleTime',
  'lastSuccessfulTime',
  'lastTimestamp',
  'lastTransitionTime',
  'lastUpdateTime',
  'startTime',
  'startedAt',
  'timeAdded',
]);
/** Fields of type `metav1.MicroTime`. */
const MICRO_TIMES = new Set(['acquireTime', 'eventTime', 'lastObservedTime', 'renewTime']);

const RFC3339 = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/;
const RFC3339_MICRO = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}(Z|[+-]\d\d:\d\d)$/;
const ZERO_TIME = /^0001-01-01T00:00:00(\.0+)?(Z|[+-]00:00)$/;
const SECONDS_LENGTH = '2024-11-01T15:00:00'.length;
const CANONICAL_LENGTH = SECONDS_LENGTH + 1;

/** A text that Go cannot read as a time. */
export class UnreadableTime extends Error {
  override readonly name = 'UnreadableTime';
}

/**
 * What is stored for a text field of this name: the text itself unless the field is a time that is written in another way.
 * @throws UnreadableTime
 */
export function normalTime(field: string, text: string): string {
  if (TIMES.has(field)) return toSeconds(text);
  if (MICRO_TIMES.has(field)) return toMicroseconds(text);
  return text;
}

/** Whether a field of this name has Go's zero time, which `metav1.Time` writes as null: no time at all. */
export const isZeroTime = (field: string, value: unknown): boolean =>
  TIMES.has(field) && typeof value === 'string' && ZERO_TIME.test(value);

/** The last time read, and as it is kept: heartbeats bring the same time many times over. */
let lastRead = { text: '', kept: '' };

function toSeconds(text: string): string {
  if (text !== lastRead.text) lastRead = { text, kept: readSeconds(text) };
  return lastRead.kept;
}

function readSeconds(text: string): string {
  const epochMs = RFC3339.test(text) ? Date.parse(text) : Number.NaN;
  if (Number.isNaN(epochMs)) throw unreadable(text, '2006-01-02T15:04:05Z07:00', 'Z07:00');
  if (text.length === CANONICAL_LENGTH) return text;
  return `${new Date(epochMs).toISOString().slice(0, SECONDS_LENGTH)}Z`;
}

function toMicroseconds(text: string): string {
  const epochMs = RFC3339_MICRO.test(text) ? Date.parse(text) : Number.NaN;
  if (Number.isNaN(epochMs)) throw unreadable(text, '2006-01-02T15:04:05.000000Z07:00', '.000000');
  if (text.endsWith('Z')) return text;
  const fraction = text.slice(SECONDS_LENGTH, SECONDS_LENGTH + '.000000'.length);
  return `${new Date(epochMs).toISOString().slice(0, SECONDS_LENGTH)}${fraction}Z`;
}

const TO_THE_SECOND = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d/;

/** Go names the part of the layout at which it gave up: the year, or what should have come after the second. */
function unreadable(text: string, layout: string, afterSeconds: string): UnreadableTime {
  const readable = TO_THE_SECOND.test(text);
  const [rest, part] = readable ? [text.slice(SECONDS_LENGTH), afterSeconds] : [text, '2006'];
  return new UnreadableTime(`parsing time "${text}" as "${layout}": cannot parse "${rest}" as "${part}"`);
}
