/**
 * EC2 and Auto Scaling on one machine, for the unchanged SDK: the Query protocols of both, over one fleet of instances. What they do not
 * know here is answered as an error and never as success.
 */
import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import type { Access } from '../iam/access.ts';
import type { AccessRequest } from '../iam/evaluate.ts';
import { toQueryError } from '../iam/refusals.ts';
import { serveHttp } from '../loopback.ts';
import type { AwsModel } from '../model.ts';
import type { ServiceEvent } from '../event-bus.ts';
import { AwsError } from './aws-error.ts';
import { createFleet, type Fleet } from './fleet.ts';
import type { InstancesOptions, State } from './instances.ts';
import { OPERATIONS, type Operation } from './operations.ts';
import { toXml, type XmlElement } from './xml.ts';

export interface Ec2Options extends Omit<InstancesOptions, 'onState' | 'signal'> {
  readonly model: Pick<AwsModel, 'region' | 'account'>;
  /** Takes what EC2 publishes. */
  readonly publish?: (event: ServiceEvent) => Promise<void>;
  /** Who may do what; without it everything is allowed. */
  readonly access?: Pick<Access, 'check'>;
}

/** How calls of one action fail from now on. */
export interface InjectedFailure {
  readonly code: string;
  readonly message?: string;
  /** Of HTTP. Default 400; EC2 throttles (`RequestLimitExceeded`) with 503. */
  readonly status?: number;
}

export interface LocalEc2 {
  readonly endpoint: string;
  readonly fleet: Fleet;
  /** Undefined: no longer. */
  fail(action: string, failure: InjectedFailure | undefined): void;
  stop(): Promise<void>;
}

type Service = Operation['service'];

const NAMESPACES: Readonly<Record<Service, string>> = {
  ec2: 'http://ec2.amazonaws.com/doc/2016-11-15/',
  autoscaling: 'http://autoscaling.amazonaws.com/doc/2011-01-01/',
};

/** Listens on the loopback interface, on a free port. */
export async function startEc2({ model, access, publish, ...options }: Ec2Options): Promise<LocalEc2> {
  const end = new AbortController();
  const fleet = createFleet({
    ...options,
    signal: end.signal,
    ...(publish && {
      // Best effort, as EC2 says of its events.
      onState: (instanceId, state) => void publish(stateChange(model, instanceId, state)).catch(() => undefined),
    }),
  });
  const failures = new Map<string, InjectedFailure>();

  function run(action: string, parameters: URLSearchParams, authorization: string | undefined): readonly XmlElement[] {
    const failure = failures.get(action);
    if (failure !== undefined) throw new AwsError(failure.code, failure.message ?? 'failed on purpose', failure.status);
    const operation = OPERATIONS[action];
    if (operation === undefined) throw new AwsError('InvalidAction', `${action} does not run locally`);
    const requests = toAccessRequests(action, operation, parameters);
    const refusal = access?.check(authorization, requests);
    if (refusal !== undefined) {
      const { status, code, message } = toQueryError(refusal, operation.service);
      throw new AwsError(code, message, status);
    }
    return operation.run(fleet, parameters);
  }

  function toAccessRequests(action: string, { service, targets }: Operation, parameters: URLSearchParams) {
    const arn = (of: string, resource: string): string => `arn:aws:${of}:${model.region}:${model.account}:${resource}`;
    const found = targets(fleet, parameters);
    const requests: AccessRequest[] = found.map(target => ({
      action: `${service}:${action}`,
      resource: arn(target.service, target.resource),
      context: Object.fromEntries(
        Object.entries(target.tags).map(([key, value]) => [`aws:ResourceTag/${key}`, [value]]),
      ),
    }));
    return requests.length > 0 ? requests : [{ action: `${service}:${action}`, resource: '*', context: {} }];
  }

  async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const parameters = new URLSearchParams(await text(request));
    const action = parameters.get('Action') ?? '';
    // Both services listen here; only the credential's scope tells them apart, as AWS's own hosts would.
    const service: Service = /\/autoscaling\/aws4_request/.test(request.headers.authorization ?? '')
      ? 'autoscaling'
      : 'ec2';
    const requestId = randomUUID();
    try {
      const content = run(action, parameters, request.headers.authorization);
      answer(response, 200, toXml(success(service, action, content, requestId), NAMESPACES[service]));
    } catch (error) {
      const known = error instanceof AwsError ? error : new AwsError('InternalError', String(error), 500);
      answer(response, known.status, toXml(failed(service, known, requestId)));
    }
  }

  const { endpoint, stop } = await serveHttp(handle);
  return {
    endpoint,
    fleet,
    fail(action, failure) {
      if (failure === undefined) failures.delete(action);
      else failures.set(action, failure);
    },
    async stop() {
      end.abort(new Error('stopped'));
      await stop();
    },
  };
}

function stateChange({ region, account }: Ec2Options['model'], instanceId: string, state: State): ServiceEvent {
  return {
    source: 'aws.ec2',
    detailType: 'EC2 Instance State-change Notification',
    resources: [`arn:aws:ec2:${region}:${account}:instance/${instanceId}`],
    detail: { 'instance-id': instanceId, state },
  };
}

function success(service: Service, action: string, content: readonly XmlElement[], requestId: string): XmlElement {
  if (service === 'ec2') return [`${action}Response`, [['requestId', requestId], ...content]];
  return [
    `${action}Response`,
    [
      [`${action}Result`, content],
      ['ResponseMetadata', [['RequestId', requestId]]],
    ],
  ];
}

function failed(service: Service, { code, message, status }: AwsError, requestId: string): XmlElement {
  const error: XmlElement[] = [
    ['Code', code],
    ['Message', message],
  ];
  if (service === 'ec2') {
    return [
      'Response',
      [
        ['Errors', [['Error', error]]],
        ['RequestID', requestId],
      ],
    ];
  }
  const type = status < 500 ? 'Sender' : 'Receiver';
  return [
    'ErrorResponse',
    [
      ['Error', [['Type', type], ...error]],
      ['RequestId', requestId],
    ],
  ];
}

function answer(response: ServerResponse, status: number, body: string): void {
  response.writeHead(status, { 'content-type': 'text/xml;charset=UTF-8' });
  response.end(body);
}
