/** Everything that can stand in an inbox, parsed once at the edge. */
import * as z from './zod.ts';
import { clusterEventSchema, type ClusterEvent } from './cluster-event.ts';
import { envelopeSchema } from './envelope.ts';
import {
  CUSTOM_RESOURCE_CHANGED,
  DRAIN_RESOURCE_CHANGED,
  HOOK_RESOURCE_CHANGED,
  REMEDIATION_CHANGED,
  SOURCES,
  TICK,
  WAKE_UP,
  type FunctionName,
} from './names.ts';
import { WATCHED_KINDS, type WatchedKind } from './resources.ts';
import { wakeUpSchema } from './wake-up.ts';
import type { Subject } from './subject.ts';
import { parseTimestamp, type EpochMs } from '../domain/time.ts';
import { TerminalError } from '../errors.ts';

/** A cluster event about one of our watched kinds. */
export type WatchedEvent = ClusterEvent & { readonly subject: { readonly kind: WatchedKind } };

export type InboxMessage =
  | { readonly kind: 'clusterEvent'; readonly event: WatchedEvent }
  /** About an object whose kind a FinalizerRule, the custom drain, an action of repairs or a hook names. */
  | { readonly kind: 'customResource'; readonly event: ClusterEvent }
  | {
      readonly kind: 'wakeUp';
      readonly owner: FunctionName;
      readonly subject: Subject;
      readonly wakeTime: EpochMs;
      readonly repeated?: boolean | undefined;
    }
  | { readonly kind: 'tick' }
  /** An event of another function or of a third party; the function that is routed to it parses the detail. */
  | {
      readonly kind: 'busEvent';
      readonly id: string | undefined;
      /** Time at which it was published, to the second; undefined: the envelope does not say. */
      readonly time?: EpochMs | undefined;
      /** Time at which this function received it first: a redelivery does not change it, and sending it again does. */
      readonly receivedTime?: EpochMs | undefined;
      readonly source: string;
      readonly detailType: string;
      readonly detail: Readonly<Record<string, unknown>>;
    };

/** Reads one inbox body. Throws `TerminalError` (`InvalidMessage`) that says what is wrong and where. */
export function parseInboxMessage(body: string): InboxMessage {
  const envelope = parse(envelopeSchema, parseJson(body), 'envelope');
  const { source, 'detail-type': detailType, detail } = envelope;
  if (source === SOURCES.forwarder) {
    const isCustom = CUSTOM_DETAIL_TYPES.includes(detailType);
    const what = `detail of ${detailType}`;
    return isCustom
      ? { kind: 'customResource', event: parse(clusterEventSchema, detail, what) }
      : { kind: 'clusterEvent', event: parse(watchedEventSchema, detail, what) };
  }
  if (source === SOURCES.timer && detailType === TICK) return { kind: 'tick' };
  if (source === SOURCES.timer && detailType === WAKE_UP) {
    const { owner, subject, wakeTime, repeated } = parse(wakeUpSchema, detail, 'detail of WakeUp');
    return { kind: 'wakeUp', owner, subject, wakeTime, ...(repeated === true && { repeated }) };
  }
  const time = envelope.time === undefined ? undefined : parseTimestamp(envelope.time);
  return { kind: 'busEvent', id: envelope.id, ...(time !== undefined && { time }), source, detailType, detail };
}

/** Events about objects whose kinds are not known beforehand. */
const CUSTOM_DETAIL_TYPES: readonly string[] = [
  CUSTOM_RESOURCE_CHANGED,
  DRAIN_RESOURCE_CHANGED,
  REMEDIATION_CHANGED,
  HOOK_RESOURCE_CHANGED,
];

const watchedEventSchema = z.object({
  ...clusterEventSchema.shape,
  subject: z.object({ ...clusterEventSchema.shape.subject.shape, kind: z.enum(WATCHED_KINDS) }),
});

function parseJson(body: string): unknown {
  try {
    return JSON.parse(body) as unknown;
  } catch (error) {
    throw new TerminalError('InvalidMessage', 'the body is not JSON', { cause: error });
  }
}

function parse<Schema extends z.ZodMiniType>(schema: Schema, value: unknown, what: string): z.output<Schema> {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  throw new TerminalError('InvalidMessage', `${what} is not valid: ${z.prettifyError(result.error)}`, {
    cause: result.error,
  });
}
