/** Blocks a due node while EC2 does not confirm its fault, or while it is not known who else is at work on it. Pure. */
import type { Blocker, DueNode } from './verdict.ts';
import { addDuration, type EpochMs, minutes } from '../../../shared/domain/time.ts';

/** The word of EC2 that confirms a repair. */
export const CONFIRMED = 'impaired';

/** A node that is blocked here is looked at this often: no event tells that EC2 says something else. */
const CONFIRM_CHECK = minutes(1);

/** Stops the repair of a node that EC2 does not call impaired; undefined: EC2 does, or the entry does not ask (`confirm`). */
export function unconfirmed(
  { entryPolicy: { confirm }, dueCondition: { field = '' } }: DueNode,
  answer: string | undefined,
  now: EpochMs,
): Blocker | undefined {
  if (confirm === undefined || answer === CONFIRMED) return undefined;
  const says = answer ?? 'nothing';
  return {
    kind: 'entry',
    reason: 'NotConfirmed',
    message: `EC2 says ${says} of ${confirm}, and confirm waits for ${CONFIRMED}`,
    setting: { field: `${field}.confirm`, numbers: { check: confirm, says } },
    until: addDuration(now, CONFIRM_CHECK),
  };
}

/**
 * Blocks a node while it cannot be read whether another controller is at work on it (I6); undefined: it can be read. No
 * event tells that it can be read again.
 */
export function othersNotKnown(fault: string | undefined, now: EpochMs): Blocker | undefined {
  if (fault === undefined) return undefined;
  const message = `who else is at work on it is not known: ${fault}`;
  return { kind: 'others', reason: 'BeingDisrupted', message, until: addDuration(now, CONFIRM_CHECK) };
}
