/** How records keep the last report of a failure. */
import { instant } from '../../../shared/contract/instant.ts';
import * as z from '../../../shared/contract/zod.ts';

/** As `FailureReport`. */
export const failureReportSchema = z.object({ message: z.string(), time: instant });
