/** What a call of DynamoDB's JSON protocol asks for. */
import { z } from 'zod';
import type { AwsModel } from '../model.ts';
import type { AccessRequest } from './evaluate.ts';

const LEADING_KEYS = 'dynamodb:LeadingKeys';

const attributes = z.record(z.string(), z.record(z.string(), z.unknown()));
const bodySchema = z.object({
  TableName: z.string().default(''),
  IndexName: z.string().optional(),
  Key: attributes.optional(),
  Item: attributes.optional(),
});

/**
 * One table and at most one item; a call on several tables (`TransactWriteItems`) names no table here, and no statement allows that.
 * Keys of a `Query` stand in an expression that is not read: it has no leading keys.
 */
export function toDynamoDbRequest(
  target: string,
  body: unknown,
  { region, account, tables }: Pick<AwsModel, 'region' | 'account' | 'tables'>,
): AccessRequest {
  const operation = target.slice(target.lastIndexOf('.') + 1);
  const { TableName, IndexName, Key, Item } = bodySchema.safeParse(body).data ?? { TableName: '' };
  // A table may be given by its ARN.
  const name = TableName.slice(TableName.lastIndexOf('/') + 1);
  const table = `arn:aws:dynamodb:${region}:${account}:table/${name}`;
  const hash = tables.find(each => each.TableName === name)?.KeySchema.find(({ KeyType }) => KeyType === 'HASH');
  const value = hash && (Key ?? Item)?.[hash.AttributeName];
  const leading = Object.values(value ?? {}).filter(each => typeof each === 'string');
  return {
    action: `dynamodb:${operation}`,
    resource: IndexName === undefined ? table : `${table}/index/${IndexName}`,
    context: leading.length === 0 ? {} : { [LEADING_KEYS]: leading },
  };
}
