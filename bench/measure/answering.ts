/** The child's side of `measured-process.ts`: answers its parent's questions until the parent ends it. */
import * as z from 'zod';

/** Gets the question's argument as the parent sent it: parse it. */
export type Answerer = (argument: unknown) => unknown;

const questionSchema = z.object({ id: z.number(), question: z.string(), argument: z.unknown() });

/** Serves each question by its name. What an answerer throws becomes the error of the parent's call. */
export function answerQuestions(answerers: Readonly<Record<string, Answerer>>): void {
  process.on('message', (message: unknown) => {
    const parsed = questionSchema.safeParse(message);
    // Somebody else's message: several modules of one process may listen.
    if (!parsed.success || !Object.hasOwn(answerers, parsed.data.question)) return;
    const { id, question, argument } = parsed.data;
    void answer(id, answerers[question], argument);
  });
}

async function answer(id: number, answerer: Answerer | undefined, argument: unknown): Promise<void> {
  try {
    process.send?.({ id, answer: (await answerer?.(argument)) ?? null });
  } catch (error) {
    process.send?.({ id, error: error instanceof Error ? (error.stack ?? error.message) : String(error) });
  }
}
