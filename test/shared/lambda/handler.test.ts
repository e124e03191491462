/** The wiring: a handler made as functions make it, out of environment variables alone, against real servers on this machine. */
import { CreateQueueCommand, ReceiveMessageCommand, SQSClient } from '@aws-sdk/client-sqs';
import { startFauxqs } from 'fauxqs';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { createApiServer } from '../../../packages/kube-apiserver/src/api-server.ts';
import { serveApiServer } from '../../../packages/kube-apiserver/src/http/server.ts';
import { systemClock } from '../../../shared/adapters/system-clock.ts';
import { ENV } from '../../../shared/contract/env.ts';
import { toWakeUpEnvelope } from '../../../shared/contract/wake-up.ts';
import { RESOURCES } from '../../../shared/contract/resources.ts';
import { addDuration, seconds } from '../../../shared/domain/time.ts';
import { RetryableError } from '../../../shared/errors.ts';
import { createHandler } from '../../../shared/lambda/handler.ts';
import type { FunctionDeps } from '../../../shared/ports/function-deps.ts';
import { DEADLINE_RESERVE_WITH_HOOKS, TIME_TO_HIDE } from '../../../shared/lambda/run-time.ts';
import { startStore } from '../adapters/dynamodb/stores.ts';
import { TABLE_NAME } from '../adapters/dynamodb/table.ts';
import { serve } from '../adapters/kubernetes/scripted-server.ts';
import { lambdaContext, sqsEvent } from './events.ts';
import { objectAt } from '../../fakes/objects.ts';

const CREDENTIALS = { accessKeyId: 'test', secretAccessKey: 'test' };

async function startStack() {
  const core = createApiServer({ clock: systemClock });
  const users: string[] = [];
  const cluster = await serveApiServer(core, { now: Date.now, log: ({ user }) => users.push(user) });
  const sqs = await startFauxqs({ port: 0, logger: false });
  const store = await startStore('dynalite');
  const queues = new SQSClient({
    endpoint: `http://127.0.0.1:${sqs.port}`,
    region: 'us-west-2',
    credentials: CREDENTIALS,
  });
  const makeQueue = async (name: string): Promise<string> => {
    await queues.send(new CreateQueueCommand({ QueueName: name }));
    // The URL that fauxqs answers has a host name that no resolver knows.
    return `http://127.0.0.1:${sqs.port}/000000000000/${name}`;
  };
  const inbox = await makeQueue('repair');
  const deadLetters = await makeQueue('dead-letters');
  const environment = {
    AWS_REGION: 'us-west-2',
    AWS_ACCESS_KEY_ID: 'test',
    AWS_SECRET_ACCESS_KEY: 'test',
    AWS_ENDPOINT_URL_DYNAMODB: store.endpoint,
    AWS_ENDPOINT_URL_SQS: `http://127.0.0.1:${sqs.port}`,
    [ENV.clusterName]: 'test',
    [ENV.clusterEndpoint]: cluster.url,
    [ENV.clusterCertificateAuthority]: '',
    [ENV.tableName]: TABLE_NAME,
    [ENV.inboxUrls]: JSON.stringify({ repair: inbox }),
    [ENV.deadLetterQueueUrl]: deadLetters,
    [ENV.inboxUrl]: inbox,
  };
  for (const [name, value] of Object.entries(environment)) vi.stubEnv(name, value);
  const lines: string[] = [];
  for (const stream of [process.stdout, process.stderr]) {
    vi.spyOn(stream, 'write').mockImplementation(text => lines.push(String(text)) > 0);
  }
  onTestFinished(async () => {
    vi.unstubAllEnvs();
    vi.restoreAllMocks();
    queues.destroy();
    await store.stop();
    await sqs.stop();
    await cluster.close();
  });
  const receive = async (url: string) =>
    (
      await queues.send(
        new ReceiveMessageCommand({ QueueUrl: url, MaxNumberOfMessages: 10, MessageAttributeNames: ['All'] }),
      )
    ).Messages ?? [];
  return { core, users, receive, inbox, deadLetters, lines };
}

const subject = { kind: 'Node', apiVersion: 'v1', name: 'n1', uid: 'u1' };
const tick = JSON.stringify({ source: 'curfew.timer', 'detail-type': 'Tick', detail: {} });

describe('createHandler', () => {
  it('ends its calls, and answers, before Lambda ends the run', async () => {
    await startStack();
    const limits = vi.spyOn(systemClock, 'startLimit');
    const endOfRun = (): void => limits.mock.calls.find(([duration]) => duration === 30_000 - TIME_TO_HIDE)?.[1]();
    // It takes requests and never answers.
    const silent = await serve(endOfRun);
    vi.stubEnv(ENV.clusterEndpoint, silent.url);
    const failures: unknown[] = [];
    const handler = createHandler('repair', ['kubernetes'], deps => async () => {
      await deps.kubernetes.get({ type: RESOURCES.Node, name: 'n1' }).catch((error: unknown) => {
        failures.push(error);
        throw error;
      });
    });
    const wakeUp = toWakeUpEnvelope({ owner: 'repair', subject, wakeTime: systemClock.now() });
    const answer = await handler(sqsEvent([JSON.stringify(wakeUp)]), lambdaContext());
    expect(answer.batchItemFailures).toHaveLength(1);
    expect(failures).toMatchObject([{ name: 'RetryableError', reason: 'DeadlineReserve' }]);
  });

  it('begins a message only while a hook has all its time, in a function that calls hooks', async () => {
    await startStack();
    let looks = 0;
    const hooks = { invoke: () => Promise.reject(new Error('not called')) };
    const look = () => async () => void (looks += 1);
    const withHooks = createHandler('repair', [], look, { otherAdapters: { hooks: () => hooks } });
    const without = createHandler('repair', [], look);
    const left = lambdaContext(() => DEADLINE_RESERVE_WITH_HOOKS - 1);
    expect((await withHooks(sqsEvent([tick]), left)).batchItemFailures).toHaveLength(1);
    expect((await without(sqsEvent([tick]), left)).batchItemFailures).toEqual([]);
    expect(looks).toBe(1);
  });

  it('gives a function every port, out of its environment', async () => {
    const { core, users, receive, inbox, deadLetters, lines } = await startStack();
    core.seed({ apiVersion: 'v1', kind: 'Node', metadata: { name: 'n1', uid: 'u1' } });
    const wakeTime = addDuration(systemClock.now(), seconds(0));
    const handler = createHandler(
      'repair',
      ['kubernetes', 'records', 'dueIndex', 'wakeUps', 'events'],
      deps => async () => {
        const node = await objectAt(deps.kubernetes, { type: RESOURCES.Node, name: 'n1' });
        const record = { owner: 'repair', id: 'node/u1', subject, state: { found: node?.metadata.uid ?? '' } } as const;
        const outcome = await deps.records.put({ ...record, nextWakeTime: wakeTime }, 0);
        deps.audit.write({
          function: 'repair',
          decision: outcome.kind,
          reason: 'Tested',
          message: 'm',
          kind: 'Node',
          name: 'n1',
        });
        deps.metrics.count('Looked');
        const due = await Promise.all(
          Array.from({ length: deps.dueIndex.shardCount }, (_, shard) =>
            deps.dueIndex.queryDue(shard, wakeTime, { limit: 10 }),
          ),
        );
        const [{ subject: dueSubject } = { subject }] = due.flatMap(({ records }) => records);
        await deps.wakeUps.send([{ wakeUp: { owner: 'repair', subject: dueSubject, wakeTime }, delay: seconds(0) }]);
        if (node !== undefined)
          await deps.events.record({ type: 'Normal', reason: 'Tested', message: 'm', about: node });
      },
    );
    expect(await handler(sqsEvent([tick, '{']), lambdaContext())).toEqual({ batchItemFailures: [] });

    expect((await receive(inbox)).map(({ Body = '' }) => JSON.parse(Body))).toMatchObject([
      { 'detail-type': 'WakeUp', detail: { owner: 'repair', subject, wakeTime } },
    ]);
    expect(await receive(deadLetters)).toMatchObject([
      {
        Body: '{',
        MessageAttributes: { reason: { StringValue: 'InvalidMessage' }, function: { StringValue: 'repair' } },
      },
    ]);
    expect(core.list(RESOURCES.Event).items).toMatchObject([{ reason: 'Tested', reportingInstance: 'repair' }]);
    expect(new Set(users)).toEqual(new Set(['curfew-repair']));
    const printed = lines
      .join('')
      .trim()
      .split('\n')
      .map(line => JSON.parse(line));
    expect(printed).toContainEqual(
      expect.objectContaining({ audit: true, decision: 'written', function_request_id: 'r1', messageId: 'm0' }),
    );
    expect(printed).toContainEqual(expect.objectContaining({ service: 'curfew-repair', Looked: 1 }));
  });

  it('writes no field and no metric that docs/observability.md does not name', async () => {
    const { lines } = await startStack();
    vi.stubEnv('AWS_LAMBDA_INITIALIZATION_TYPE', 'on-demand');
    const handler = createHandler('repair', [], deps => async message => {
      if (message.kind === 'tick') throw new RetryableError('down', { reason: 'Status503', retryAfterMs: 1 });
      if (message.kind === 'wakeUp') throw new TypeError('x');
      deps.audit.write({
        function: 'repair',
        decision: 'blocked',
        reason: 'UnhealthyThreshold',
        message: 'm',
        kind: 'Node',
        namespace: 'n',
        name: 'n1',
        uid: 'u1',
        details: {},
      });
    });
    const wakeUp = toWakeUpEnvelope({ owner: 'repair', subject, wakeTime: systemClock.now() });
    const event = { id: 'a', source: 'test', 'detail-type': 'Thing', detail: {} };
    await handler(sqsEvent([tick, ...[wakeUp, event].map(body => JSON.stringify(body))]), lambdaContext());
    const printed: Record<string, unknown>[] = lines
      .join('')
      .trim()
      .split('\n')
      .map(line => JSON.parse(line));
    expect(printed.filter(line => 'audit' in line)).toHaveLength(1);
    expect(printed.filter(({ message }) => String(message).startsWith('message failed'))).toHaveLength(2);
    const metrics = printed.filter(line => '_aws' in line);
    expect(metrics.some(line => 'ColdStart' in line)).toBe(true);
    const document = readFileSync(join(import.meta.dirname, '../../../docs/observability.md'), 'utf8');
    const named = new Set([...document.matchAll(/`([^`]+)`/g)].flatMap(([, code = '']) => code.match(/\w+/g) ?? []));
    expect(printed.flatMap(line => Object.keys(line)).filter(field => !named.has(field))).toEqual([]);
  });

  it('asks for the variables of the adapters that were named, and of no others', async () => {
    await startStack();
    vi.stubEnv(ENV.clusterEndpoint, '');
    const idle = async (): Promise<void> => undefined;
    expect(() => createHandler('timer', ['dueIndex', 'records'], () => idle)).not.toThrow();
    expect(() => createHandler('timer', ['kubernetes'], () => idle)).toThrow(
      'environment variable CLUSTER_ENDPOINT must be set',
    );
  });

  it('hands over instances only where they were asked for', async () => {
    await startStack();
    const instances: FunctionDeps['instances'] = {
      describe: () => Promise.resolve({ state: 'running' }),
      checkOf: () => Promise.resolve(undefined),
      list: () => Promise.resolve([]),
      terminate: () => Promise.resolve({ kind: 'ok' }),
      reboot: () => Promise.resolve({ kind: 'ok' }),
      terminateInAutoScalingGroup: async () => ({ kind: 'ok' }),
    };
    const states: unknown[] = [];
    const handler = createHandler(
      'finalizer',
      [],
      deps => async () => void states.push(await deps.instances.describe('aws:///z/i-0')),
      { otherAdapters: { instances: () => instances } },
    );
    await handler(sqsEvent([tick]), lambdaContext());
    expect(states).toEqual([{ state: 'running' }]);
    // @ts-expect-error -- the compiler refuses to use what the bundle does not carry
    createHandler('finalizer', [], deps => async () => void (await deps.instances.describe('')));
  });
});
