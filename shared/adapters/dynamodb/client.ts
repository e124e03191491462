/** The DynamoDB client of the functions: the SDK's, without what costs half of each call and serves nobody here. */
import { DynamoDBClient, type DynamoDBClientConfig } from '@aws-sdk/client-dynamodb';
import { CLIENT_DEFAULTS } from '../aws-errors.ts';
import { endingCalls, type EndOfCalls } from '../end-of-calls.ts';
import { createSigner } from './signer.ts';

/**
 * Steps of each call that are left out: the logger, which filters inputs and outputs for a log that is off; the header that says which SDK
 * calls; the one by which SQS, SNS and Lambda, not DynamoDB, notice that functions call each other in a circle.
 */
export const LEFT_OUT = ['loggerMiddleware', 'getUserAgentMiddleware', 'recursionDetectionMiddleware'] as const;

/** @param config in place of what the environment says */
export function createDynamoDbClient(config: DynamoDBClientConfig = {}, endOfCalls?: EndOfCalls): DynamoDBClient {
  // The steps of a call are put together once for each command.
  const client: DynamoDBClient = new DynamoDBClient({
    ...CLIENT_DEFAULTS,
    cacheMiddleware: true,
    signer: createSigner(
      () => client.config.credentials(),
      () => client.config.region(),
    ),
    ...config,
  });
  for (const name of LEFT_OUT) client.middlewareStack.remove(name);
  endingCalls(client, endOfCalls);
  storeFlat(client.config);
  return client;
}

/**
 * Each call copies the settings four times. The SDK adds them one by one, by which V8 makes them a hash table, and to copy that takes a
 * fifth of a call; an object that is somebody's prototype is stored flat again.
 */
function storeFlat(settings: object): void {
  Object.setPrototypeOf({}, settings);
}
