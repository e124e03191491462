/** Audit lines of a deployment, out of CloudWatch Logs. */
import {
  FilterLogEventsCommand,
  type CloudWatchLogsClient,
  type FilteredLogEvent,
} from '@aws-sdk/client-cloudwatch-logs';
import type { Clock } from '../../shared/ports/clock.ts';
import { seconds, type EpochMs } from '../../shared/domain/time.ts';
import { orUsageError, type FunctionLogs } from '../operate/deployment.ts';
import { UsageError } from '../usage-error.ts';

export interface LogsOfStack {
  readonly client: Pick<CloudWatchLogsClient, 'send'>;
  readonly functions: readonly FunctionLogs[];
}

/** The filter that matches audit lines and no other line. */
const ONLY_AUDIT = '{ $.audit IS TRUE }';
/** A line can be found up to this long after its time. */
const LATE_MS = 60_000;
const FOLLOW_EVERY = seconds(2);

/** The lines since an instant, function by function. Throws `UsageError`. */
export async function* auditLinesSince({ client, functions }: LogsOfStack, from: number): AsyncGenerator<string> {
  for (const logs of functions) for await (const { message = '' } of eventsOf(client, logs, from)) yield message;
}

/** The lines since an instant and whatever comes, in the order of time of each look; until it is interrupted. Throws `UsageError`. */
export async function* followAuditLines(
  { client, functions }: LogsOfStack,
  from: EpochMs,
  clock: Clock,
  interrupted: AbortSignal,
): AsyncGenerator<string> {
  let seen = new Map<string, number>();
  for (let since: number = from; !interrupted.aborted;) {
    const found: FilteredLogEvent[] = [];
    for (const logs of functions) {
      for await (const event of eventsOf(client, logs, since)) {
        if (!seen.has(event.eventId ?? '')) found.push(event);
        seen.set(event.eventId ?? '', event.timestamp ?? 0);
      }
    }
    for (const { message = '' } of found.toSorted((a, b) => (a.timestamp ?? 0) - (b.timestamp ?? 0))) yield message;
    const newest = Math.max(since, ...seen.values());
    since = Math.max(from, newest - LATE_MS);
    seen = new Map([...seen].filter(([, time]) => time >= since));
    await clock.sleep(FOLLOW_EVERY, interrupted).catch(() => undefined);
  }
}

/** An answer may be empty and others follow: only one without a token is the last. */
async function* eventsOf(
  client: LogsOfStack['client'],
  { name, logGroup }: FunctionLogs,
  startTime: number,
): AsyncGenerator<FilteredLogEvent> {
  let nextToken: string | undefined;
  do {
    const command = new FilterLogEventsCommand({
      logGroupName: logGroup,
      startTime,
      filterPattern: ONLY_AUDIT,
      nextToken,
    });
    const answer = await orUsageError(`reading the log of ${name}`, () => client.send(command)).catch(withAdvice);
    yield* answer.events ?? [];
    nextToken = answer.nextToken;
  } while (nextToken !== undefined);
}

/** Throws: what the user can do about it stands behind what AWS says. */
function withAdvice(error: unknown): never {
  if (!(error instanceof UsageError)) throw error;
  const code = error.cause instanceof Error ? error.cause.name : '';
  const advice = ADVICE[code];
  throw advice === undefined ? error : new UsageError(`${error.message}: ${advice}`, { cause: error.cause });
}

const ADVICE: Readonly<Record<string, string>> = {
  ThrottlingException: 'run it again, with a shorter --since, or with AWS_MAX_ATTEMPTS=10',
  AccessDeniedException: 'have logs:FilterLogEvents on this log group granted to you',
  ResourceNotFoundException: 'deploy the stack again, it makes its log groups',
};
