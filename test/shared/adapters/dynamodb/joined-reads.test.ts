/** Which calls are made of reads that come together, and whom a failure concerns. */
import type { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { describe, expect, it } from 'vitest';
import { createItemReader } from '../../../../shared/adapters/dynamodb/joined-reads.ts';
import { RetryableError } from '../../../../shared/errors.ts';
import { fakeClient, serviceError, type Sent } from '../fake-client.ts';

const key = (pk: string) => ({ pk: { S: pk } });
const item = (pk: string) => ({ ...key(pk), n: { N: '1' } });
const TOGETHER = 'BatchGetItemCommand';
const ALONE = 'GetItemCommand';

function reading(answer: (sent: Sent) => unknown) {
  const { client, sent } = fakeClient<DynamoDBClient>(answer);
  return { read: createItemReader(client, 't'), sent };
}

describe('reads of items', () => {
  it('that come together leave as one consistent call, each key once', async () => {
    const { read, sent } = reading(() => ({ Responses: { t: [item('b'), item('a')] } }));
    expect(await Promise.all(['a', 'b', 'none', 'a'].map(read))).toEqual([item('a'), item('b'), undefined, item('a')]);
    const Keys = [key('a'), key('b'), key('none')];
    expect(sent).toEqual([{ name: TOGETHER, input: { RequestItems: { t: { Keys, ConsistentRead: true } } } }]);
  });

  it('that come one after the other are calls of their own, and nothing is kept', async () => {
    const { read, sent } = reading(() => ({ Item: item('a') }));
    await read('a');
    expect(await read('a')).toEqual(item('a'));
    const input = { TableName: 't', Key: key('a'), ConsistentRead: true };
    expect(sent).toEqual([
      { name: ALONE, input },
      { name: ALONE, input },
    ]);
  });

  it('are asked for again one by one when DynamoDB leaves some out', async () => {
    const { read, sent } = reading(({ name }) =>
      name === TOGETHER
        ? { Responses: { t: [item('a')] }, UnprocessedKeys: { t: { Keys: [key('b')] } } }
        : { Item: item('b') },
    );
    expect(await Promise.all([read('a'), read('b'), read('none')])).toEqual([item('a'), item('b'), undefined]);
    expect(sent.map(({ name }) => name)).toEqual([TOGETHER, ALONE]);
  });

  it('fail alone when one key is not valid', async () => {
    const invalid = serviceError('ValidationException', 'client');
    const { read } = reading(({ name, input }) =>
      name === TOGETHER || JSON.stringify(input).includes('"bad"') ? invalid : { Item: item('a') },
    );
    const [good, bad] = await Promise.allSettled([read('a'), read('bad')]);
    expect(good).toEqual({ status: 'fulfilled', value: item('a') });
    expect(bad).toMatchObject({ status: 'rejected', reason: { name: 'TerminalError' } });
  });

  it('fail together when DynamoDB throttles: more calls would not help', async () => {
    const { read, sent } = reading(() => serviceError('ThrottlingException', 'client'));
    const failures = await Promise.allSettled([read('a'), read('b')]);
    for (const failure of failures) expect(failure).toMatchObject({ reason: expect.any(RetryableError) });
    expect(sent.map(({ name }) => name)).toEqual([TOGETHER]);
  });
});
