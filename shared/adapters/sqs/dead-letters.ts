/** `DeadLetters` on SQS: the message goes to the function's DLQ as it came, with the reason as attributes (I9). */
import { SendMessageCommand, type SendMessageCommandInput, type SQSClient } from '@aws-sdk/client-sqs';
import { messageGroupOfBody } from '../../contract/message-group.ts';
import { TerminalError } from '../../errors.ts';
import type { DeadLetters } from '../../ports/dead-letters.ts';
import { fromAwsError } from '../aws-errors.ts';
import { acceptableText, MAX_EXPLANATION_CHARS } from './message-text.ts';

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
        const MessageBody = acceptableText(message.body);
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
  return { DataType: 'String', StringValue: acceptableText(value, MAX_EXPLANATION_CHARS) };
}
