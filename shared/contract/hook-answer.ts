/** The answer to a hook or a clean-up, as a Lambda function returns it or a worker's event carries it. */
import { cutText } from '../domain/cut-text.ts';
import type { HookAnswer } from '../domain/hook-answer.ts';
import { parsed } from './policy-schema.ts';
import * as z from './zod.ts';

/** Wire form of an answer. */
export const hookAnswerSchema = z.object({
  /** `notFound`: there is nothing left to do, which is success. `pending`: at work, and a heartbeat. */
  result: z.enum(['succeed', 'notFound', 'fail', 'pending']),
  message: z._default(z.string(), ''),
});

/** A failure in words, which may be a whole stack trace. */
export function failedAnswer(message: string): HookAnswer {
  return { kind: 'failed', message: cutText(message) };
}

/** Garbage is a failure with a message, never a success (I1). @param who answered, for that message */
export function hookAnswerOf(value: unknown, who: string): HookAnswer {
  const answer = parsed(hookAnswerSchema.safeParse(value), 'answer');
  if (!answer.ok) return failedAnswer(`${who} answered what is no answer: ${answer.message}`);
  const { result, message } = answer.value;
  switch (result) {
    case 'succeed':
    case 'notFound':
      return { kind: 'succeeded' };
    case 'pending':
      return { kind: 'pending' };
    case 'fail':
      return failedAnswer(message === '' ? `${who} gives no message` : message);
  }
}
