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
  'refused',
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
  /** Changes of the Node that did not last or were not accepted: the next one waits longer. */
  readonly effort?: Effort;
}

export interface Effort {
  /** `restored`: somebody keeps removing the annotation. `refused`: the API server does not accept the change. */
  readonly kind: 'restored' | 'refused';
  readonly times: number;
  readonly lastTime: EpochMs;
  /** Why it was refused. */
  readonly message?: string;
}

export const EMPTY_RECORD: GracePeriodRecord = { announced: {} };
