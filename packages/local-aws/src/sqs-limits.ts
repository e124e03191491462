/** Limits of SQS that fauxqs does not keep. */
import type { buildApp } from 'fauxqs';
import { z } from 'zod';

const MAX_DELAY_SECONDS = 900;

const delayed = z.object({ DelaySeconds: z.number().optional() });
const sendSchema = z.object({ DelaySeconds: z.number().optional(), Entries: z.array(delayed).optional() });

/** Refuses messages that are to be delayed by more than 15 minutes. In a batch, SQS refuses the entry; here the whole call fails, which no sender overlooks. */
export function refuseLongDelays(app: ReturnType<typeof buildApp>): void {
  app.addHook('preHandler', async (request, reply) => {
    const { data } = sendSchema.safeParse(request.body);
    const delays = [data, ...(data?.Entries ?? [])].map(entry => entry?.DelaySeconds ?? 0);
    const tooLong = delays.find(delay => delay > MAX_DELAY_SECONDS);
    if (tooLong === undefined) return;
    await reply
      .status(400)
      .header('content-type', 'application/x-amz-json-1.0')
      .header('x-amzn-query-error', 'InvalidParameterValue;Sender')
      .send({
        __type: 'com.amazonaws.sqs#InvalidParameterValue',
        message: `Value ${tooLong} for parameter DelaySeconds is invalid. Reason: DelaySeconds must be >= 0 and <= ${MAX_DELAY_SECONDS}.`,
      });
  });
}
