/** `DeadLetters` on SQS: the message goes to the function's DLQ as it came, with the reason as attributes (I9). */
import { SendMessageCommand, type SQSClient } from '@aws-sdk/client-sqs';
import type { DeadLetters } from '../../ports/dead-letters.ts';
import { fromAwsError } from '../aws-errors.ts';

/** Attributes count towards the message's size limit, and a person reads them in a console. */
const MAX_EXPLANATION_CHARS = 1000;

/** What SQS refuses in text: all but tab, line feed, carriage return and the characters of XML 1.0. */
// eslint-disable-next-line no-control-regex -- control characters are what is looked for
const REFUSED = /[^\u0009\u000A\u000D\u0020-\uD7FF\uE000-\uFFFD\u{10000}-\u{10FFFF}]/gu;

/**
 * The body is kept whole, but for characters that SQS refuses, which become U+FFFD; the explanation is cut to
 * `MAX_EXPLANATION_CHARS`.
 */
export function createDeadLetters(options: { client: Pick<SQSClient, 'send'>; queueUrl: string }): DeadLetters {
  return {
    async park(message) {
      const command = new SendMessageCommand({
        QueueUrl: options.queueUrl,
        MessageBody: acceptable(message.body, Infinity),
        MessageAttributes: {
          function: textAttribute(message.function),
          reason: textAttribute(message.reason),
          explanation: textAttribute(message.explanation),
        },
      });
      try {
        await options.client.send(command);
      } catch (error) {
        throw fromAwsError(error, { doing: `parking a message of ${message.function}`, write: true });
      }
    },
  };
}

function textAttribute(value: string) {
  return { DataType: 'String', StringValue: acceptable(value, MAX_EXPLANATION_CHARS) };
}

/** SQS takes neither an empty text nor a control character; the message must be parked anyway. */
function acceptable(text: string, maxChars: number): string {
  const cut = text.length <= maxChars ? text : `${text.slice(0, maxChars - 1)}…`;
  return cut.toWellFormed().replace(REFUSED, '\uFFFD') || '(empty)';
}
