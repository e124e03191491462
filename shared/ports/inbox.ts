import type { FunctionName } from '../contract/names.ts';
import type { Subject } from '../contract/subject.ts';
import type { DurationMs, EpochMs } from '../domain/time.ts';

/** A hint to `owner` to look at `subject` again, delivered `delay` from now or later. */
export interface WakeUp {
  readonly owner: FunctionName;
  readonly subject: Subject;
  /** The instant the owner asked for; it may arrive up to a second early, the batch wrapper waits out the rest. */
  readonly wakeTime: EpochMs;
  /** The sweep sends it again every minute while it is due, so it need not be retried for long. */
  readonly repeated?: boolean | undefined;
}

/** SQS carries at most 900 s; longer delays are refused by every adapter (some emulators accept them). */
export const MAX_DELAY_SECONDS = 900;

/** Sends wake-ups to inboxes. A send may be lost or doubled without harm: the minute sweep finds what is due. */
export interface WakeUpSender {
  send(wakeUps: readonly { readonly wakeUp: WakeUp; readonly delay: DurationMs }[]): Promise<void>;
}
