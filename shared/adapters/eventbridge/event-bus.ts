/** `EventBus` on the classic EventBridge bus: PutEvents with an outcome per entry, which a 200 does not promise. */
import {
  PutEventsCommand,
  type EventBridgeClient,
  type PutEventsRequestEntry,
  type PutEventsResultEntry,
} from '@aws-sdk/client-eventbridge';
import type { BusEntry } from '../../contract/envelope.ts';
import { invariant } from '../../domain/invariant.ts';
import { RetryableError, TerminalError } from '../../errors.ts';
import { MAX_CALL_BYTES, MAX_ENTRIES_PER_CALL, type EventBus, type PublishOutcome } from '../../ports/event-bus.ts';
import { fromAwsError } from '../aws-errors.ts';

/** The size that EventBridge counts for an entry beside its texts: the Time that it adds. */
const ENTRY_OVERHEAD_BYTES = 14;

/** Refused for this moment only. Anything else (`MalformedDetail`, `NotAuthorizedForSourceException`, …) stays refused. */
const TRANSIENT_CODES = new Set([
  'ThrottlingException',
  'Throttling',
  'InternalFailure',
  'InternalException',
  'ServiceUnavailable',
  'RequestTimeout',
]);

export interface EventBusOptions {
  readonly client: Pick<EventBridgeClient, 'send'>;
  /** Name or ARN. */
  readonly busName: string;
}

/**
 * Takes at most `MAX_ENTRIES_PER_CALL` entries, in as many calls as `MAX_CALL_BYTES` asks for. Throws `TerminalError`
 * for a call that is refused for good, and `RetryableError` for a passing failure of the only call; with several calls
 * it is the outcome `retry` of their entries.
 */
export function createEventBus(options: EventBusOptions): EventBus {
  return {
    async publish(entries) {
      invariant(
        entries.length <= MAX_ENTRIES_PER_CALL,
        `at most ${MAX_ENTRIES_PER_CALL} entries are published at once`,
      );
      const outcomes = Array.from<PublishOutcome | undefined>({ length: entries.length });
      const calls = splitBySize(entries.map(entry => toRequestEntry(entry, options.busName)));
      for (const { index } of calls.tooLarge) {
        const message = `the entry is larger than ${MAX_CALL_BYTES} bytes`;
        outcomes[index] = { kind: 'rejected', code: 'EntryTooLarge', message };
      }
      for (const call of calls.batches) {
        const results = await sendCall(options, call, calls.batches.length === 1);
        call.forEach(({ index }, position) => (outcomes[index] = results[position]));
      }
      return outcomes.map(outcome => outcome ?? { kind: 'retry', code: 'NoResult' });
    },
  };
}

interface SizedEntry {
  readonly index: number;
  readonly entry: PutEventsRequestEntry;
}

/** Entries in their order, in as few calls as the size limit allows, and those that no call can carry. */
function splitBySize(entries: readonly PutEventsRequestEntry[]): { batches: SizedEntry[][]; tooLarge: SizedEntry[] } {
  const batches: SizedEntry[][] = [];
  const tooLarge: SizedEntry[] = [];
  let room = 0;
  for (const [index, entry] of entries.entries()) {
    const bytes = sizeOf(entry);
    if (bytes > MAX_CALL_BYTES) {
      tooLarge.push({ index, entry });
      continue;
    }
    const current = batches.at(-1);
    if (current === undefined || bytes > room) {
      batches.push([{ index, entry }]);
      room = MAX_CALL_BYTES - bytes;
    } else {
      current.push({ index, entry });
      room -= bytes;
    }
  }
  return { batches, tooLarge };
}

/** Bytes of an entry as EventBridge counts them. */
function sizeOf({ Source = '', DetailType = '', Detail = '' }: PutEventsRequestEntry): number {
  return ENTRY_OVERHEAD_BYTES + [Source, DetailType, Detail].reduce((sum, text) => sum + Buffer.byteLength(text), 0);
}

function toRequestEntry({ source, detailType, detail }: BusEntry, busName: string): PutEventsRequestEntry {
  return { EventBusName: busName, Source: source, DetailType: detailType, Detail: JSON.stringify(detail) };
}

/**
 * The outcomes of one call. A call that failed as a whole is thrown when it was the only one; else its entries are to be sent
 * again, so that what the other calls achieved is not lost.
 */
async function sendCall(
  options: EventBusOptions,
  call: readonly SizedEntry[],
  onlyCall: boolean,
): Promise<readonly PublishOutcome[]> {
  try {
    const answer = await options.client.send(new PutEventsCommand({ Entries: call.map(({ entry }) => entry) }));
    return call.map((_, index) => toOutcome(answer.Entries?.[index]));
  } catch (error) {
    const failure = fromAwsError(error, { doing: 'publishing events', write: true });
    if (isTooLarge(failure)) return refusedForSize(options, call, failure.message);
    if (onlyCall || !(failure instanceof RetryableError)) throw failure;
    return call.map(() => ({ kind: 'retry', code: failure.reason ?? 'Unknown' }));
  }
}

/** The whole call was refused before any entry was taken. */
function isTooLarge(failure: Error): boolean {
  if (!(failure instanceof TerminalError)) return false;
  return (
    failure.reason === 'Status413' || failure.message.includes('size of the entries in the request is over the limit')
  );
}

/** Each entry alone, since one of them may be too large for any call. */
async function refusedForSize(
  options: EventBusOptions,
  call: readonly SizedEntry[],
  message: string,
): Promise<readonly PublishOutcome[]> {
  if (call.length === 1) return [{ kind: 'rejected', code: 'EntryTooLarge', message }];
  const outcomes: PublishOutcome[] = [];
  for (const entry of call) outcomes.push(...(await sendCall(options, [entry], false)));
  return outcomes;
}

function toOutcome(result: PutEventsResultEntry | undefined): PublishOutcome {
  if (result === undefined) return { kind: 'retry', code: 'NoResult' };
  const { ErrorCode: code, ErrorMessage: message = '' } = result;
  if (code === undefined) return { kind: 'published' };
  return TRANSIENT_CODES.has(code) ? { kind: 'retry', code } : { kind: 'rejected', code, message };
}
