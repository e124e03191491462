/** The table as infra makes it, of the same constants. */
import type { CreateTableCommandInput } from '@aws-sdk/client-dynamodb';
import { TABLE } from '../../../../shared/contract/table.ts';

export const TABLE_NAME = 'curfew-records';

const { partitionKey, dueIndex } = TABLE;

export const TABLE_INPUT = {
  TableName: TABLE_NAME,
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
} satisfies CreateTableCommandInput;
