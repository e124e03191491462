/** Both stacks, deployed by CloudFormation into moto, and every pattern of the routing table there. */
import { CloudFormationClient, CreateStackCommand, DescribeStacksCommand } from '@aws-sdk/client-cloudformation';
import { EventBridgeClient, PutEventsCommand, type PutEventsRequestEntry } from '@aws-sdk/client-eventbridge';
import { ReceiveMessageCommand, SQSClient } from '@aws-sdk/client-sqs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { QUEUE_URL_IS_A_NAME } from '../../shared/adapters/sqs/connect.ts';
import * as contract from '../../shared/contract/names.ts';
import { operationOutputId } from '../../shared/contract/operation-outputs.ts';
import { matchesPattern, ROUTES } from '../../shared/contract/routes.ts';
import { synthesize } from '../infra/synthesized.ts';
import { reasonToSkip, startMoto, type Moto } from './install.ts';
import { forMoto, IGNORED_BY_MOTO, type Template } from './template.ts';

const reason = reasonToSkip();
if (reason !== undefined) process.stdout.write(`skipped: ${reason}\n`);

const CLUSTER = 'prod';
const { FUNCTION_NAMES, SOURCES } = contract;
/** Every word of the contract that may be a detail type, and some that none is. */
const DETAIL_TYPES = [
  ...new Set([
    ...ROUTES.flatMap(({ pattern }) => pattern(CLUSTER)['detail-type']),
    contract.FORWARDER_HEARTBEAT,
    'Unknown',
  ]),
];

describe.skipIf(reason !== undefined)(`on moto${reason === undefined ? '' : ` (skipped: ${reason})`}`, () => {
  const options = { region: 'us-west-2', credentials: { accessKeyId: 'test', secretAccessKey: 'test' } };
  let moto: Moto;
  let clients: { cloudFormation: CloudFormationClient; events: EventBridgeClient; sqs: SQSClient };
  let outputs: ReadonlyMap<string, string>;

  beforeAll(async () => {
    moto = await startMoto();
    const connected = { ...options, endpoint: moto.endpoint };
    clients = {
      cloudFormation: new CloudFormationClient(connected),
      events: new EventBridgeClient(connected),
      sqs: new SQSClient({ ...connected, ...QUEUE_URL_IS_A_NAME }),
    };
    const { stateTemplate, functionsTemplate } = synthesize();
    for (const [StackName, template] of [
      ['CurfewState', stateTemplate],
      ['Curfew', functionsTemplate],
    ] as const) {
      const TemplateBody = JSON.stringify(forMoto(template.toJSON() as Template));
      await clients.cloudFormation.send(
        new CreateStackCommand({ StackName, TemplateBody, Capabilities: ['CAPABILITY_IAM'] }),
      );
    }
    const { Stacks = [] } = await clients.cloudFormation.send(new DescribeStacksCommand({ StackName: 'Curfew' }));
    outputs = new Map(
      (Stacks[0]?.Outputs ?? []).map(({ OutputKey = '', OutputValue = '' }) => [OutputKey, OutputValue]),
    );
  });
  afterAll(async () => {
    for (const client of Object.values(clients ?? {})) client.destroy();
    await moto?.stop();
  });

  /** The markers of all messages in an inbox. */
  async function markersIn(name: contract.FunctionName): Promise<readonly number[]> {
    const QueueUrl = outputs.get(operationOutputId(name, 'Inbox'));
    const found: number[] = [];
    for (;;) {
      const { Messages = [] } = await clients.sqs.send(
        new ReceiveMessageCommand({ QueueUrl, MaxNumberOfMessages: 10, VisibilityTimeout: 600 }),
      );
      if (Messages.length === 0) return found.toSorted((a, b) => a - b);
      for (const { Body = '{}' } of Messages) found.push(JSON.parse(Body).detail.marker);
    }
  }

  it('are complete, and moto ignores what is said that it ignores, and nothing else', async () => {
    const { Stacks = [] } = await clients.cloudFormation.send(new DescribeStacksCommand({}));
    expect(Stacks.map(({ StackName, StackStatus }) => [StackName, StackStatus])).toEqual(
      expect.arrayContaining([
        ['CurfewState', 'CREATE_COMPLETE'],
        ['Curfew', 'CREATE_COMPLETE'],
      ]),
    );
    expect([...moto.ignoredTypes()].toSorted()).toEqual(IGNORED_BY_MOTO.toSorted());
  });

  it('route each event as the patterns say, of any source, detail type and cluster', async () => {
    const busName = outputs.get('EventBusName') ?? '';
    const of = (kind: string, rest: object) => ({ cluster: CLUSTER, subject: { kind }, change: 'Modified', ...rest });
    const details = [
      { cluster: CLUSTER },
      { cluster: 'other' },
      {},
      { state: 'terminated' },
      { state: 'stopped' },
      of('Node', { changed: ['taints'] }),
      of('Node', { changed: ['labels', 'taints'] }),
      of('NodeClaim', { changed: ['finalizers'] }),
      of('Node', { changed: [], resync: true }),
      of('Node', { changed: ['conditions'], hints: { podsFor: 'finalizer' } }),
      of('Thing', { changed: ['version'], hints: { hookKey: 'key' } }),
      { ...of('Node', { changed: [] }), change: 'Deleted' },
    ];
    const events = [...Object.values(SOURCES), 'my.monitor'].flatMap(source =>
      DETAIL_TYPES.flatMap(detailType => details.map(detail => ({ source, 'detail-type': detailType, detail }))),
    );
    const onBuses = events.flatMap(event => [
      { ...event, bus: busName },
      { ...event, bus: 'default' },
    ]);
    const entries = onBuses.map(
      ({ source, 'detail-type': DetailType, detail, bus }, marker): PutEventsRequestEntry => ({
        EventBusName: bus,
        Source: source,
        DetailType,
        Detail: JSON.stringify({ ...detail, marker }),
      }),
    );
    expect(entries.length).toBeGreaterThan(300);
    for (let start = 0; start < entries.length; start += 10) {
      await clients.events.send(new PutEventsCommand({ Entries: entries.slice(start, start + 10) }));
    }
    for (const name of FUNCTION_NAMES) {
      const routes = ROUTES.filter(({ target }) => target === name);
      const expected = onBuses.flatMap(({ bus, ...event }, marker) =>
        routes.filter(route => bus === busName && matchesPattern(route.pattern(CLUSTER), event)).map(() => marker),
      );
      expect([name, await markersIn(name)]).toEqual([name, expected]);
    }
  });
});
