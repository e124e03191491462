/** `AWS_USE_FIPS_ENDPOINT`, which the SDK obeys, in every client of the functions: where the calls go. */
import { GetItemCommand } from '@aws-sdk/client-dynamodb';
import { beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { createDynamoDbClient } from '../../../shared/adapters/dynamodb/client.ts';
import { connectInstances } from '../../../shared/adapters/ec2/connect.ts';
import { connectEventBus } from '../../../shared/adapters/eventbridge/connect.ts';
import { connectInvokeFunction } from '../../../shared/adapters/lambda/connect.ts';
import { connectQueues } from '../../../shared/adapters/sqs/connect.ts';
import { seconds } from '../../../shared/domain/time.ts';
import https from 'node:https';
import { PassThrough } from 'node:stream';

/** As CloudFormation writes it into a function's variables. */
const QUEUE_URL = 'https://sqs.us-east-1.amazonaws.com/123456789012/inbox';

/** Hosts that are called; every call fails for good. */
function watchHosts(): string[] {
  const hosts: string[] = [];
  vi.spyOn(https, 'request').mockImplementation((options: unknown) => {
    hosts.push((options as { host: string }).host);
    const request = new PassThrough();
    setImmediate(() => request.emit('error', Object.assign(new Error('refused'), { code: 'EPROTO' })));
    return request as never;
  });
  onTestFinished(() => void vi.restoreAllMocks());
  return hosts;
}

const CALLS: readonly (readonly [string, () => Promise<unknown>])[] = [
  ['dynamodb', () => createDynamoDbClient().send(new GetItemCommand({ TableName: 't', Key: { pk: { S: 'a' } } }))],
  [
    'sqs',
    () => connectQueues({ inbox: QUEUE_URL, deadLetters: QUEUE_URL, wakeUps: {} }).visibility.hideFor('r', seconds(1)),
  ],
  ['events', () => connectEventBus('bus').publish([{ source: 'curfew.repair', detailType: 'T', detail: {} }])],
  ['lambda', () => connectInvokeFunction()('backup', {})],
  ['ec2', () => connectInstances('prod').describe('aws:///us-east-1a/i-0abc0abc0abc0abc0')],
];

describe('clients of AWS', () => {
  beforeEach(() => {
    vi.stubEnv('AWS_REGION', 'us-east-1');
    vi.stubEnv('AWS_ACCESS_KEY_ID', 'test');
    vi.stubEnv('AWS_SECRET_ACCESS_KEY', 'test');
    onTestFinished(() => void vi.unstubAllEnvs());
  });

  it.each(CALLS)('%s: call the FIPS endpoint where the environment says so', async (service, call) => {
    vi.stubEnv('AWS_USE_FIPS_ENDPOINT', 'true');
    const hosts = watchHosts();
    const warned = vi.spyOn(console, 'warn').mockReturnValue();
    await call().catch(() => undefined);
    expect(new Set(hosts)).toEqual(new Set([`${service}-fips.us-east-1.amazonaws.com`]));
    expect(warned).not.toHaveBeenCalled();
  });

  it.each(CALLS)('%s: call the dual-stack endpoint where the environment says so', async (service, call) => {
    vi.stubEnv('AWS_USE_DUALSTACK_ENDPOINT', 'true');
    const hosts = watchHosts();
    await call().catch(() => undefined);
    expect(hosts[0]).toMatch(/\.api\.aws$/);
    expect(hosts[0]?.startsWith(`${service}.`)).toBe(true);
  });
});
