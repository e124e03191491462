/** Reads the `drain` block of a NodeLifecyclePolicy: how many drains at once, and how long one may take. Strict (I8). */
import { DRAIN_ON_DEADLINES, type DrainLimits } from '../domain/drain-limits.ts';
import type { NodeCount } from '../domain/repair-policy.ts';
import { parsedOnce } from './parsed-once.ts';
import { parsed, positiveDuration, type ParseResult } from './policy-schema.ts';
import * as z from './zod.ts';

/** IntOrString: `3` or `"20%"`. None at all is no limit but a stop, which mode Observe is there for. */
const placeCount = z.union(
  [
    z.pipe(
      z.int().check(z.minimum(1), z.maximum(1_000_000)),
      z.transform((count: number): NodeCount => ({ count })),
    ),
    z.pipe(
      z.string().check(z.regex(/^([1-9]\d?|100)%$/)),
      z.transform((text: string): NodeCount => ({ percent: Number(text.slice(0, -1)) })),
    ),
  ],
  'must be a whole number from 1 to 1000000, or a percentage from "1%" to "100%"',
);

const blockSchema = z.madeOnce(() =>
  z
    .strictObject({
      maxConcurrent: z.exactOptional(placeCount),
      deadline: z.exactOptional(positiveDuration),
      onDeadline: z.exactOptional(z.enum(DRAIN_ON_DEADLINES)),
    })
    .check(
      z.refine(
        ({ deadline, onDeadline }) => onDeadline === undefined || deadline !== undefined,
        'onDeadline has no effect without a deadline',
      ),
    ),
);

/** Wire form of a `drain` block, and what it stands for. */
export const drainLimitsSchema = z.madeOnce(() =>
  z.pipe(
    blockSchema(),
    z.transform(
      ({ maxConcurrent, deadline, onDeadline = 'Fail' }: z.output<ReturnType<typeof blockSchema>>): DrainLimits => ({
        maxConcurrent,
        deadline,
        onDeadline,
      }),
    ),
  ),
);

/** Parses a `drain` block; `{}` limits nothing. */
export const parseDrainLimits = parsedOnce((block, path): ParseResult<DrainLimits> =>
  parsed(drainLimitsSchema().safeParse(block), path),
);
