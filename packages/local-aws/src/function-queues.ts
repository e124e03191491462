/** Which queue is whose, and how many runs it may have at once, as the template says. */
import { z } from 'zod';
import type { AwsModel, EventSourceModel } from './model.ts';

/** The most invocations at once over all event sources of the function; 1 for one without any. */
export function concurrencyOf(sources: readonly EventSourceModel[], physicalName: string): number {
  const own = sources.filter(({ functionName }) => functionName === physicalName);
  return own.reduce((sum, { maxConcurrency }) => sum + maxConcurrency, 0) || 1;
}

/** The queue of the function's first event source, by the function's name (`repair`). Throws where there is none. */
export function inboxOf({ functions, eventSources }: AwsModel, functionName: string): string {
  const fn = functions.find(({ name }) => name === functionName);
  const source = eventSources.find(candidate => candidate.functionName === fn?.physicalName);
  if (source === undefined) throw new Error(`there is no function ${functionName} with an inbox`);
  return source.queueName;
}

const redriveSchema = z.object({ deadLetterTargetArn: z.string() });

/** Throws for a queue without a redrive policy. */
export function deadLetterQueueOf({ queues }: AwsModel, queueName: string): string {
  const policy = queues.find(({ name }) => name === queueName)?.attributes['RedrivePolicy'];
  if (policy === undefined) throw new Error(`${queueName} has no dead-letter queue`);
  const { deadLetterTargetArn } = redriveSchema.parse(JSON.parse(policy));
  return deadLetterTargetArn.slice(deadLetterTargetArn.lastIndexOf(':') + 1);
}
