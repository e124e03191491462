/** Limits of SQS that fauxqs does not keep. */
import type { buildApp } from 'fauxqs';
import { z } from 'zod';

const MAX_DELAY_SECONDS = 900;
/** Letters, digits and punctuation. */
const MESSAGE_GROUP = /^[!-~]{1,128}$/;

const entrySchema = z.object({ DelaySeconds: z.number().optional(), MessageGroupId: z.string().optional() });
const sendSchema = z.object({ ...entrySchema.shape, Entries: z.array(entrySchema).optional() });

/**
 * Refuses messages that are to be delayed by more than 15 minutes, and groups that are none. In a batch, SQS refuses the entry; here the
 * whole call fails, which no sender overlooks.
 */
export function keepSqsLimits(app: ReturnType<typeof buildApp>): void {
  app.addHook('preHandler', async (request, reply) => {
    const { data } = sendSchema.safeParse(request.body);
    const refusal = [data, ...(data?.Entries ?? [])]
      .map(entry => refusalOf(entry ?? {}))
      .find(text => text !== undefined);
    if (refusal === undefined) return;
    await reply
      .status(400)
      .header('content-type', 'application/x-amz-json-1.0')
      .header('x-amzn-query-error', 'InvalidParameterValue;Sender')
      .send({ __type: 'com.amazonaws.sqs#InvalidParameterValue', message: refusal });
  });
}

function refusalOf({ DelaySeconds = 0, MessageGroupId }: z.infer<typeof entrySchema>): string | undefined {
  if (DelaySeconds > MAX_DELAY_SECONDS) {
    return `Value ${DelaySeconds} for parameter DelaySeconds is invalid. Reason: DelaySeconds must be >= 0 and <= ${MAX_DELAY_SECONDS}.`;
  }
  if (MessageGroupId === undefined || MESSAGE_GROUP.test(MessageGroupId)) return undefined;
  return `Value ${MessageGroupId} for parameter MessageGroupId is invalid. Reason: MessageGroupId can only include alphanumeric and punctuation characters. 1 to 128 in length.`;
}
