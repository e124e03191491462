/** Reads the `repairLimits` block of a NodeLifecyclePolicy: how many repairs may be under way at once beyond one pool. Strict (I8). */
import { parsedOnce } from './parsed-once.ts';
import { parsed, type ParseResult } from './policy-schema.ts';
import { nodeCount } from './repair-schema.ts';
import * as z from './zod.ts';
import type { RepairLimits } from '../domain/repair-policy.ts';

/** Wire form of a `repairLimits` block. */
export const repairLimitsSchema = z.madeOnce(() =>
  z.strictObject({
    maxConcurrentRepairsPerZone: z.exactOptional(nodeCount),
    maxConcurrentRepairsPerCluster: z.exactOptional(nodeCount),
  }),
);

/** Parses a `repairLimits` block; `{}` limits nothing. */
export const parseRepairLimits = parsedOnce((block, path): ParseResult<RepairLimits> =>
  parsed(repairLimitsSchema().safeParse(block), path),
);
