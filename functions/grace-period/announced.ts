/** What the grace-period function remembers about one node, beside its timer: which Events were recorded. */
import type { Refusals } from '../../shared/domain/refusal.ts';
import type { EpochMs } from '../../shared/domain/time.ts';

export const ANNOUNCEMENT_TOPICS = [
  'invalid',
  'capped',
  'until',
  'expiring',
  'elapsed',
  'notOurs',
  'observed',
] as const;
/** What an Event is about: one Event reason each. */
export type AnnouncementTopic = (typeof ANNOUNCEMENT_TOPICS)[number];

/** By topic: what was announced last, e.g. the expiry; something else is announced anew. Records of before have `refused`, too. */
export type Announced = Readonly<Partial<Record<AnnouncementTopic | 'refused', string>>>;

export interface GracePeriodRecord {
  /** By the UID of the Pod or Node that the Event is about. */
  readonly announced: Readonly<Record<string, Announced>>;
  /** A run has taken it upon itself to record what is due; written before the first Event. */
  readonly claimTime?: EpochMs;
  /** Somebody keeps removing the annotation: the next time it is put back waits longer. */
  readonly effort?: Effort;
  /** Changes of the Node that the API server refuses, by kind. */
  readonly refusals?: Refusals;
}

export interface Effort {
  readonly times: number;
  readonly lastTime: EpochMs;
}

export const EMPTY_RECORD: GracePeriodRecord = { announced: {} };
