/** `WakeUpSender` on SQS: wake-ups wait in the owner's inbox itself, with `DelaySeconds`. */
import { SendMessageBatchCommand, type SendMessageBatchRequestEntry, type SQSClient } from '@aws-sdk/client-sqs';
import type { FunctionName } from '../../contract/names.ts';
import { messageGroupOf } from '../../contract/message-group.ts';
import { toWakeUpEnvelope } from '../../contract/wake-up.ts';
import { invariant } from '../../domain/invariant.ts';
import { RetryableError } from '../../errors.ts';
import { MAX_DELAY_SECONDS, type WakeUp } from '../../contract/wake-up.ts';
import type { WakeUpSender } from '../../ports/inbox.ts';
import type { DurationMs } from '../../domain/time.ts';
import { fromAwsError } from '../aws-errors.ts';

/** SQS takes this many messages in one call. */
const MAX_ENTRIES = 10;
/** Tries for entries that a call refused while it took others. */
const MAX_ATTEMPTS = 3;

export interface WakeUpSenderOptions {
  readonly client: Pick<SQSClient, 'send'>;
  readonly inboxUrls: Readonly<Partial<Record<FunctionName, string>>>;
}

/**
 * `DelaySeconds` for a delay: whole seconds, rounded down, so that a wake-up comes up to a second early and never late; the batch
 * wrapper waits out the rest. Throws for more than SQS can carry, which some emulators accept.
 */
export function delaySecondsFor(delay: DurationMs): number {
  const seconds = Math.max(0, Math.floor(delay / 1000));
  invariant(seconds <= MAX_DELAY_SECONDS, `a wake-up is delayed by at most ${MAX_DELAY_SECONDS} s, not ${seconds} s`);
  return seconds;
}

/**
 * Throws `RetryableError` when some are still refused after `MAX_ATTEMPTS` calls; others are sent by then, which is
 * harmless when the caller sends all again. An owner without an inbox URL is a bug.
 */
export function createWakeUpSender({ client, inboxUrls }: WakeUpSenderOptions): WakeUpSender {
  return {
    async send(wakeUps) {
      const byOwner = Map.groupBy(wakeUps, ({ wakeUp }) => wakeUp.owner);
      for (const [owner, group] of byOwner) {
        const queueUrl = inboxUrls[owner];
        invariant(queueUrl !== undefined, `the inbox of ${owner} is configured`);
        for (let start = 0; start < group.length; start += MAX_ENTRIES) {
          const entries = group.slice(start, start + MAX_ENTRIES).map(({ wakeUp, delay }, index) => ({
            Id: String(index),
            MessageBody: JSON.stringify(toWakeUpEnvelope(wakeUp)),
            DelaySeconds: delaySecondsFor(delay),
            MessageGroupId: messageGroupOf(wakeUp),
          }));
          await sendEntries(client, queueUrl, entries, owner);
        }
      }
    },
  };
}

async function sendEntries(
  client: Pick<SQSClient, 'send'>,
  queueUrl: string,
  entries: readonly SendMessageBatchRequestEntry[],
  owner: WakeUp['owner'],
): Promise<void> {
  const doing = `sending wake-ups to ${owner}`;
  let unsent = entries;
  let code = '';
  for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt += 1) {
    const answer = await send(client, new SendMessageBatchCommand({ QueueUrl: queueUrl, Entries: [...unsent] }), doing);
    const failed = new Map((answer.Failed ?? []).map(failure => [failure.Id, failure.Code]));
    if (failed.size === 0) return;
    unsent = unsent.filter(entry => failed.has(entry.Id));
    code = [...failed.values()].find(value => value !== undefined) ?? 'Unknown';
  }
  throw new RetryableError(`${doing}: ${unsent.length} of ${entries.length} were refused: ${code}`, { reason: code });
}

async function send(client: Pick<SQSClient, 'send'>, command: SendMessageBatchCommand, doing: string) {
  try {
    return await client.send(command);
  } catch (error) {
    throw fromAwsError(error, { doing, write: true });
  }
}
