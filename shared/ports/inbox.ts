import type { WakeUp } from '../contract/wake-up.ts';
import type { DurationMs } from '../domain/time.ts';

/** Sends wake-ups to inboxes. A send may be lost or doubled without harm: the minute sweep finds what is due. */
export interface WakeUpSender {
  send(wakeUps: readonly { readonly wakeUp: WakeUp; readonly delay: DurationMs }[]): Promise<void>;
}
