/**
 * The clean-up of FinalizerRule `managed-database`: a Lambda function that drops what a ManagedDatabase stood for. It may be called any
 * number of times for the same object; what is gone already is success.
 */
import { z } from 'zod';
import { createDatabaseServer, describeDatabaseError } from '../database-server.ts';

/** Of what Curfew sends, as far as it is read here. The UID alone says what is dropped: names are used again. */
const callSchema = z.object({
  schemaVersion: z.literal(1),
  about: z.object({ kind: z.literal('ManagedDatabase'), name: z.string(), uid: z.string().min(1) }),
});

export interface CleanupAnswer {
  readonly result: 'succeed' | 'notFound' | 'fail';
  readonly message: string;
}

/** Throws for a call that is none and without `DATABASE_URL`; Curfew then keeps the finalizer and says so on the object. */
export async function handler(event: unknown): Promise<CleanupAnswer> {
  const url = process.env['DATABASE_URL'];
  if (url === undefined) throw new Error('DATABASE_URL is not set');
  const { about } = callSchema.parse(event);
  try {
    const dropped = await createDatabaseServer(url).drop(about.uid);
    return dropped.length === 0
      ? { result: 'notFound', message: `there is nothing of ${about.name}` }
      : { result: 'succeed', message: `dropped ${dropped.join(' and ')}` };
  } catch (error) {
    return { result: 'fail', message: describeDatabaseError(error) };
  }
}
