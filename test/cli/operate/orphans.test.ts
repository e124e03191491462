import type { FinalizerDeps } from '../../../functions/finalizer/common/context.ts';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { orphansCommand } from '../../../cli/orphans.ts';
import { createReconciler } from '../../../functions/finalizer/route.ts';
import { FAKE_CREDENTIALS } from '../../../packages/local-aws/src/fake-credentials.ts';
import { startSqs, type LocalSqs } from '../../../packages/local-aws/src/sqs.ts';
import { createRecordStore } from '../../../shared/adapters/dynamodb/record-store.ts';
import { systemClock } from '../../../shared/adapters/system-clock.ts';
import { parseInboxMessage } from '../../../shared/contract/inbox-message.ts';
import { operationOutputId, RECORDS_TABLE_OUTPUT } from '../../../shared/contract/operation-outputs.ts';
import { addDuration, hours } from '../../../shared/domain/time.ts';
import type { AuditRecord } from '../../../shared/ports/audit-log.ts';
import { startAwsControlPlane, type AwsControlPlane } from '../../fakes/aws-control-plane.ts';
import { clientFor, startStore, type TestStore } from '../../shared/adapters/dynamodb/stores.ts';
import { TABLE_INPUT } from '../../shared/adapters/dynamodb/table.ts';

const ACCOUNT = '000000000000';
const ID = 'instance/aws:///us-west-2a/i-0abc';
let sqs: LocalSqs;
let plane: AwsControlPlane;
let store: TestStore;
let client: ReturnType<typeof clientFor>;

beforeAll(async () => {
  [sqs, plane, store] = await Promise.all([
    startSqs({ region: 'us-west-2', account: ACCOUNT }),
    startAwsControlPlane(),
    startStore('dynalite'),
  ]);
  const url = `${sqs.endpoint}/${ACCOUNT}/finalizer-inbox`;
  await sqs.createQueues([
    { name: 'finalizer-inbox', arn: `arn:aws:sqs:us-west-2:${ACCOUNT}:finalizer-inbox`, url, attributes: {} },
  ]);
  for (const output of ['EventSource', 'Inbox', 'DeadLetters'] as const) {
    plane.outputs.set(operationOutputId('finalizer', output), url);
  }
  plane.outputs.set(RECORDS_TABLE_OUTPUT, TABLE_INPUT.TableName);
  const env = {
    AWS_ENDPOINT_URL: plane.endpoint,
    AWS_ENDPOINT_URL_SQS: sqs.endpoint,
    AWS_ENDPOINT_URL_DYNAMODB: store.endpoint,
    AWS_REGION: 'us-west-2',
    AWS_ACCESS_KEY_ID: FAKE_CREDENTIALS.accessKeyId,
    AWS_SECRET_ACCESS_KEY: FAKE_CREDENTIALS.secretAccessKey,
  };
  for (const [key, value] of Object.entries(env)) vi.stubEnv(key, value);
  client = clientFor(store.endpoint);
});
afterAll(async () => {
  vi.unstubAllEnvs();
  client.destroy();
  await Promise.all([plane.stop(), sqs.stop(), store.stop()]);
});

async function run(command: (output: { out(text: string): void; error(text: string): void }) => Promise<number>) {
  let [out, error] = ['', ''];
  const code = await command({ out: text => void (out += text), error: text => void (error += text) });
  return { code, out, error };
}
const list = (stack = 'Curfew') => run(output => orphansCommand({ stack }, output));
const forget = (id: string, stack = 'Curfew') => run(output => orphansCommand({ stack, forget: id }, output));

/** The finalizer function takes all that is in its inbox; answers what its audit says. */
async function consume(): Promise<readonly AuditRecord[]> {
  const audit: AuditRecord[] = [];
  const deps: Partial<FinalizerDeps> = {
    records: createRecordStore({ client, tableName: TABLE_INPUT.TableName }),
    wakeUps: { send: async () => undefined },
    clock: systemClock,
    audit: { write: record => void audit.push(record) },
    metrics: { count: () => undefined, milliseconds: () => undefined },
    events: { record: async () => undefined },
  };
  const reconcile = createReconciler(deps as FinalizerDeps);
  const { ready } = await sqs.inspect('finalizer-inbox');
  for (const { body } of ready) await reconcile(parseInboxMessage(body));
  return audit;
}

describe('curfew orphans', () => {
  it('lists instances and objects of rules, oldest first, and forgets what a person has seen to', async () => {
    const records = createRecordStore({ client, tableName: TABLE_INPUT.TableName });
    expect(await list()).toEqual({ code: 0, out: 'No possible orphan is in the ledger.\n', error: '' });
    const nextWakeTime = addDuration(systemClock.now(), hours(23));
    const put = (id: string, kind: string, state: Parameters<typeof records.put>[0]['state']) =>
      records.put(
        {
          owner: 'finalizer',
          id,
          subject: { apiVersion: 'x/v1', kind, namespace: 'prod', name: 'db' },
          state: { schemaVersion: 1, ...state },
          nextWakeTime,
        },
        0,
      );
    const time = Date.UTC(2024, 10, 1, 15);
    await put(ID, 'Instance', { since: time + 1000, saidTime: time + 1000 });
    const entry = { rule: 'databases', finalizerName: 'x/y', attempts: 0, time };
    await put('object/uid-1', 'Database', { ...entry, phase: 'orphaned', message: 'stripped by hand' });
    await put('object/uid-2', 'Database', { ...entry, phase: 'held' });
    await put('nodeclaim/uid-3', 'NodeClaim', {});
    expect(await list()).toEqual({
      code: 0,
      out: [
        'object/uid-1 since 2024-11-01T15:00:00Z Database prod/db of FinalizerRule databases: stripped by hand',
        `${ID} since 2024-11-01T15:00:01Z Instance`,
        '2 possible orphans\n',
      ].join('\n'),
      error: '',
    });

    for (const id of [ID, 'object/uid-1', 'object/uid-2', 'object/uid-9']) expect((await forget(id)).code).toBe(0);
    const audit = await consume();
    expect(audit.map(({ decision, details }) => [decision, details])).toEqual([
      ['forget', { id: ID }],
      ['forget', { id: 'object/uid-1' }],
      ['ignore', { id: 'object/uid-2' }],
      ['ignore', { id: 'object/uid-9' }],
    ]);
    expect((await list()).out).toBe('No possible orphan is in the ledger.\n');
    // The instance still stands there: its silent entry keeps the next check from finding it anew.
    expect((await records.get({ owner: 'finalizer', id: ID }))?.state).toMatchObject({ forgotten: true });
    expect(await records.get({ owner: 'finalizer', id: 'object/uid-1' })).toBeUndefined();
    expect(await records.get({ owner: 'finalizer', id: 'object/uid-2' })).toBeDefined();
  });

  it('names each rule of an object that may have left something, and forgets no other', async () => {
    const records = createRecordStore({ client, tableName: TABLE_INPUT.TableName });
    const key = { owner: 'finalizer', id: 'object/uid-4' } as const;
    const subject = { apiVersion: 'x/v1', kind: 'Database', namespace: 'prod', name: 'db' };
    const time = Date.UTC(2024, 10, 1, 15);
    const entryOf = (rule: string, phase: string, wakeTime: number) => ({
      [rule]: { rule, finalizerName: `x/${rule}`, attempts: 1, time, phase, wakeTime },
    });
    const nextWakeTime = addDuration(systemClock.now(), hours(23));
    const others = { ...entryOf('backups', 'orphaned', nextWakeTime), ...entryOf('users', 'failed', nextWakeTime) };
    const state = { schemaVersion: 2, ...entryOf('disks', 'failed', nextWakeTime)['disks'], others };
    await records.put({ ...key, subject, state, nextWakeTime }, 0);
    expect((await list()).out).toBe(
      'object/uid-4 since 2024-11-01T15:00:00Z Database prod/db of FinalizerRule backups\n1 possible orphan\n',
    );

    await forget('object/uid-4');
    const lines = (await consume()).filter(({ details }) => details?.['id'] === key.id);
    expect(lines.map(({ decision }) => decision)).toEqual(['forget']);
    const { backups: _, ...left } = others;
    expect((await records.get(key))?.state).toEqual({ ...state, others: left });
    expect((await list()).out).toBe('No possible orphan is in the ledger.\n');
  });

  it('says what cannot be used', async () => {
    expect(await forget('i-0abc')).toMatchObject({ code: 2, error: expect.stringContaining('no id of an entry') });
    expect(await list('Other')).toMatchObject({ code: 2, error: expect.stringContaining('reading the stack Other') });
    expect(await forget(ID, 'Other')).toMatchObject({ code: 2, error: expect.stringContaining('reading the stack') });
  });
});
