/**
 * Blockers of one node that the guards let through: EC2 has not confirmed the fault, or it is not known who else is at
 * work. Pure.
 */
import type { GuardInputs } from './guard-inputs.ts';
import { createGuards } from './guards.ts';
import type { JudgedPool } from './judged-pool.ts';
import { dueVerdictOf } from '../node/rule/finding.ts';
import type { Blocker, OwnDueVerdict } from '../node/rule/verdict.ts';
import type { NodeView } from '../../../shared/domain/node.ts';
import type { Confirmation } from '../../../shared/domain/repair-policy.ts';
import { addDuration, type EpochMs, minutes } from '../../../shared/domain/time.ts';

/** The word of EC2 that confirms a repair. */
export const CONFIRMED = 'impaired';

/** No event tells that EC2 says something else, or that the work of others can be read again: both are looked at this often. */
const CONFIRM_CHECK = minutes(1);

/** A node that EC2 is to confirm. */
export interface NodeToConfirm {
  readonly node: NodeView;
  readonly check: Confirmation;
}

/**
 * Nodes that EC2 is asked about: those that freeze, zone and threshold let through, so that nothing is asked in an
 * outage.
 */
export function nodesToConfirm(
  { presentNodes }: JudgedPool,
  guardInputs: GuardInputs | undefined,
): readonly NodeToConfirm[] {
  const asking = presentNodes.flatMap((finding): NodeToConfirm[] => {
    const check = dueVerdictOf(finding)?.entryPolicy.confirm;
    return check === undefined ? [] : [{ node: finding.node, check }];
  });
  if (guardInputs === undefined || asking.length === 0) return [];
  const guards = createGuards(guardInputs);
  return asking.filter(({ node }) => guards.blockerOf(node) === undefined);
}

/** Stops the repair of a node that EC2 does not call impaired; undefined: EC2 does, or the entry does not ask (`confirm`). */
export function confirmationBlocker(
  { entryPolicy: { confirm }, dueCondition: { field = '' } }: OwnDueVerdict,
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
export function otherWorkBlocker(fault: string | undefined, now: EpochMs): Blocker | undefined {
  if (fault === undefined) return undefined;
  const message = `who else is at work on it is not known: ${fault}`;
  return { kind: 'others', reason: 'BeingDisrupted', message, until: addDuration(now, CONFIRM_CHECK) };
}
