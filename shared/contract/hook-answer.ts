/** What a Lambda function returns, or a worker's event carries, in answer to a hook or a clean-up. */
import * as z from './zod.ts';

export type HookAnswer =
  | { readonly kind: 'succeeded' }
  | { readonly kind: 'failed'; readonly message: string }
  /** Taken on; the worker answers later by an event. */
  | { readonly kind: 'pending' };

const answerSchema = z.object({
  /** `notFound`: there is nothing left to do, which is success. `pending`: at work, and a heartbeat. */
  result: z.enum(['succeed', 'notFound', 'fail', 'pending']),
  message: z._default(z.string(), ''),
});

/** Garbage is a failure with a message, never a success (I1). @param who answered, for that message */
export function hookAnswerOf(value: unknown, who: string): HookAnswer {
  const answer = answerSchema.safeParse(value);
  if (!answer.success) {
    return { kind: 'failed', message: `${who} answered what is no answer: ${z.prettifyError(answer.error)}` };
  }
  const { result, message } = answer.data;
  switch (result) {
    case 'succeed':
    case 'notFound':
      return { kind: 'succeeded' };
    case 'pending':
      return { kind: 'pending' };
    case 'fail':
      return { kind: 'failed', message };
  }
}
