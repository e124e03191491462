/** What the grace-period function remembers about one node, beside its timer: which Events were recorded. */
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

/** By topic: what was announced last, e.g. the expiry; something else is announced anew. */
export type Announced = Readonly<Partial<Record<AnnouncementTopic, string>>>;

export interface GracePeriodRecord {
  /** By the UID of the Pod or Node that the Event is about. */
  readonly announced: Readonly<Record<string, Announced>>;
  /** A run has taken it upon itself to record what is due; written before the first Event. */
  readonly claimTime?: EpochMs;
}

export const EMPTY_RECORD: GracePeriodRecord = { announced: {} };
