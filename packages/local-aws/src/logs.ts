/**
 * CloudWatch Logs on one machine, as far as logs are read: FilterLogEvents over what the functions print, page by page. Whatever else of
 * the service is asked for is answered as an error and never as success.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { z } from 'zod';
import type { Clock } from '../../../shared/ports/clock.ts';
import { AwsError } from './ec2/aws-error.ts';
import type { InjectedFailure } from './ec2/ec2.ts';
import type { Access } from './iam/access.ts';
import { toJsonError } from './iam/refusals.ts';
import { isObject } from './json-object.ts';
import { serveHttp } from './loopback.ts';

export interface LogsOptions {
  /** Names of the log groups that there are. */
  readonly groups: readonly string[];
  /** When a line came. */
  readonly clock: Pick<Clock, 'now'>;
  /** Who may do what; without it everything is allowed. */
  readonly access?: Pick<Access, 'check'>;
  /** Lines that one answer looks through; of these it has those that match. */
  readonly pageSize?: number;
}

export interface LocalLogs {
  readonly endpoint: string;
  /** Adds a line to a group. Throws when there is no such group. */
  add(group: string, message: string): void;
  /** How calls fail from now on; undefined: no longer. */
  fail(failure: InjectedFailure | undefined): void;
  stop(): Promise<void>;
}

interface LogEvent {
  readonly logStreamName: string;
  readonly timestamp: number;
  readonly message: string;
  readonly ingestionTime: number;
  readonly eventId: string;
}

const requestSchema = z.object({
  logGroupName: z.string(),
  startTime: z.number().optional(),
  endTime: z.number().optional(),
  filterPattern: z.string().optional(),
  nextToken: z.string().optional(),
  limit: z.number().int().min(1).max(10_000).optional(),
});
type Request = z.infer<typeof requestSchema>;

/** As the API has it for `limit`. */
const PAGE_SIZE = 10_000;
/** A group keeps its last lines: soon there are no more of them in memory. */
const LONGEST_GROUP = 2000;
const STREAM = 'local';
/** The one pattern that is known here. */
const IS_TRUE = /^\{ \$\.(\w+) IS TRUE \}$/;

/** Listens on the loopback interface, on a free port. */
export async function startLogs({ groups, clock, access, pageSize = PAGE_SIZE }: LogsOptions): Promise<LocalLogs> {
  const kept = new Map<string, LogEvent[]>(groups.map(group => [group, []]));
  let failure: InjectedFailure | undefined;
  let added = 0;

  function filter({
    logGroupName,
    startTime = 0,
    endTime = Infinity,
    filterPattern,
    nextToken,
    limit,
  }: Request): object {
    const events = kept.get(logGroupName);
    if (events === undefined)
      throw new AwsError('ResourceNotFoundException', 'The specified log group does not exist.');
    const matches = matcherOf(filterPattern);
    const after = nextToken === undefined ? 0 : Number(nextToken);
    const within = events.filter(
      event => Number(event.eventId) > after && event.timestamp >= startTime && event.timestamp <= endTime,
    );
    const page = within.slice(0, Math.min(limit ?? pageSize, pageSize));
    return {
      events: page.filter(({ message }) => matches(message)),
      searchedLogStreams: [],
      // There may be more behind a page that has no line.
      ...(page.length < within.length && { nextToken: page.at(-1)?.eventId }),
    };
  }

  async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await text(request);
    const answer = (status: number, value: object): void =>
      void response.writeHead(status, { 'content-type': 'application/x-amz-json-1.1' }).end(JSON.stringify(value));
    try {
      const target = request.headers['x-amz-target'];
      if (target !== 'Logs_20140328.FilterLogEvents')
        throw new AwsError('UnknownOperationException', `${String(target)} does not run locally`);
      if (failure !== undefined)
        throw new AwsError(failure.code, failure.message ?? 'failed on purpose', failure.status);
      const parsed = requestSchema.safeParse(JSON.parse(body));
      if (!parsed.success) throw new AwsError('InvalidParameterException', z.prettifyError(parsed.error));
      const resource = `log-group:${parsed.data.logGroupName}`;
      const refusal = access?.check(request.headers.authorization, [
        { action: 'logs:FilterLogEvents', resource, context: {} },
      ]);
      if (refusal !== undefined) {
        const { status, code, message } = toJsonError(refusal);
        throw new AwsError(code, message, status);
      }
      answer(200, filter(parsed.data));
    } catch (error) {
      if (error instanceof AwsError) answer(error.status, { __type: error.code, message: error.message });
      else answer(500, { __type: 'ServiceUnavailableException', message: String(error) });
    }
  }

  const { endpoint, stop } = await serveHttp(handle);
  return {
    endpoint,
    add(group, message) {
      const events = kept.get(group);
      if (events === undefined) throw new Error(`there is no log group ${group}`);
      const now = clock.now();
      added += 1;
      events.push({ logStreamName: STREAM, timestamp: now, message, ingestionTime: now, eventId: String(added) });
      if (events.length > LONGEST_GROUP) events.shift();
    },
    fail: next => void (failure = next),
    stop,
  };
}

function matcherOf(pattern: string | undefined): (message: string) => boolean {
  if (pattern === undefined) return () => true;
  const [, field] = IS_TRUE.exec(pattern) ?? [];
  if (field === undefined) throw new AwsError('InvalidParameterException', `${pattern} is not known locally`);
  return message => {
    if (!message.startsWith('{')) return false;
    try {
      const value: unknown = JSON.parse(message);
      return isObject(value) && value[field] === true;
    } catch {
      return false;
    }
  };
}
