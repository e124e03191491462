/** Reads what other parts and people say on the bus: HealthEvents and requests for drains. */
import { parseHealthEvent, type HealthEventMessage } from '../../shared/contract/health-event.ts';
import type { InboxMessage } from '../../shared/contract/inbox-message.ts';
import { DRAIN_REQUESTED, HEALTH_EVENT } from '../../shared/contract/names.ts';
import { EXECUTE_REMEDIATION } from '../../shared/domain/health-event.ts';
import type { KubernetesObject } from '../../shared/domain/kubernetes-object.ts';
import { addDuration, parseTimestamp, toEpochMs, type EpochMs } from '../../shared/domain/time.ts';
import { TerminalError } from '../../shared/errors.ts';
import { parseDrainRequested } from './messages.ts';
import { CLOCKS_DIFFER, type DrainRequest, type Incoming, type Said } from './model.ts';

export interface NodeMessage {
  readonly nodeName: string;
  /** Where the sender says it. */
  readonly nodeUid: string | undefined;
  /** When it was put on the bus. */
  readonly sentTime: EpochMs | undefined;
  readonly incoming: Incoming;
}

type BusEvent = Extract<InboxMessage, { kind: 'busEvent' }>;

/** A record of all drains of a node holds 400 KB. */
const MAX_EVENT_BYTES = 65_536;

/** Undefined: nothing to do with drains. Throws `TerminalError` (`InvalidMessage`) for one that cannot be read. */
export function readBusEvent({ id, time, source, detailType, detail }: BusEvent): NodeMessage | undefined {
  if (detailType === DRAIN_REQUESTED) {
    const request = parseDrainRequested(detail, id);
    if (!request.ok) throw new TerminalError('InvalidMessage', `${DRAIN_REQUESTED} is not valid: ${request.message}`);
    const { nodeUid, event } = request.value;
    const incoming: Incoming = {
      kind: 'drain',
      request: { id: event.id, requestedBy: source, event, quarantine: undefined, ...countedFrom(time) },
    };
    return { nodeName: event.nodeName, nodeUid, sentTime: time, incoming };
  }
  if (detailType !== HEALTH_EVENT) return undefined;
  const message = parseHealthEvent(detail, id);
  if (!message.ok) throw new TerminalError('InvalidMessage', `${HEALTH_EVENT} is not valid: ${message.message}`);
  const { event } = message.value;
  const size = Buffer.byteLength(JSON.stringify(event));
  if (size > MAX_EVENT_BYTES) {
    throw new TerminalError('InvalidMessage', `${HEALTH_EVENT} has ${size} bytes, at most ${MAX_EVENT_BYTES} are read`);
  }
  // 0 counts as EXECUTE_REMEDIATION; the others are for the record only.
  if (event.processingStrategy !== 0 && event.processingStrategy !== EXECUTE_REMEDIATION) return undefined;
  const incoming = toIncoming(message.value, source, time);
  // What NVSentinel stores of a drain comes by, too: it asks for none.
  if (incoming.kind === 'drain' && message.value.drained) return undefined;
  return { nodeName: event.nodeName, nodeUid: undefined, sentTime: time, incoming };
}

function toIncoming(
  { event, quarantine, createdTime }: HealthEventMessage,
  requestedBy: string,
  sentTime: EpochMs | undefined,
): Incoming {
  const { id } = event;
  const onTheWay = { ...(createdTime !== undefined && { createdTime }), ...(sentTime !== undefined && { sentTime }) };
  if (quarantine === 'UnQuarantined') return { kind: 'unQuarantined', id, said: onTheWay };
  if (quarantine === 'Cancelled') return { kind: 'cancelled', id };
  const { generatedTimestamp: generated } = event;
  const said: Said = {
    ...(generated !== undefined && { generatedTime: toEpochMs(generated.seconds * 1000 + generated.nanos / 1e6) }),
    ...onTheWay,
  };
  if (quarantine === undefined && event.isHealthy) return { kind: 'recovered', event, said };
  return {
    kind: 'drain',
    request: { id, requestedBy, event, quarantine, said, ...countedFrom(createdTime, sentTime) },
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
