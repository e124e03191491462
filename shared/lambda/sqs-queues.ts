import { connectQueues, type Queues, type QueueUrls } from '../adapters/sqs/connect.ts';
import { ENV, requireEnv } from '../contract/env.ts';
import { FUNCTION_NAMES, type FunctionName } from '../contract/names.ts';
import * as z from '../contract/zod.ts';
import { endOfCalls } from './run-time.ts';

export type Env = Readonly<Record<string, string | undefined>>;

/** The function's inbox, its dead letters and the inboxes it wakes. */
export function sqsQueues(env: Env, { sendsWakeUps }: { readonly sendsWakeUps: boolean }): Queues {
  const urls: QueueUrls = {
    inbox: requireEnv(env, ENV.inboxUrl),
    deadLetters: requireEnv(env, ENV.deadLetterQueueUrl),
    wakeUps: sendsWakeUps ? parseInboxUrls(requireEnv(env, ENV.inboxUrls)) : {},
  };
  return connectQueues(urls, endOfCalls);
}

function parseInboxUrls(json: string): QueueUrls['wakeUps'] {
  const inboxUrls = z.partialRecord(z.enum(FUNCTION_NAMES), z.string()).parse(JSON.parse(json));
  const configured: Partial<Record<FunctionName, string>> = {};
  for (const name of FUNCTION_NAMES) {
    const url = inboxUrls[name];
    if (url !== undefined) configured[name] = url;
  }
  return configured;
}
