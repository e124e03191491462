/**
 * Reads a HealthEvent off the bus, in each form that it has: flat (the JSON of its protobuf message), in the CloudEvent of
 * NVSentinel's exporter (`data.healthEvent`), as NVSentinel stores it (`healthevent` with its status beside it), and as custom
 * resource (`spec`, `status`). Field names count without case and underscores. Fields that are not known are passed over: a newer
 * version may have more.
 */
import {
  PROCESSING_STRATEGIES,
  QUARANTINE_STATUSES,
  RECOMMENDED_ACTIONS,
  type HealthEvent,
  type QuarantineStatus,
} from '../domain/health-event.ts';
import { parseTimestamp, type EpochMs } from '../domain/time.ts';
import { parsed, type Parsed } from './policy-schema.ts';
import * as z from './zod.ts';
import { isJsonObject } from '../domain/json.ts';

export interface HealthEventMessage {
  readonly event: HealthEvent;
  /** What fault-quarantine did about it; undefined: the sender does not say. */
  readonly quarantine: QuarantineStatus | undefined;
  /** When NVSentinel stored it (`createdAt`), where the detail says so. */
  readonly createdTime?: EpochMs | undefined;
  /** Its drain is over, as NVSentinel has stored it. */
  readonly drained?: true;
}

/** Eviction statuses by which a drain is over. */
const OVER: readonly unknown[] = ['Succeeded', 'Failed', 'Cancelled', 'AlreadyDrained'];

/** Longest text of one field; the whole event is at most 1 MB anyway. */
const MAX_TEXT = 65_536;
const MAX_LIST = 1000;

const text = z._default(z.string().check(z.maxLength(MAX_TEXT)), '');
const requiredText = z.string().check(z.minLength(1), z.maxLength(253));
const flag = z._default(z.boolean(), false);

/** A number, its name, or absent (0). */
const enumeration = (names: ReadonlyMap<number, string>) =>
  z._default(
    z.pipe(
      z.union([z.int(), z.string()]),
      z.transform((value: number | string, { issues }): number => {
        if (typeof value === 'number') return value;
        const number = [...names].find(([, name]) => name === value)?.[0];
        if (number !== undefined) return number;
        issues.push({ code: 'custom', message: `must be one of ${[...names.values()].join(', ')}`, input: value });
        return z.NEVER;
      }),
    ),
    0,
  );

const timestamp = z.madeOnce(() =>
  z.union([
    z.pipe(
      z.string(),
      z.transform((value: string, { issues }): { seconds: number; nanos: number } => {
        const instant = parseTimestamp(value);
        if (instant === undefined) {
          issues.push({ code: 'custom', message: 'must be an RFC 3339 timestamp', input: value });
          return z.NEVER;
        }
        const fraction = /\.(\d{1,9})/.exec(value)?.[1] ?? '';
        return { seconds: Math.floor(instant / 1000), nanos: Number(fraction.padEnd(9, '0')) };
      }),
    ),
    z.object({
      seconds: z._default(z.int(), 0),
      nanos: z._default(z.int().check(z.minimum(0), z.maximum(999_999_999)), 0),
    }),
  ]),
);

const overrides = z.madeOnce(() => z.object({ force: flag, skip: flag }));
const entity = z.madeOnce(() => z.object({ entityType: text, entityValue: text }));

const eventSchema = z.madeOnce(() =>
  z.object({
    id: requiredText,
    nodeName: requiredText,
    version: z._default(z.union([z.int().check(z.minimum(0), z.maximum(0xffff_ffff)), z.string()]), 0),
    agent: text,
    componentClass: text,
    checkName: text,
    isFatal: flag,
    isHealthy: flag,
    message: text,
    recommendedAction: enumeration(RECOMMENDED_ACTIONS),
    customRecommendedAction: text,
    errorCode: z._default(z.array(z.string()).check(z.maxLength(MAX_LIST)), []),
    entitiesImpacted: z._default(z.array(entity()).check(z.maxLength(MAX_LIST)), []),
    metadata: z._default(z.record(z.string(), z.string()), {}),
    generatedTimestamp: z.optional(timestamp()),
    quarantineOverrides: z.optional(overrides()),
    drainOverrides: z.optional(overrides()),
    processingStrategy: enumeration(PROCESSING_STRATEGIES),
  }),
);

const statusSchema = z.madeOnce(() => z.object({ nodeQuarantined: z.optional(z.enum([...QUARANTINE_STATUSES, ''])) }));

/** Canonical names by their letters. */
const NAMES = z.madeOnce(
  () =>
    new Map(
      [
        ...Object.keys(eventSchema().shape),
        'healthEvent',
        'healthEventStatus',
        'nodeQuarantined',
        'userPodsEvictionStatus',
        'status',
        'entityType',
        'entityValue',
        'force',
        'skip',
      ].map(name => [name.toLowerCase(), name]),
    ),
);

/** Depth of a HealthEvent: entities in their list. */
const MAX_DEPTH = 4;

/** The value with its field names as this file spells them; null is absent, as in protobuf's JSON. What `metadata` holds stays as it is. */
function canonical(value: unknown, depth = 0): unknown {
  if (depth > MAX_DEPTH) return value;
  if (Array.isArray(value)) return value.map(item => canonical(item, depth + 1));
  if (!isJsonObject(value)) return value;
  const fields = Object.entries(value).filter(([, field]) => field !== null && field !== undefined);
  return Object.fromEntries(
    fields.map(([key, field]) => {
      const name = NAMES().get(key.replaceAll('_', '').toLowerCase()) ?? key;
      return [name, name === 'metadata' ? withoutNull(field) : canonical(field, depth + 1)];
    }),
  );
}

const withoutNull = (value: unknown): unknown =>
  isJsonObject(value) ? Object.fromEntries(Object.entries(value).filter(([, field]) => field !== null)) : value;

interface Envelope {
  readonly event: unknown;
  readonly status: unknown;
  /** Where the event is in the detail, for messages. */
  readonly path: string;
  readonly outerId: unknown;
  readonly createdAt?: unknown;
}

function envelopeOf(detail: unknown): Envelope {
  const outer = canonical(detail);
  if (!isJsonObject(outer)) return { event: outer, status: undefined, path: 'detail', outerId: undefined };
  const cloudEvent = canonical(outer['data']);
  if (isJsonObject(cloudEvent) && 'healthEvent' in cloudEvent) {
    return {
      event: canonical(cloudEvent['healthEvent']),
      status: cloudEvent['healthEventStatus'],
      path: 'detail.data.healthEvent',
      outerId: outer['id'],
    };
  }
  if ('healthEvent' in outer) {
    const { healthEvent, healthEventStatus, _id: storedId, createdAt } = outer;
    return {
      event: canonical(healthEvent),
      status: healthEventStatus,
      path: 'detail.healthEvent',
      outerId: outer['id'] ?? storedId,
      createdAt,
    };
  }
  if (outer['kind'] === 'HealthEventResource') {
    return { event: canonical(outer['spec']), status: outer['status'], path: 'detail.spec', outerId: undefined };
  }
  return { event: outer, status: outer['healthEventStatus'] ?? outer, path: 'detail', outerId: undefined };
}

/** Go's zero time says nothing. */
function timeOf(text: unknown): EpochMs | undefined {
  const time = typeof text === 'string' ? parseTimestamp(text) : undefined;
  return time !== undefined && time > 0 ? time : undefined;
}

/**
 * Reads the detail of a `HealthEvent`. Never throws.
 *
 * @param envelopeId id of the EventBridge event, for a HealthEvent that has none: a redelivery has the same one
 */
export function parseHealthEvent(detail: unknown, envelopeId: string | undefined): Parsed<HealthEventMessage> {
  const { event, status, path, outerId, createdAt } = envelopeOf(detail);
  const createdTime = timeOf(createdAt);
  const id = [isJsonObject(event) ? event['id'] : undefined, outerId, envelopeId].find(
    each => each !== undefined && each !== '',
  );
  const read = parsed(eventSchema().safeParse(isJsonObject(event) ? { ...event, id } : event), path);
  if (!read.ok) return read;
  const readStatus = parsed(statusSchema().safeParse(status ?? {}), path);
  if (!readStatus.ok) return readStatus;
  const { version, generatedTimestamp, quarantineOverrides, drainOverrides, ...rest } = read.value;
  return {
    ok: true,
    value: {
      event: {
        ...rest,
        version: typeof version === 'number' ? version : Number.parseInt(version.replace(/^v/, ''), 10) || 0,
        generatedTimestamp,
        quarantineOverrides,
        drainOverrides,
      },
      quarantine: readStatus.value.nodeQuarantined || undefined,
      ...(createdTime !== undefined && { createdTime }),
      ...(isOver(status) && { drained: true }),
    },
  };
}

function isOver(status: unknown): boolean {
  const eviction = isJsonObject(status) ? status['userPodsEvictionStatus'] : undefined;
  return isJsonObject(eviction) && OVER.includes(eviction['status']);
}
