/** What Lambda hands to a function with an SQS event source. */
import type { Context, SQSEvent } from 'aws-lambda';

/** Messages `m0`, `m1`, … with these bodies. */
export function sqsEvent(bodies: readonly string[], receiveCount = 1): SQSEvent {
  return {
    Records: bodies.map((body, index) => ({
      messageId: `m${index}`,
      receiptHandle: `receipt-${index}`,
      body,
      attributes: {
        ApproximateReceiveCount: String(receiveCount),
        SentTimestamp: '0',
        SenderId: 'sender',
        ApproximateFirstReceiveTimestamp: '0',
      },
      messageAttributes: {},
      md5OfBody: '',
      eventSource: 'aws:sqs',
      eventSourceARN: 'arn:aws:sqs:us-west-2:111122223333:inbox',
      awsRegion: 'us-west-2',
    })),
  };
}

export function lambdaContext(remainingTimeInMillis: () => number = () => 30_000): Context {
  return {
    getRemainingTimeInMillis: remainingTimeInMillis,
    callbackWaitsForEmptyEventLoop: false,
    functionName: 'curfew-test',
    functionVersion: '1',
    invokedFunctionArn: 'arn:aws:lambda:us-west-2:111122223333:function:curfew-test',
    memoryLimitInMB: '512',
    awsRequestId: 'r1',
    logGroupName: 'group',
    logStreamName: 'stream',
    done: () => undefined,
    fail: () => undefined,
    succeed: () => undefined,
  };
}
