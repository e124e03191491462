import { setTimeout as sleep } from 'node:timers/promises';
import { invariant } from '../../shared/domain/invariant.ts';

const POLL_MS = 500;

/** Polls until `promise` settles, and once before; settles as it does. */
export async function whileWaiting<Value>(promise: Promise<Value>, poll: () => Promise<void>): Promise<Value> {
  const result = promise.then(
    value => ({ value }),
    (error: unknown) => ({ error }),
  );
  for (;;) {
    await poll();
    const settled = await Promise.race([result, sleep(POLL_MS)]);
    if (settled === undefined) continue;
    if ('error' in settled) throw settled.error;
    invariant('value' in settled, 'a promise settles with a value or an error');
    return settled.value;
  }
}
