/**
 * What PutEvents accepts and what it answers, without sending anything. Limits and error codes: EventBridge API reference,
 * PutEvents and PutEventsResultEntry.
 */
import { z } from 'zod';

const MAX_ENTRIES = 10;
/** Sum of the entries' sizes. */
const MAX_BYTES = 1_000_000;
const MAX_DETAIL_TYPE_CHARS = 128;
/** An entry with a `Time` counts this much for it. */
const TIME_BYTES = 14;

const entrySchema = z.object({
  Source: z.string().optional(),
  DetailType: z.string().optional(),
  Detail: z.string().optional(),
  EventBusName: z.string().optional(),
  Resources: z.array(z.string()).optional(),
  /** Seconds since the epoch. */
  Time: z.number().optional(),
});
export type PutEventsEntry = z.infer<typeof entrySchema>;

const requestSchema = z.object({ Entries: z.array(entrySchema) });

/** The whole call is refused. */
export class PutEventsRefusal extends Error {}

/** One entry that is good to be delivered. */
export interface AcceptedEntry {
  readonly source: string;
  readonly detailType: string;
  readonly detail: Readonly<Record<string, unknown>>;
  readonly busName: string;
  readonly resources: readonly string[];
  readonly timeSeconds: number | undefined;
}

export interface EntryFailure {
  readonly ErrorCode: string;
  readonly ErrorMessage: string;
}

/** The entries of a request body. Throws `PutEventsRefusal` when EventBridge would refuse the call. */
export function parsePutEvents(body: unknown): PutEventsEntry[] {
  const result = requestSchema.safeParse(body);
  if (!result.success) throw new PutEventsRefusal(z.prettifyError(result.error));
  const { Entries } = result.data;
  if (Entries.length < 1 || Entries.length > MAX_ENTRIES) {
    throw new PutEventsRefusal(`Entries must have between 1 and ${MAX_ENTRIES} members, has ${Entries.length}`);
  }
  const size = Entries.reduce((sum, entry) => sum + sizeOf(entry), 0);
  if (size >= MAX_BYTES) throw new PutEventsRefusal('Total size of the entries in the request is over the limit.');
  return Entries;
}

function sizeOf({ Source = '', DetailType = '', Detail = '', Resources = [], Time }: PutEventsEntry): number {
  const texts = [Source, DetailType, Detail, ...Resources];
  return texts.reduce((sum, text) => sum + Buffer.byteLength(text), Time === undefined ? 0 : TIME_BYTES);
}

/** Checks one entry; a failure concerns this entry alone. */
export function acceptEntry(entry: PutEventsEntry, busNames: ReadonlySet<string>): AcceptedEntry | EntryFailure {
  const { Source, DetailType, Detail, EventBusName = 'default', Resources = [], Time } = entry;
  if (!Source || !DetailType || !Detail)
    return failure('InvalidArgument', 'Source, DetailType and Detail are required.');
  if (Source.startsWith('aws.')) {
    return failure('NotAuthorizedForSourceException', `Not authorized for the source ${Source}.`);
  }
  if (DetailType.length > MAX_DETAIL_TYPE_CHARS) {
    return failure('InvalidArgument', `DetailType is longer than ${MAX_DETAIL_TYPE_CHARS} characters.`);
  }
  // A bus may be given by its ARN.
  const busName = EventBusName.slice(EventBusName.lastIndexOf('/') + 1);
  if (!busNames.has(busName)) return failure('InvalidArgument', `Event bus ${EventBusName} does not exist.`);
  const detail = parseDetail(Detail);
  if (detail === undefined) return failure('MalformedDetail', 'Detail is malformed.');
  return { source: Source, detailType: DetailType, detail, busName, resources: Resources, timeSeconds: Time };
}

function failure(ErrorCode: string, ErrorMessage: string): EntryFailure {
  return { ErrorCode, ErrorMessage };
}

/** Made once: a schema is compiled at its first use. */
const detailSchema = z.record(z.string(), z.unknown());

function parseDetail(text: string): Record<string, unknown> | undefined {
  try {
    return detailSchema.safeParse(JSON.parse(text)).data;
  } catch {
    return undefined;
  }
}
