/** `DeadLetters` on SQS: the message goes to the function's DLQ as it came, with the reason as attributes (I9). */
import { SendMessageCommand, type SendMessageCommandInput, type SQSClient } from '@aws-sdk/client-sqs';
import { messageGroupOfBody } from '../../contract/message-group.ts';
import { TerminalError } from '../../errors.ts';
import type { DeadLetters } from '../../ports/dead-letters.ts';
import { fromAwsError } from '../aws-errors.ts';

/** Attributes count towards the message's size limit, and a person reads them in a console. */
const MAX_EXPLANATION_CHARS = 1000;

/** Characters that SQS refuses in text: all but tab, line feed, carriage return and the characters of XML 1.0. */
// eslint-disable-next-line no-control-regex -- control characters are what is looked for
const REFUSED = /[^\u0009\u000A\u000D\u0020-\uD7FF\uE000-\uFFFD\u{10000}-\u{10FFFF}]/gu;

export interface DeadLettersOptions {
  readonly client: Pick<SQSClient, 'send'>;
  readonly queueUrl: string;
}

/**
 * The body is kept whole, but for characters that SQS refuses, which become U+FFFD; the explanation is cut to
 * `MAX_EXPLANATION_CHARS`. Attributes count towards the size of a message: a body that leaves no room for them is parked without the
 * explanation, or without any.
 */
export function createDeadLetters({ client, queueUrl }: DeadLettersOptions): DeadLetters {
  return {
    async park(message) {
      const named = { function: textAttribute(message.function), reason: textAttribute(message.reason) };
      const explained = { ...named, explanation: textAttribute(message.explanation) };
      const MessageGroupId = messageGroupOfBody(message.body);
      const send = async (attributes: SendMessageCommandInput['MessageAttributes']): Promise<void> => {
        const MessageBody = acceptable(message.body, Infinity);
        const input = {
          QueueUrl: queueUrl,
          MessageBody,
          MessageGroupId,
          ...(attributes && { MessageAttributes: attributes }),
        };
        try {
          await client.send(new SendMessageCommand(input));
        } catch (error) {
          throw fromAwsError(error, { doing: `parking a message of ${message.function}`, write: true });
        }
      };
      await send(explained)
        .catch(lessWhenRefused(() => send(named)))
        .catch(lessWhenRefused(() => send(undefined)));
    },
  };
}

/** SQS has one code for all that it does not take, and a queue may take less than others: so less is tried, and nothing is measured. */
const lessWhenRefused =
  (sendLess: () => Promise<void>) =>
  async (error: unknown): Promise<void> => {
    if (!(error instanceof TerminalError)) throw error;
    await sendLess();
  };

function textAttribute(value: string) {
  return { DataType: 'String', StringValue: acceptable(value, MAX_EXPLANATION_CHARS) };
}

/** SQS takes neither an empty text nor a control character; the message must be parked anyway. */
function acceptable(text: string, maxChars: number): string {
  const cut = text.length <= maxChars ? text : `${text.slice(0, maxChars - 1)}…`;
  return cut.toWellFormed().replace(REFUSED, '\uFFFD') || '(empty)';
}
