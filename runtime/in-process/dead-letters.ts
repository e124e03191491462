/** `DeadLetters` in this process. `bury` gets the message with the texts that SQS would keep. */
import { acceptableText, MAX_EXPLANATION_CHARS } from '../../shared/adapters/sqs/message-text.ts';
import type { DeadLetters } from '../../shared/ports/dead-letters.ts';
import type { BuriedMessage } from '../system-parts.ts';

export function createInProcessDeadLetters(bury: (message: BuriedMessage) => void): DeadLetters {
  return {
    async park({ function: name, body, reason, explanation }) {
      bury({
        function: name,
        body: acceptableText(body),
        reason: acceptableText(reason, MAX_EXPLANATION_CHARS),
        explanation: acceptableText(explanation, MAX_EXPLANATION_CHARS),
      });
    },
  };
}
