/** What is held at one instant: by the processes of `--serve`, in the table, in the cluster, in the queues. */
import { DynamoDBClient, ListTablesCommand, ScanCommand, type AttributeValue } from '@aws-sdk/client-dynamodb';
import { GetQueueAttributesCommand, ListQueuesCommand, SQSClient } from '@aws-sdk/client-sqs';
import { FAKE_CREDENTIALS } from '../../packages/local-aws/src/fake-credentials.ts';
import { RESOURCES } from '../../shared/contract/resources.ts';
import type { KubernetesApi } from '../../shared/ports/kubernetes-api.ts';
import { objectsOf } from '../../shared/ports/read-answer.ts';
import { childrenOf, heldBy, type Held, type Role } from './processes.ts';
import type { Served } from './served.ts';

/** By what it is; what could not be read, because it was just being started again, is missing. */
export type Sample = Readonly<Record<string, number>>;

const REGION = 'us-east-1';
const COUNTED = [RESOURCES.Node, RESOURCES.NodeClaim, RESOURCES.Pod, RESOURCES.Event] as const;

export interface Sampler {
  take(): Promise<Sample>;
  /** Messages that were given up, in all queues. */
  deadLetters(): Promise<number>;
}

export function createSampler(served: Served, api: KubernetesApi): Sampler {
  const client = { region: REGION, credentials: FAKE_CREDENTIALS, maxAttempts: 1 };
  const dynamoDb = new DynamoDBClient({ ...client, endpoint: served.dynamoDb });
  const sqs = new SQSClient({ ...client, endpoint: served.sqs });

  async function records(): Promise<Sample> {
    const { TableNames: [TableName] = [] } = await dynamoDb.send(new ListTablesCommand({}));
    let count = 0;
    let bytes = 0;
    let from: Record<string, AttributeValue> | undefined;
    do {
      const page = await dynamoDb.send(new ScanCommand({ TableName, ExclusiveStartKey: from }));
      count += page.Items?.length ?? 0;
      bytes += JSON.stringify(page.Items ?? []).length;
      from = page.LastEvaluatedKey;
    } while (from !== undefined);
    return { records: count, 'bytes of records': bytes };
  }
  async function objects(): Promise<Sample> {
    const counts = await Promise.all(
      COUNTED.map(async type => objectsOf(await api.list(type), { ifNotServed: 'empty' })),
    );
    return Object.fromEntries(COUNTED.map(({ resource }, index) => [resource, counts[index]?.length ?? 0]));
  }
  const processes = (): Sample => {
    const children = childrenOf(served.pid);
    const of = (role: Role): readonly Held[] =>
      children.filter(child => child.role === role).flatMap(({ pid }) => heldBy(pid) ?? []);
    const own = heldBy(served.pid);
    return {
      ...(own && heldAs('serve', [own])),
      ...heldAs('forwarder', of('forwarder')),
      ...heldAs('DynamoDB', of('DynamoDB')),
      ...heldAs('a function', of('function')),
      'processes of functions': of('function').length,
    };
  };
  return {
    async take() {
      const settled = await Promise.allSettled([
        records(),
        objects(),
        served.heap().then(bytes => ({ 'serve: heap': bytes })),
      ]);
      const read = settled.flatMap(each => (each.status === 'fulfilled' ? [each.value] : []));
      return Object.assign({}, processes(), ...read);
    },
    async deadLetters() {
      const { QueueUrls = [] } = await sqs.send(new ListQueuesCommand({}));
      const counts = await Promise.all(
        QueueUrls.filter(url => /dead/i.test(url)).map(async QueueUrl => {
          const AttributeNames = ['ApproximateNumberOfMessages' as const];
          const { Attributes } = await sqs.send(new GetQueueAttributesCommand({ QueueUrl, AttributeNames }));
          return Number(Attributes?.ApproximateNumberOfMessages ?? NaN);
        }),
      );
      return counts.reduce((sum, count) => sum + count, 0);
    },
  };
}

function heldAs(name: string, all: readonly Held[]): Sample {
  if (all.length === 0) return {};
  const mean = (of: (held: Held) => number): number => all.reduce((sum, held) => sum + of(held), 0) / all.length;
  return { [`${name}: RSS`]: mean(held => held.rssBytes), [`${name}: open handles`]: mean(held => held.handles) };
}
