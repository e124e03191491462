/** Reads what other parts and people say on the bus: HealthEvents and requests for drains. */
import { generatedTimeOf, parseHealthEvent, type HealthEventMessage } from '../../shared/contract/health-event.ts';
import type { InboxMessage } from '../../shared/contract/inbox-message.ts';
import { DRAIN_REQUESTED, HEALTH_EVENT } from '../../shared/contract/names.ts';
import type { KubernetesObject } from '../../shared/domain/kubernetes-object.ts';
import { addDuration, parseTimestamp, seconds, type EpochMs } from '../../shared/domain/time.ts';
import { TerminalError } from '../../shared/errors.ts';
import { askedBy } from './asks.ts';
import { parseDrainRequested } from './messages.ts';
import { CLOCKS_DIFFER, type DrainRequest, type Incoming, type Said } from './model.ts';

export interface NodeMessage {
  readonly nodeName: string;
  /** Where the sender says it. */
  readonly nodeUid: string | undefined;
  /** When it was put on the bus. */
  readonly sentTime: EpochMs | undefined;
  /** The clusters that it says it is from. */
  readonly clusters: readonly string[];
  readonly id: string;
  readonly incoming:
    | Incoming
    /** It asks for nothing: said, and over. */
    | { readonly kind: 'notQuarantined'; readonly message: string; readonly status: string | undefined };
}

type BusEvent = Extract<InboxMessage, { kind: 'busEvent' }>;

/** A record of all drains of a node holds 400 KB. */
const MAX_EVENT_BYTES = 65_536;

/** Undefined: nothing to do with drains. Throws `TerminalError` (`InvalidMessage`) for one that cannot be read. */
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

function readDrainRequested({ id, time, receivedTime, source, detail }: BusEvent): NodeMessage {
  const request = parseDrainRequested(detail, id);
  if (!request.ok) throw new TerminalError('InvalidMessage', `${DRAIN_REQUESTED} is not valid: ${request.message}`);
  const { nodeUid, cluster, event } = request.value;
  const said = time === undefined ? {} : { said: { sentTime: time } };
  return {
    id: event.id,
    nodeName: event.nodeName,
    nodeUid,
    sentTime: time,
    clusters: cluster === undefined || cluster === '' ? [] : [cluster],
    incoming: {
      kind: 'drain',
      request: { id: event.id, requestedBy: source, event, quarantine: undefined, ...said, ...countedFrom(time) },
      receivedTime,
      isRequest: true,
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
  const said = saidIn(message, sentTime, receivedTime);
  const counted = countedFrom(said.createdTime, said.sentTime);
  const request: DrainRequest = { id, requestedBy, event, quarantine, said, ...counted };
  const asks = askedBy(message);
  switch (asks.kind) {
    case 'nothing':
      return undefined;
    case 'notQuarantined':
      return { kind: 'notQuarantined', message: asks.message, status: quarantine };
    case 'unQuarantined':
      return { kind: 'unQuarantined', id, said };
    case 'cancelled':
      return { kind: 'cancelled', id };
    case 'recovered':
      return { kind: 'recovered', event, said, ...(asks.isAsked && { asked: request }) };
    case 'drain':
      return { kind: 'drain', request, receivedTime };
  }
}

/** The bus writes whole seconds. */
const AHEAD = seconds(1);

/** A clock that is ahead of the bus is wrong: what it says counts as said when it was put on the bus. */
function saidIn(
  { event, createdTime, exportedTime }: HealthEventMessage,
  sentTime: EpochMs | undefined,
  receivedTime: EpochMs | undefined,
): Said {
  const bus = sentTime ?? receivedTime;
  const notAhead = (time: EpochMs | undefined): EpochMs | undefined =>
    time !== undefined && bus !== undefined && time > addDuration(bus, AHEAD) ? bus : time;
  const [generated, created, exported] = [generatedTimeOf(event), createdTime, exportedTime].map(notAhead);
  return {
    ...(generated !== undefined && { generatedTime: generated }),
    ...(created !== undefined && { createdTime: created }),
    ...(exported !== undefined && { exportedTime: exported }),
    ...(sentTime !== undefined && { sentTime }),
  };
}

/** From when a request counts: the first of these that is known. */
function countedFrom(...times: readonly (EpochMs | undefined)[]): Pick<DrainRequest, 'time'> {
  const time = times.find(each => each !== undefined);
  return time === undefined ? {} : { time };
}

/** Whether a message that names a node, and not which one, was sent before this Node was there: another one had that name then (I10). */
export function isSentBefore(
  { metadata }: KubernetesObject,
  { uid, sentTime }: { readonly uid: string | undefined; readonly sentTime?: EpochMs | undefined },
): boolean {
  const created = parseTimestamp(metadata.creationTimestamp);
  if (uid !== undefined || sentTime === undefined || created === undefined) return false;
  return created > addDuration(sentTime, CLOCKS_DIFFER);
}
