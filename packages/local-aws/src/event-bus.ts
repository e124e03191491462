/**
 * EventBridge on one machine: speaks PutEvents as the SDK does, matches the deployed rules, and delivers to their queues. Everything else of the
 * service (archives, transformers, other targets) is refused when the template is read.
 */
import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { toEpochMs, toTimestamp } from '../../../shared/domain/time.ts';
import type { Clock } from '../../../shared/ports/clock.ts';
import { compileEventPattern, type EventMatcher } from './event-pattern.ts';
import type { Access } from './iam/access.ts';
import type { AccessRequest } from './iam/evaluate.ts';
import { toJsonError } from './iam/refusals.ts';
import { serveHttp } from './loopback.ts';
import type { MayDeliver } from './iam/queue-policies.ts';
import type { AwsModel, RuleModel, TargetModel } from './model.ts';
import {
  acceptEntry,
  parsePutEvents,
  PutEventsRefusal,
  type AcceptedEntry,
  type PutEventsEntry,
} from './put-events.ts';

export interface EventBusOptions {
  readonly model: Pick<AwsModel, 'region' | 'account' | 'buses' | 'rules'>;
  readonly clock: Clock;
  /** Delivers to a queue. */
  readonly send: (queueName: string, body: string, attributes?: Readonly<Record<string, string>>) => Promise<void>;
  /** What the policies of queues let rules do; without it everything is allowed. */
  readonly mayDeliver?: MayDeliver;
  /** Every event that a bus takes, before it is delivered. */
  readonly onEvent?: (event: AcceptedEntry) => void;
  /** An event did not reach its target: what `FailedInvocations` counts. */
  readonly onProblem?: (problem: Error) => void;
  /** Who may do what; without it everything is allowed. */
  readonly access?: Pick<Access, 'check'>;
  /** Answers the error code with which an entry is to fail; for tests of those who publish. */
  readonly failEntry?: (entry: PutEventsEntry) => string | undefined;
}

/** What an AWS service publishes. */
export interface ServiceEvent {
  /** `aws.ec2`. */
  readonly source: string;
  readonly detailType: string;
  readonly detail: Readonly<Record<string, unknown>>;
  /** ARNs. */
  readonly resources: readonly string[];
}

export interface LocalEventBus {
  readonly endpoint: string;
  /** Publishes as AWS does, on the default bus. */
  publish(event: ServiceEvent): Promise<void>;
  stop(): Promise<void>;
}

interface CompiledRule {
  readonly rule: RuleModel;
  readonly matches: EventMatcher;
}

/** Throws an `EventPatternError` for a rule that EventBridge would refuse. */
export async function startEventBus(options: EventBusOptions): Promise<LocalEventBus> {
  const { model } = options;
  const rules: CompiledRule[] = model.rules.map(rule => ({ rule, matches: compileEventPattern(rule.pattern) }));
  const busNames = new Set(['default', ...model.buses]);

  async function put(entry: PutEventsEntry): Promise<Record<string, string>> {
    const forced = options.failEntry?.(entry);
    if (forced !== undefined) return { ErrorCode: forced, ErrorMessage: 'failed on purpose' };
    const accepted = acceptEntry(entry, busNames);
    if ('ErrorCode' in accepted) return { ...accepted };
    return { EventId: await deliver(accepted) };
  }

  async function deliver(accepted: AcceptedEntry): Promise<string> {
    options.onEvent?.(accepted);
    const event = toEvent(accepted, options);
    const matching = rules.filter(({ rule, matches }) => rule.busName === accepted.busName && matches(event));
    const body = JSON.stringify(event);
    for (const { rule } of matching) for (const target of rule.targets) await invokeTarget(rule, target, body, options);
    return event.id;
  }

  async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await text(request);
    const target = request.headers['x-amz-target'];
    if (target !== 'AWSEvents.PutEvents') {
      return answer(response, 400, {
        __type: 'UnknownOperationException',
        message: `${String(target)} does not run locally`,
      });
    }
    try {
      const entries = parsePutEvents(parseJson(body));
      const refusal = options.access?.check(
        request.headers.authorization,
        entries.map(entry => toAccessRequest(entry, model)),
      );
      if (refusal !== undefined) {
        const { status, code, message } = toJsonError(refusal);
        return answer(response, status, { __type: code, message });
      }
      const Entries = await Promise.all(entries.map(put));
      const FailedEntryCount = Entries.filter(entry => 'ErrorCode' in entry).length;
      answer(response, 200, { FailedEntryCount, Entries });
    } catch (error) {
      if (error instanceof PutEventsRefusal)
        return answer(response, 400, { __type: 'ValidationException', message: error.message });
      answer(response, 500, { __type: 'InternalException', message: String(error) });
    }
  }

  const { endpoint, stop } = await serveHttp(handle);
  return {
    endpoint,
    async publish(event) {
      await deliver({ ...event, busName: 'default', timeSeconds: undefined });
    },
    stop,
  };
}

/** As EventBridge does: what it may not send goes to the dead-letter queue of the target at once, if it may send there. */
async function invokeTarget(
  rule: RuleModel,
  { queueName, deadLetterQueueName }: TargetModel,
  body: string,
  { send, mayDeliver = () => true, onProblem = () => undefined }: EventBusOptions,
): Promise<void> {
  if (mayDeliver(rule, queueName)) return send(queueName, body);
  const why = `the policy of queue ${queueName} does not let rule ${rule.name} send to it`;
  if (deadLetterQueueName === undefined || !mayDeliver(rule, deadLetterQueueName)) {
    return onProblem(new Error(`${why}, nor is there a dead-letter queue that does: an event is lost`));
  }
  onProblem(new Error(why));
  await send(deadLetterQueueName, body, { RULE_ARN: rule.arn, ERROR_CODE: 'NO_PERMISSIONS', ERROR_MESSAGE: why });
}

function toAccessRequest(
  { EventBusName = 'default', Source, DetailType }: PutEventsEntry,
  { region, account }: EventBusOptions['model'],
): AccessRequest {
  // A bus may be given by its ARN.
  const busName = EventBusName.slice(EventBusName.lastIndexOf('/') + 1);
  return {
    action: 'events:PutEvents',
    resource: `arn:aws:events:${region}:${account}:event-bus/${busName}`,
    context: {
      ...(Source !== undefined && { 'events:source': [Source] }),
      ...(DetailType !== undefined && { 'events:detail-type': [DetailType] }),
    },
  };
}

/** The event as targets get it. */
function toEvent(entry: AcceptedEntry, { model, clock }: EventBusOptions) {
  const { source, detailType, detail, resources, timeSeconds } = entry;
  return {
    version: '0',
    id: randomUUID(),
    'detail-type': detailType,
    source,
    account: model.account,
    time: timeSeconds === undefined ? toTimestamp(clock.now()) : toTimestamp(toEpochMs(timeSeconds * 1000)),
    region: model.region,
    resources,
    detail,
  };
}

function parseJson(body: string): unknown {
  try {
    return JSON.parse(body) as unknown;
  } catch {
    throw new PutEventsRefusal('the body is not JSON');
  }
}

function answer(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { 'content-type': 'application/x-amz-json-1.1', 'x-amzn-requestid': randomUUID() });
  response.end(JSON.stringify(body));
}
