import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { expect, it } from 'vitest';
import { createDynamoDbClient, LEFT_OUT } from '../../../../shared/adapters/dynamodb/client.ts';

/** The steps of a call, by their names. */
const stepsOf = ({ middlewareStack }: DynamoDBClient): readonly string[] =>
  middlewareStack.identify().map(step => step.split(' ')[0] ?? '');

it("leaves out of a call what nobody here needs, and nothing else, of the SDK's own steps", () => {
  const options = { region: 'us-west-2', credentials: { accessKeyId: 'a', secretAccessKey: 'b' } };
  const whole = stepsOf(new DynamoDBClient(options));
  expect(whole).toEqual(expect.arrayContaining([...LEFT_OUT]));
  const leftOut = new Set<string>(LEFT_OUT);
  expect(stepsOf(createDynamoDbClient(options))).toEqual(whole.filter(step => !leftOut.has(step)));
});
