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
  RequestItems: z.record(z.string(), z.object({ Keys: z.array(attributes) })).optional(),
});

/**
 * One table and its items; a call on several tables (`TransactWriteItems`) names no table here, and no statement allows that.
 * Keys of a `Query` stand in an expression that is not read: it has no leading keys.
 */
export function toDynamoDbRequest(
  target: string,
  body: unknown,
  { region, account, tables }: Pick<AwsModel, 'region' | 'account' | 'tables'>,
): AccessRequest {
  const operation = target.slice(target.lastIndexOf('.') + 1);
  const { TableName, IndexName, Key, Item, RequestItems = {} } = bodySchema.safeParse(body).data ?? { TableName: '' };
  const [[batchTable, batch] = [], ...otherTables] = Object.entries(RequestItems);
  const given = batchTable !== undefined && otherTables.length === 0 ? batchTable : TableName;
  // A table may be given by its ARN.
  const name = given.slice(given.lastIndexOf('/') + 1);
  const table = `arn:aws:dynamodb:${region}:${account}:table/${name}`;
  const hash = tables.find(each => each.TableName === name)?.KeySchema.find(({ KeyType }) => KeyType === 'HASH');
  const items = batch?.Keys ?? [Key ?? Item];
  const leading = items
    .flatMap(item => Object.values((hash && item?.[hash.AttributeName]) ?? {}))
    .filter(value => typeof value === 'string');
  return {
    action: `dynamodb:${operation}`,
    resource: IndexName === undefined ? table : `${table}/index/${IndexName}`,
    context: leading.length === 0 ? {} : { [LEADING_KEYS]: leading },
  };
}
