/** The name of a custom resource in the record of who made it (`ResourceName`). */
import * as z from '../contract/zod.ts';

export const storedName = z.object({
  group: z.string(),
  version: z.string(),
  resource: z.string(),
  namespace: z.exactOptional(z.string()),
  name: z.string(),
});
