/** The DynamoDB client of the functions. */
import { DynamoDBClient, type DynamoDBClientConfig } from '@aws-sdk/client-dynamodb';
import { CLIENT_DEFAULTS } from '../aws-errors.ts';
import { endingCalls, type EndOfCalls } from '../end-of-calls.ts';

/** @param config in place of what the environment says */
export function createDynamoDbClient(config: DynamoDBClientConfig = {}, endOfCalls?: EndOfCalls): DynamoDBClient {
  return endingCalls(new DynamoDBClient({ ...CLIENT_DEFAULTS, ...config }), endOfCalls);
}
