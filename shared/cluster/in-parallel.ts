/**
 * Reads that do not depend on each other, at once. Like `Promise.all`, but a failure is told only when all have ended: nothing may
 * run on after a handler has answered, because Lambda freezes the environment there and what is left thaws minutes later.
 */
export async function inParallel<const Parts extends readonly unknown[]>(
  parts: Parts,
): Promise<{ -readonly [Index in keyof Parts]: Awaited<Parts[Index]> }> {
  try {
    return await Promise.all(parts);
  } catch (error) {
    await Promise.allSettled(parts);
    throw error;
  }
}
