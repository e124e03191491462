/** Reads HealthEvents and `DrainRequested`, which other parts and people put on the bus, and tells what each of them asks for. */
import { drainRequestedSchema } from '../../shared/contract/drain-messages.ts';
import { generatedTimeOf, parseHealthEvent, type HealthEventMessage } from '../../shared/contract/health-event.ts';
import type { InboxMessage } from '../../shared/contract/inbox-message.ts';
import { DRAIN_REQUESTED, HEALTH_EVENT } from '../../shared/contract/names.ts';
import { parsed, type ParseResult } from '../../shared/contract/policy-schema.ts';
import { EXECUTE_REMEDIATION, type HealthEvent } from '../../shared/domain/health-event.ts';
import type { KubernetesObject } from '../../shared/domain/kubernetes-object.ts';
import { addDuration, CLOCK_SKEW, parseTimestamp, seconds, type EpochMs } from '../../shared/domain/time.ts';
import { TerminalError } from '../../shared/errors.ts';
import { toHealthEvent } from './rule/node-annotations.ts';
import type { IncomingMessage } from './rule/observation.ts';
import { isForceful } from './rule/phase.ts';
import type { DrainRequest, Timestamps } from './request-record.ts';

export interface NodeMessage {
  readonly nodeName: string;
  /** UID of the Node, where the sender says it. */
  readonly nodeUid: string | undefined;
  /** Time when it was put on the bus. */
  readonly sentTime: EpochMs | undefined;
  /** Names of the clusters that it says it is from. */
  readonly clusters: readonly string[];
  readonly id: string;
  readonly incoming:
    | IncomingMessage
    /** The message asks for nothing: it is reported, and nothing else is done. */
    | { readonly kind: 'notQuarantined'; readonly message: string; readonly status: string | undefined };
}

type BusEvent = Extract<InboxMessage, { kind: 'busEvent' }>;

/** Most bytes of an event: the record of all drains of a node has room for 400 KB. */
const MAX_EVENT_BYTES = 65_536;

/** Reads a bus event; undefined: it has nothing to do with drains. Throws `TerminalError` (`InvalidMessage`) for one that cannot be read. */
export function readBusEvent(message: BusEvent): NodeMessage | undefined {
  switch (message.detailType) {
    case DRAIN_REQUESTED:
      return readDrainRequested(message);
    case HEALTH_EVENT:
      return readHealthEvent(message);
    default:
      return undefined;
  }
}

/** Content of a `DrainRequested`. */
export interface RequestToDrain {
  readonly nodeUid: string | undefined;
  /** The cluster that the sender names. */
  readonly cluster: string | undefined;
  /** The request in the shape of a HealthEvent, as templates know it. */
  readonly event: HealthEvent;
  readonly allPods: boolean;
}

/** Reads the detail of a `DrainRequested`. Never throws. @param envelopeId id of the bus event, for a request that has none */
export function parseDrainRequested(detail: unknown, envelopeId: string | undefined): ParseResult<RequestToDrain> {
  const given = typeof detail === 'object' && detail !== null ? { id: envelopeId, ...detail } : detail;
  const read = parsed(drainRequestedSchema().safeParse(given), 'detail');
  if (!read.ok) return read;
  const { id, cluster, node, reason, force, allPods } = read.value;
  const event = toHealthEvent({ id, nodeName: node.name, message: reason, force });
  return { ok: true, value: { nodeUid: node.uid, cluster, event, allPods } };
}

function readDrainRequested({ id, time, receivedTime, source, detail }: BusEvent): NodeMessage {
  const request = parseDrainRequested(detail, id);
  if (!request.ok) throw new TerminalError('InvalidMessage', `${DRAIN_REQUESTED} is not valid: ${request.message}`);
  const { nodeUid, cluster, event, allPods } = request.value;
  const said = time === undefined ? {} : { said: { sentTime: time } };
  return {
    id: event.id,
    nodeName: event.nodeName,
    nodeUid,
    sentTime: time,
    clusters: cluster === undefined || cluster === '' ? [] : [cluster],
    incoming: {
      kind: 'drainRequested',
      request: {
        id: event.id,
        requestedBy: source,
        event,
        quarantine: undefined,
        ...(allPods && { allPods }),
        ...said,
        ...countedFrom(time),
      },
      receivedTime,
    },
  };
}

function readHealthEvent({ id, time, receivedTime, source, detail }: BusEvent): NodeMessage | undefined {
  const message = parseHealthEvent(detail, { id, time });
  if (!message.ok) throw new TerminalError('InvalidMessage', `${HEALTH_EVENT} is not valid: ${message.message}`);
  const { event, clusters } = message.value;
  const size = Buffer.byteLength(JSON.stringify(event));
  if (size > MAX_EVENT_BYTES) {
    throw new TerminalError('InvalidMessage', `${HEALTH_EVENT} has ${size} bytes, at most ${MAX_EVENT_BYTES} are read`);
  }
  const incoming = toIncoming(message.value, { requestedBy: source, sentTime: time, receivedTime });
  if (incoming === undefined) return undefined;
  return { id: event.id, nodeName: event.nodeName, nodeUid: undefined, sentTime: time, clusters, incoming };
}

interface Delivery {
  readonly requestedBy: string;
  readonly sentTime: EpochMs | undefined;
  readonly receivedTime: EpochMs | undefined;
}

function toIncoming(
  message: HealthEventMessage,
  { requestedBy, sentTime, receivedTime }: Delivery,
): NodeMessage['incoming'] | undefined {
  const { event, quarantine } = message;
  const { id } = event;
  const timestamps = timestampsOf(message, sentTime, receivedTime);
  const counted = countedFrom(timestamps.createdTime, timestamps.sentTime);
  const request: DrainRequest = { id, requestedBy, event, quarantine, said: timestamps, ...counted };
  const asks = meaningOf(message);
  switch (asks.kind) {
    case 'nothing':
      return undefined;
    case 'notQuarantined':
      return { kind: 'notQuarantined', message: asks.message, status: quarantine };
    case 'unQuarantined':
      return { kind: 'unQuarantined', timestamps };
    case 'cancelled':
      return { kind: 'cancelled', id, requestedBy };
    case 'recovered':
      return { kind: 'recovered', event, timestamps, drainRequest: asks.needsAnswer ? request : undefined };
    case 'drain':
      return { kind: 'healthEvent', request, receivedTime };
  }
}

/** Time by which a clock may be ahead of the bus, which writes whole seconds. */
const MAX_CLOCK_AHEAD = seconds(1);

/** Times when an event was said. A clock that is ahead of the bus is wrong: the time of the bus replaces it. */
function timestampsOf(
  { event, createdTime, exportedTime }: HealthEventMessage,
  sentTime: EpochMs | undefined,
  receivedTime: EpochMs | undefined,
): Timestamps {
  const bus = sentTime ?? receivedTime;
  const notAhead = (time: EpochMs | undefined): EpochMs | undefined =>
    time !== undefined && bus !== undefined && time > addDuration(bus, MAX_CLOCK_AHEAD) ? bus : time;
  const [generated, created, exported] = [generatedTimeOf(event), createdTime, exportedTime].map(notAhead);
  return {
    ...(generated !== undefined && { generatedTime: generated }),
    ...(created !== undefined && { createdTime: created }),
    ...(exported !== undefined && { exportedTime: exported }),
    ...(sentTime !== undefined && { sentTime }),
  };
}

/** Time from which a request counts: the first of these that is known. */
function countedFrom(...times: readonly (EpochMs | undefined)[]): Pick<DrainRequest, 'time'> {
  const time = times.find(each => each !== undefined);
  return time === undefined ? {} : { time };
}

/** Whether a message that names a node without its UID was sent before this Node was there: another one had that name then (I10). */
export function isSentBefore(
  { metadata }: KubernetesObject,
  { uid, sentTime }: { readonly uid: string | undefined; readonly sentTime?: EpochMs | undefined },
): boolean {
  const created = parseTimestamp(metadata.creationTimestamp);
  if (uid !== undefined || sentTime === undefined || created === undefined) return false;
  return created > addDuration(sentTime, CLOCK_SKEW);
}

export type RequestMeaning =
  /** A drain of the node. */
  | { readonly kind: 'drain' }
  /** The fault that it names is over. `needsAnswer`: fault-quarantine waits for the end of a drain all the same. */
  | { readonly kind: 'recovered'; readonly needsAnswer: boolean }
  | { readonly kind: 'unQuarantined' }
  | { readonly kind: 'cancelled' }
  /** The event asks for nothing in this delivery: the same event with another status is judged again. */
  | { readonly kind: 'notQuarantined'; readonly message: string }
  /** The event is for the record only. */
  | { readonly kind: 'nothing' };

/** The meaning of an event. A status that NVSentinel's next release may have means that the node is not quarantined. */
export function meaningOf(message: HealthEventMessage): RequestMeaning {
  const { event, quarantine, drained } = message;
  // 0 counts as EXECUTE_REMEDIATION; the others are for the record only.
  if (event.processingStrategy !== 0 && event.processingStrategy !== EXECUTE_REMEDIATION) return { kind: 'nothing' };
  if (quarantine === 'UnQuarantined') return { kind: 'unQuarantined' };
  if (quarantine === 'Cancelled') return { kind: 'cancelled' };
  const isQuarantined = quarantine === 'Quarantined' || quarantine === 'AlreadyQuarantined';
  if (event.isHealthy) return { kind: 'recovered', needsAnswer: isQuarantined && drained !== true };
  // What NVSentinel stores of a drain comes by, too: it asks for none.
  if (drained === true) return { kind: 'nothing' };
  if (isForceful(message) || isQuarantined) return { kind: 'drain' };
  if (quarantine !== undefined) {
    return { kind: 'notQuarantined', message: `the quarantine status is ${JSON.stringify(quarantine)}` };
  }
  return isFatalWithoutStatus(message)
    ? { kind: 'drain' }
    : { kind: 'notQuarantined', message: WITHOUT_STATUS[message.form] };
}

/**
 * Whether an event without a quarantine status is fatal. In a document of NVSentinel the missing status is a statement: fault-quarantine has not
 * matched the event.
 */
function isFatalWithoutStatus({ form, isFatal, recommendsNone }: HealthEventMessage): boolean {
  switch (form) {
    case 'flat':
      return isFatal ?? !recommendsNone;
    case 'cloudEvent':
      return isFatal ?? false;
    case 'stored':
    case 'resource':
      return false;
  }
}

const WITHOUT_STATUS = {
  flat: 'it has no quarantine status, and is not fatal',
  cloudEvent: 'it has no quarantine status, and is not fatal',
  stored: 'the stored event has no quarantine status',
  resource: 'the resource has no quarantine status',
} as const;
