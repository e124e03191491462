/** What a call of SQS's JSON protocol asks for. */
import { z } from 'zod';
import type { AwsModel } from '../model.ts';
import type { AccessRequest } from './evaluate.ts';

const bodySchema = z.object({ QueueUrl: z.string().default('') });

/** A batch asks for the action of its entries. */
export function toSqsRequest(
  target: string,
  body: unknown,
  { region, account }: Pick<AwsModel, 'region' | 'account'>,
): AccessRequest {
  const operation = target.slice(target.lastIndexOf('.') + 1).replace(/Batch$/, '');
  const { QueueUrl } = bodySchema.safeParse(body).data ?? { QueueUrl: '' };
  const name = QueueUrl.slice(QueueUrl.lastIndexOf('/') + 1);
  return { action: `sqs:${operation}`, resource: `arn:aws:sqs:${region}:${account}:${name}`, context: {} };
}
