/** What a HealthEvent asks for, by its quarantine status and what it says of itself (docs/drain.md). Pure. */
import type { HealthEventMessage } from '../../shared/contract/health-event.ts';
import { EXECUTE_REMEDIATION } from '../../shared/domain/health-event.ts';

export type Asks =
  /** A drain of the node. */
  | { readonly kind: 'drain' }
  /** The fault that it names is over. `isAsked`: fault-quarantine waits for the end of a drain all the same. */
  | { readonly kind: 'recovered'; readonly isAsked: boolean }
  | { readonly kind: 'unQuarantined' }
  | { readonly kind: 'cancelled' }
  /** Nothing, in this delivery: the same event with another status is judged anew. */
  | { readonly kind: 'notQuarantined'; readonly message: string }
  /** It is for the record only. */
  | { readonly kind: 'nothing' };

/** What the event asks for. A status that NVSentinel's next release may have means that the node is not quarantined. */
export function askedBy(message: HealthEventMessage): Asks {
  const { event, quarantine, drained } = message;
  // 0 counts as EXECUTE_REMEDIATION; the others are for the record only.
  if (event.processingStrategy !== 0 && event.processingStrategy !== EXECUTE_REMEDIATION) return { kind: 'nothing' };
  if (quarantine === 'UnQuarantined') return { kind: 'unQuarantined' };
  if (quarantine === 'Cancelled') return { kind: 'cancelled' };
  const isQuarantined = quarantine === 'Quarantined' || quarantine === 'AlreadyQuarantined';
  if (event.isHealthy) return { kind: 'recovered', isAsked: isQuarantined && drained !== true };
  // What NVSentinel stores of a drain comes by, too: it asks for none.
  if (drained === true) return { kind: 'nothing' };
  if (event.drainOverrides?.force === true || isQuarantined) return { kind: 'drain' };
  if (quarantine !== undefined) {
    return { kind: 'notQuarantined', message: `the quarantine status is ${JSON.stringify(quarantine)}` };
  }
  return isFatalWithoutStatus(message)
    ? { kind: 'drain' }
    : { kind: 'notQuarantined', message: WITHOUT_STATUS[message.form] };
}

/** In a document of NVSentinel no status is a statement: fault-quarantine has not matched the event. */
function isFatalWithoutStatus({ form, isFatal, recommendsNone }: HealthEventMessage): boolean {
  switch (form) {
    case 'flat':
      return isFatal ?? !recommendsNone;
    case 'cloudEvent':
      return isFatal ?? false;
    case 'stored':
    case 'resource':
      return false;
  }
}

const WITHOUT_STATUS = {
  flat: 'it has no quarantine status, and is not fatal',
  cloudEvent: 'it has no quarantine status, and is not fatal',
  stored: 'the stored event has no quarantine status',
  resource: 'the resource has no quarantine status',
} as const;
