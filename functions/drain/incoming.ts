/** What the bus says about the drains of a node. */
import type { HealthEvent } from '../../shared/domain/health-event.ts';
import { seconds, type EpochMs } from '../../shared/domain/time.ts';
import type { DrainRequest, Said } from './request-record.ts';

/** The most by which two clocks differ that write whole seconds. */
export const CLOCKS_DIFFER = seconds(5);

/** What a bus event means to the drains of its node. */
export type Incoming =
  /** `receivedTime`: first receipt, by which its age is judged; undefined: it has none. */
  | {
      readonly kind: 'drain';
      readonly request: DrainRequest;
      readonly receivedTime?: EpochMs | undefined;
      /** A `DrainRequested`: who sent it waits for the answer. */
      readonly isRequest?: true;
    }
  /** A monitor reports that a fault is over; nobody says that a quarantine is. */
  | {
      readonly kind: 'recovered';
      readonly event: HealthEvent;
      readonly said?: Said | undefined;
      /** Somebody waits for the answer to it. */
      readonly asked?: DrainRequest;
    }
  /** The quarantine of the whole node is over. */
  | { readonly kind: 'unQuarantined'; readonly id: string; readonly said?: Said | undefined }
  /** A person took back the quarantine of this one event. */
  | { readonly kind: 'cancelled'; readonly id: string }
  /** A person took back the request on the Node. */
  | { readonly kind: 'withdrawn'; readonly id: string };
