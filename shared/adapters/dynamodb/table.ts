/** The table as `CreateTable` input, for tests and the local stack; in production infra makes it of the same constants. */
import type { CreateTableCommandInput } from '@aws-sdk/client-dynamodb';
import { TABLE } from '../../contract/table.ts';

export function createTableInput(tableName: string): CreateTableCommandInput {
  const { partitionKey, dueIndex } = TABLE;
  return {
    TableName: tableName,
    BillingMode: 'PAY_PER_REQUEST',
    AttributeDefinitions: [
      { AttributeName: partitionKey, AttributeType: 'S' },
      { AttributeName: dueIndex.partitionKey, AttributeType: 'S' },
      { AttributeName: dueIndex.sortKey, AttributeType: 'N' },
    ],
    KeySchema: [{ AttributeName: partitionKey, KeyType: 'HASH' }],
    GlobalSecondaryIndexes: [
      {
        IndexName: dueIndex.name,
        KeySchema: [
          { AttributeName: dueIndex.partitionKey, KeyType: 'HASH' },
          { AttributeName: dueIndex.sortKey, KeyType: 'RANGE' },
        ],
        Projection: { ProjectionType: 'INCLUDE', NonKeyAttributes: [...dueIndex.projectedAttributes] },
      },
    ],
  };
}
