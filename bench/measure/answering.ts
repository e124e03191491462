/**
 * The child's side of `measured-process.ts`: answers its parent's questions until the parent ends it. Imports nothing, because it
 * runs inside what is measured.
 */

/** Gets the question's argument as the parent sent it: parse it. */
export type Answerer = (argument: unknown) => unknown;

/** Serves each question by its name. What an answerer throws becomes the error of the parent's call. */
export function answerQuestions(answerers: Readonly<Record<string, Answerer>>): void {
  process.on('message', (message: unknown) => {
    // Somebody else's message or question: several modules of one process may listen.
    if (typeof message !== 'object' || message === null || !('id' in message) || !('question' in message)) return;
    const { id, question } = message;
    if (typeof question !== 'string' || !Object.hasOwn(answerers, question)) return;
    void answer(id, answerers[question], 'argument' in message ? message.argument : undefined);
  });
}

async function answer(id: unknown, answerer: Answerer | undefined, argument: unknown): Promise<void> {
  try {
    process.send?.({ id, answer: (await answerer?.(argument)) ?? null });
  } catch (error) {
    process.send?.({ id, error: error instanceof Error ? (error.stack ?? error.message) : String(error) });
  }
}
