/** Schema of the last report of a failure, as records keep it. */
import { instant } from '../../../shared/contract/instant.ts';
import * as z from '../../../shared/contract/zod.ts';

/** The stored form of `FailureReport`. */
export const failureReportSchema = z.object({ message: z.string(), time: instant });
