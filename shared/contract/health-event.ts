/**
 * Reads a HealthEvent off the bus, in each form that it has:
 *
 * - flat: the JSON of its protobuf message
 * - in the CloudEvent of NVSentinel's exporter (`data.healthEvent`)
 * - as NVSentinel stores it (`healthevent` with its status beside it)
 * - as a custom resource (`spec`, `status`)
 *
 * Field names count without case and underscores. Unknown fields are passed over: a newer version may have more.
 */
import { createHash } from 'node:crypto';
import type { HealthEvent, QuarantineStatus } from '../domain/health-event.ts';
import { isJsonObject } from '../domain/json.ts';
import { parseTimestamp, toEpochMs, type EpochMs } from '../domain/time.ts';
import { plainJson } from './extended-json.ts';
import { eventSchema, statusSchema } from './health-event-schema.ts';
import { parsed, type ParseResult } from './policy-schema.ts';
import * as z from './zod.ts';

/** In which a HealthEvent comes. What an absent field means differs by it. */
export type HealthEventForm = 'flat' | 'cloudEvent' | 'stored' | 'resource';

export interface HealthEventMessage {
  readonly event: HealthEvent;
  readonly form: HealthEventForm;
  /** The answer of fault-quarantine to the event; undefined: the sender does not say. */
  readonly quarantine: QuarantineStatus | undefined;
  /** Undefined: not stated. `event` has it as false then, as templates see it. */
  readonly isFatal: boolean | undefined;
  /** `recommendedAction` is stated, as NONE. */
  readonly recommendsNone: boolean;
  /** The clusters that the message says it is from: the detail's own `cluster`, the CloudEvent's `data.metadata.cluster` and `source`. */
  readonly clusters: readonly string[];
  /**
   * Time at which NVSentinel stored the event (`createdAt`), if the detail says so; of a custom resource the time of
   * its creation.
   */
  readonly createdTime?: EpochMs | undefined;
  /** The CloudEvent's `time`. */
  readonly exportedTime?: EpochMs | undefined;
  /** Its drain is over, as NVSentinel has stored it. */
  readonly drained?: true;
}

/** The fields of the bus message around the detail. */
export interface HealthEventEnvelope {
  readonly id?: string | undefined;
  readonly time?: EpochMs | undefined;
}

/** Eviction statuses by which a drain is over. */
const OVER: readonly unknown[] = ['Succeeded', 'Failed', 'Cancelled', 'AlreadyDrained'];

/** Stands for no status at all: NVSentinel's parser writes it where there is none. */
const NO_STATUS: readonly (string | undefined)[] = ['', 'NotStarted', undefined];

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
        'createdAt',
        'entityType',
        'entityValue',
        'force',
        'skip',
      ].map(name => [name.toLowerCase(), name]),
    ),
);

/** Depth of a HealthEvent: entities in their list. */
const MAX_DEPTH = 4;

/** The value with its field names as this file spells them; null is absent, as in protobuf's JSON. What is in `metadata` stays as it is. */
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

interface Layers {
  readonly form: HealthEventForm;
  readonly event: unknown;
  readonly status: unknown;
  /** Path of the event in the detail, for messages. */
  readonly path: string;
  /** The id under which the event is stored. */
  readonly storedId?: unknown;
  readonly createdAt?: unknown;
  /** From the CloudEvent. */
  readonly exported?: { readonly id: unknown; readonly time: unknown };
  readonly clusters: readonly unknown[];
}

function layersOf(detail: unknown): Layers {
  const outer = canonical(plainJson(detail));
  if (!isJsonObject(outer)) return { form: 'flat', event: outer, status: undefined, path: 'detail', clusters: [] };
  const { cluster, data: cloudEvent } = outer;
  const data = canonical(cloudEvent);
  if (isJsonObject(data) && 'healthEvent' in data) {
    const metadata = isJsonObject(data['metadata']) ? data['metadata'] : {};
    return {
      form: 'cloudEvent',
      event: canonical(data['healthEvent']),
      status: data['healthEventStatus'],
      path: 'detail.data.healthEvent',
      createdAt: data['createdAt'],
      exported: { id: outer['id'], time: outer['time'] },
      clusters: [cluster, metadata['cluster'], clusterOfSource(outer['source'])],
    };
  }
  // A change stream has the document in `fullDocument`, PostgreSQL's table in `document`.
  for (const key of ['fullDocument', 'document']) {
    const inner = canonical(outer[key]);
    if (isJsonObject(inner) && 'healthEvent' in inner) {
      return storedLayers({ ...inner, id: inner['id'] ?? outer['id'] }, `detail.${key}.healthEvent`, cluster);
    }
  }
  if ('healthEvent' in outer) {
    // NVSentinel stores each event with a status beside it: one that has neither status nor key of a document was not stored.
    const isStored = isJsonObject(outer['healthEventStatus']) || outer['_id'] !== undefined;
    return { ...storedLayers(outer, 'detail.healthEvent', cluster), form: isStored ? 'stored' : 'flat' };
  }
  if (outer['kind'] === 'HealthEventResource') {
    const metadata = isJsonObject(outer['metadata']) ? outer['metadata'] : {};
    return {
      form: 'resource',
      event: canonical(outer['spec']),
      status: outer['status'],
      path: 'detail.spec',
      storedId: metadata['uid'],
      createdAt: metadata['creationTimestamp'],
      clusters: [cluster],
    };
  }
  return {
    form: 'flat',
    event: outer,
    status: outer['healthEventStatus'] ?? outer,
    path: 'detail',
    createdAt: outer['createdAt'],
    clusters: [cluster],
  };
}

function storedLayers(document: Readonly<Record<string, unknown>>, path: string, cluster: unknown): Layers {
  const { healthEvent, healthEventStatus, _id: documentId, id, createdAt } = document;
  return {
    form: 'stored',
    event: canonical(healthEvent),
    status: healthEventStatus,
    path,
    storedId: id ?? documentId,
    createdAt,
    clusters: [cluster, document['cluster']],
  };
}

/** `nvsentinel://CLUSTER/healthevents`; any other source names no cluster. */
const clusterOfSource = (source: unknown): string | undefined =>
  typeof source === 'string' ? /^nvsentinel:\/\/([^/?#]+)/.exec(source)?.[1] : undefined;

/** The last instant that RFC 3339 can write. */
const LATEST_TIME = Date.UTC(9999, 11, 31);

/** RFC 3339 text, or protobuf's `{seconds, nanos}`. Go's zero time says nothing, and nor does what no calendar has. */
function timeOf(value: unknown): EpochMs | undefined {
  const read = isJsonObject(value)
    ? Number(value['seconds'] ?? 0) * 1000 + Math.floor(Number(value['nanos'] ?? 0) / 1e6)
    : typeof value === 'string'
      ? parseTimestamp(value)
      : undefined;
  return read !== undefined && read > 0 && read <= LATEST_TIME ? toEpochMs(read) : undefined;
}

/** Time at which the monitor made the event (`generatedTimestamp`), in whole milliseconds. */
export const generatedTimeOf = ({ generatedTimestamp }: Pick<HealthEvent, 'generatedTimestamp'>): EpochMs | undefined =>
  timeOf(generatedTimestamp);

/**
 * Reads the detail of a `HealthEvent`. Never throws.
 *
 * An event without an id of its own gets one that is made of what it says and when. So it stays the same event, however often it is
 * exported again, and under whatever id of an envelope.
 */
export function parseHealthEvent(detail: unknown, envelope: HealthEventEnvelope = {}): ParseResult<HealthEventMessage> {
  const layers = layersOf(detail);
  const { event, form, status, path } = layers;
  const given = isJsonObject(event) && !isStated(event['id']) ? { ...event, id: layers.storedId } : event;
  const read = parsed(eventSchema().safeParse(withoutEmptyId(given)), path);
  if (!read.ok) return read;
  const readStatus = parsed(statusSchema().safeParse(status ?? {}), path);
  if (!readStatus.ok) return readStatus;
  const { id, version, isFatal, recommendedAction, processingStrategy, generatedTimestamp, ...content } = read.value;
  const { quarantineOverrides, drainOverrides, ...fields } = content;
  const known = {
    ...fields,
    isFatal: isFatal ?? false,
    version: typeof version === 'number' ? version : Number.parseInt(version.replace(/^v/, ''), 10) || 0,
    recommendedAction: recommendedAction.number,
    ...(recommendedAction.name !== undefined && { recommendedActionName: recommendedAction.name }),
    processingStrategy: processingStrategy.number,
    generatedTimestamp,
    quarantineOverrides,
    drainOverrides,
  };
  const createdTime = timeOf(layers.createdAt);
  const exportedTime = timeOf(layers.exported?.time);
  const made = id ?? madeId(known, layers, { createdTime, exportedTime, sentTime: envelope.time }, envelope);
  if (made === undefined) return { ok: false, message: `${path}.id: is missing, string expected` };
  const { nodeQuarantined } = readStatus.value;
  return {
    ok: true,
    value: {
      event: { ...known, id: made },
      form,
      quarantine: NO_STATUS.includes(nodeQuarantined) ? undefined : nodeQuarantined,
      isFatal,
      recommendsNone: recommendedAction.number === 0 && isJsonObject(event) && event['recommendedAction'] !== undefined,
      clusters: [...new Set(layers.clusters.filter(isStated))],
      ...(createdTime !== undefined && { createdTime }),
      ...(exportedTime !== undefined && { exportedTime }),
      ...(isOver(status) && { drained: true }),
    },
  };
}

const isStated = (text: unknown): text is string => typeof text === 'string' && text !== '';

/** An empty id is none; one that is no text is said to be wrong. */
const withoutEmptyId = (event: unknown): unknown =>
  isJsonObject(event) && (event['id'] === '' || event['id'] === null || event['id'] === undefined)
    ? Object.fromEntries(Object.entries(event).filter(([key]) => key !== 'id'))
    : event;

/** Characters of the digest: as many bits as a UUID has. */
const ID_LENGTH = 32;

/**
 * By the first clock that the event states, whether or not it is ahead: the same event states the same. Without any time the id of the
 * CloudEvent, or of the message.
 */
function madeId(
  event: Omit<HealthEvent, 'id'>,
  { exported }: Layers,
  times: {
    readonly createdTime: EpochMs | undefined;
    readonly exportedTime: EpochMs | undefined;
    readonly sentTime: EpochMs | undefined;
  },
  envelope: HealthEventEnvelope,
): string | undefined {
  const time = generatedTimeOf(event) ?? times.createdTime ?? times.exportedTime ?? times.sentTime;
  if (time === undefined) return isStated(exported?.id) ? exported.id : envelope.id;
  const { nodeName, agent, componentClass, checkName, isHealthy, errorCode, entitiesImpacted } = event;
  const codes = errorCode.toSorted();
  const entities = entitiesImpacted.map(({ entityType, entityValue }) => `${entityType}/${entityValue}`).toSorted();
  const identity = JSON.stringify([nodeName, agent, componentClass, checkName, isHealthy, codes, entities, time]);
  return createHash('sha256').update(identity).digest('hex').slice(0, ID_LENGTH);
}

function isOver(status: unknown): boolean {
  const eviction = isJsonObject(status) ? status['userPodsEvictionStatus'] : undefined;
  return isJsonObject(eviction) && OVER.includes(eviction['status']);
}
