/** Reads `DrainCompleted` of the drain function, as far as it says how a drain that repair asked for has ended. */
import { parsed, type Parsed } from '../../../shared/contract/policy-schema.ts';
import * as z from '../../../shared/contract/zod.ts';
import type { RungAnswer } from '../pass/pool.ts';

const schema = z.object({
  id: z.string(),
  status: z.enum(['Succeeded', 'Failed', 'Cancelled', 'AlreadyDrained']),
  message: z._default(z.string(), ''),
});

export interface EndedDrain {
  readonly requestId: string;
  readonly answer: RungAnswer;
}

/** A drain that was taken back by somebody else than us stops the repair: they want the node left alone. */
const ANSWERS = {
  Succeeded: 'succeeded',
  AlreadyDrained: 'succeeded',
  Failed: 'failed',
  Cancelled: 'stopped',
} as const;

/** Never throws. */
export function parseDrainCompleted(detail: unknown): Parsed<EndedDrain> {
  const read = parsed(schema.safeParse(detail), 'detail');
  if (!read.ok) return read;
  const { id, status, message } = read.value;
  return {
    ok: true,
    value: { requestId: id, answer: { kind: ANSWERS[status], message: `drain ${status}: ${message}` } },
  };
}

/** The UID of the node that a request of this id is about: the id begins with it (`grant.ts`). */
export const nodeOfRequest = (requestId: string): string | undefined => /^(.+)\.\d+$/.exec(requestId)?.[1];
