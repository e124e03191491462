import { describe, expect, it } from 'vitest';
import { toItem } from '../../../../shared/adapters/dynamodb/items.ts';
import {
  deleteRequest,
  getRequest,
  putRequest,
  queryDueRequest,
} from '../../../../shared/adapters/dynamodb/requests.ts';
import { toEpochMs } from '../../../../shared/domain/time.ts';

const subject = { kind: 'Node', apiVersion: 'v1', name: 'n1' };
const item = toItem({ owner: 'repair', id: 'a', subject, state: { n: 1 } }, 4, 'w');
const attributes = {
  pk: { S: 'repair/a' },
  owner: { S: 'repair' },
  id: { S: 'a' },
  schemaVersion: { N: '1' },
  version: { N: '4' },
  writeId: { S: 'w' },
  subject: { M: { kind: { S: 'Node' }, apiVersion: { S: 'v1' }, name: { S: 'n1' } } },
  state: { M: { n: { N: '1' } } },
};

describe('requests', () => {
  it('reads consistently', () => {
    expect(getRequest('t', 'repair/a')).toEqual({
      TableName: 't',
      Key: { pk: { S: 'repair/a' } },
      ConsistentRead: true,
    });
  });

  it('creates only what does not exist', () => {
    expect(putRequest('t', item, 0)).toEqual({
      TableName: 't',
      Item: attributes,
      ConditionExpression: 'attribute_not_exists(pk)',
      ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
    });
  });

  it('replaces only the expected version', () => {
    expect(putRequest('t', item, 3)).toEqual({
      TableName: 't',
      Item: attributes,
      ConditionExpression: '#version = :expectedVersion',
      ExpressionAttributeNames: { '#version': 'version' },
      ExpressionAttributeValues: { ':expectedVersion': { N: '3' } },
      ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
    });
  });

  it('deletes only the expected version, or what is gone', () => {
    expect(deleteRequest('t', 'repair/a', 3)).toEqual({
      TableName: 't',
      Key: { pk: { S: 'repair/a' } },
      ConditionExpression: 'attribute_not_exists(pk) OR #version = :expectedVersion',
      ExpressionAttributeNames: { '#version': 'version' },
      ExpressionAttributeValues: { ':expectedVersion': { N: '3' } },
      ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
    });
  });

  it('queries one shard up to an instant, oldest first', () => {
    const request = queryDueRequest('t', 5, toEpochMs(1000), { limit: 25 });
    expect(request).toEqual({
      TableName: 't',
      IndexName: 'due',
      KeyConditionExpression: '#shard = :shard AND #time <= :before',
      ExpressionAttributeNames: { '#shard': 'dueShard', '#time': 'nextWakeTime' },
      ExpressionAttributeValues: { ':shard': { S: '5' }, ':before': { N: '1000' } },
      ScanIndexForward: true,
      Limit: 25,
    });
    const startKey = { pk: { S: 'repair/a' } };
    expect(queryDueRequest('t', 5, toEpochMs(1000), { limit: 25, startKey }).ExclusiveStartKey).toEqual(startKey);
  });
});
