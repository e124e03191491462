/**
 * CloudFormation, Lambda and EventBridge Scheduler over HTTP, as far as `curfew stop | resume | redrive` call them, with the refusals that
 * AWS documents: an update of an event source that is changing, an update of a schedule that leaves a required part out.
 */
import type { IncomingMessage } from 'node:http';
import { text } from 'node:stream/consumers';
import { serveHttp, type HttpServer } from '../../packages/local-aws/src/loopback.ts';

export interface AwsControlPlane extends HttpServer {
  /** Variables with which the SDK calls it. */
  readonly environment: Readonly<Record<string, string>>;
  /** Outputs of the one stack. */
  readonly outputs: Map<string, string>;
  /** State by UUID. */
  readonly eventSources: Map<string, string>;
  /** By name, as Scheduler stores them. */
  readonly schedules: Map<string, Record<string, unknown>>;
  /** UUIDs and schedule names for which AWS answers AccessDenied. */
  readonly denied: Set<string>;
  /**
   * Reads of other services: by the operation of a JSON protocol (`DescribeTable`), or by method and path (`GET /clusters/prod`). A status
   * above 299 takes `code` and `message` as AWS's refusal; what is not here is `UnknownOperationException`.
   */
  readonly answers: Map<string, (input: unknown) => object | { readonly status: number; readonly code: string }>;
  /** Every change, in order: `mapping-1 off`. */
  readonly changes: string[];
}

interface Answer {
  readonly status: number;
  readonly body: string;
  readonly type?: string;
}

const STACK = 'Curfew';

export async function startAwsControlPlane(): Promise<AwsControlPlane> {
  const plane = {
    outputs: new Map<string, string>(),
    eventSources: new Map<string, string>(),
    schedules: new Map<string, Record<string, unknown>>(),
    denied: new Set<string>(),
    answers: new Map<string, (input: unknown) => object | { readonly status: number; readonly code: string }>(),
    changes: new Array<string>(),
  };
  const server = await serveHttp(async (request, response) => {
    const { status, body, type = 'application/json' } = await answer(plane, request);
    response.writeHead(status, { 'content-type': type }).end(body);
  });
  const environment = {
    AWS_ENDPOINT_URL: server.endpoint,
    AWS_REGION: 'us-east-1',
    AWS_ACCESS_KEY_ID: 'a',
    AWS_SECRET_ACCESS_KEY: 'b',
  };
  return { ...plane, ...server, environment };
}

async function answer(
  plane: Omit<AwsControlPlane, keyof HttpServer | 'environment'>,
  request: IncomingMessage,
): Promise<Answer> {
  const body = await text(request);
  const { method, url = '/' } = request;
  const target = request.headers['x-amz-target'];
  const operation = typeof target === 'string' ? target.split('.').at(-1) : undefined;
  const known = plane.answers.get(operation ?? `${method} ${decodeURIComponent(url.split('?')[0] ?? '')}`);
  if (known !== undefined) return answered(known(body === '' ? {} : JSON.parse(body)));
  if (operation !== undefined) return refusal(400, 'UnknownOperationException', operation);
  if (url === '/') return describeStacks(plane, new URLSearchParams(body));
  const [, kind, name = ''] = /^\/(?:2015-03-31\/)?(event-source-mappings|schedules)\/([^?]+)/.exec(url) ?? [];
  if (plane.denied.has(name)) return refusal(403, 'AccessDeniedException', 'not authorized to perform this');
  const input: unknown = body === '' ? {} : JSON.parse(body);
  if (kind === 'event-source-mappings')
    return eventSource(plane, name, method === 'PUT' ? at(input, 'Enabled') : undefined);
  if (kind === 'schedules') return schedule(plane, name, method === 'PUT' ? input : undefined);
  return refusal(404, 'UnknownOperationException', url);
}

function describeStacks({ outputs }: Pick<AwsControlPlane, 'outputs'>, form: URLSearchParams): Answer {
  const type = 'text/xml';
  const name = form.get('StackName');
  if (form.get('Action') !== 'DescribeStacks') return { status: 400, type, body: error('InvalidAction', 'unknown') };
  if (name !== STACK) {
    return { status: 400, type, body: error('ValidationError', `Stack with id ${name} does not exist`) };
  }
  const members = [...outputs]
    .map(([key, value]) => `<member><OutputKey>${key}</OutputKey><OutputValue>${value}</OutputValue></member>`)
    .join('');
  const stack = `<member><StackName>${STACK}</StackName><Outputs>${members}</Outputs></member>`;
  return {
    status: 200,
    type,
    body: `<DescribeStacksResponse><DescribeStacksResult><Stacks>${stack}</Stacks></DescribeStacksResult></DescribeStacksResponse>`,
  };
}

const error = (code: string, message: string): string =>
  `<ErrorResponse><Error><Type>Sender</Type><Code>${code}</Code><Message>${message}</Message></Error></ErrorResponse>`;

function eventSource(
  { eventSources, changes }: Pick<AwsControlPlane, 'eventSources' | 'changes'>,
  uuid: string,
  enabled: unknown,
): Answer {
  const state = eventSources.get(uuid);
  if (state === undefined) return refusal(404, 'ResourceNotFoundException', `no mapping ${uuid}`);
  if (enabled === undefined) {
    // A change takes until after the next look.
    if (state === 'Disabling') eventSources.set(uuid, 'Disabled');
    if (state === 'Enabling') eventSources.set(uuid, 'Enabled');
    return ok({ UUID: uuid, State: state, FunctionArn: `arn:aws:lambda:us-east-1:123456789012:function:of-${uuid}` });
  }
  if (state.endsWith('ing')) return refusal(400, 'ResourceInUseException', `${uuid} is ${state}`);
  eventSources.set(uuid, enabled === true ? 'Enabling' : 'Disabling');
  changes.push(`${uuid} ${enabled === true ? 'on' : 'off'}`);
  return ok({ UUID: uuid, State: eventSources.get(uuid) });
}

function schedule(
  { schedules, changes }: Pick<AwsControlPlane, 'schedules' | 'changes'>,
  name: string,
  update: unknown,
): Answer {
  const found = schedules.get(name);
  if (found === undefined) return refusal(404, 'ResourceNotFoundException', `no schedule ${name}`);
  if (update === undefined) return ok({ ...found, Name: name, Arn: `arn:aws:scheduler:::schedule/default/${name}` });
  for (const part of ['FlexibleTimeWindow', 'ScheduleExpression', 'Target']) {
    if (at(update, part) === undefined) return refusal(400, 'ValidationException', `${part} is missing`);
  }
  // All of it is replaced; what is not sent takes its default.
  schedules.set(name, { State: 'ENABLED', GroupName: 'default', ...(update as Record<string, unknown>) });
  changes.push(`${name} ${at(update, 'State') === 'DISABLED' ? 'off' : 'on'}`);
  return ok({ ScheduleArn: name });
}

function answered(answer: object): Answer {
  if (!('status' in answer && typeof answer.status === 'number')) return ok(answer);
  return refusal(answer.status, String(at(answer, 'code')), 'refused');
}

const at = (value: unknown, key: string): unknown =>
  typeof value === 'object' && value !== null ? Reflect.get(value, key) : undefined;
const ok = (body: object): Answer => ({ status: 200, body: JSON.stringify(body) });
const refusal = (status: number, code: string, message: string): Answer => ({
  status,
  body: JSON.stringify({ __type: code, code, Code: code, message, Message: message }),
});
