/** The second look, between intent and act (ADR 0049): whether the act is still wanted. Pure. */
import { hasLaunch, keyOf } from './ladder.ts';
import type { RepairInForce } from './settings-in-force.ts';
import type { OwnVerdict } from './verdict.ts';
import type { Replacement } from '../attempt-record.ts';
import type { Confirmation } from '../../../../shared/domain/repair-policy.ts';

/**
 * Answer of the second look. `readClaim`: by the listed NodeClaim the act is not wanted, so the NodeClaim must be read.
 * `overtaken`: somebody else terminates the node forcefully by now.
 */
export type SecondLookVerdict = 'act' | 'overtaken' | 'calledOff' | 'readClaim';

/**
 * Whether a granted act is still wanted, by the verdict on its node once Node, NodeClaim and settings were read again.
 * @param granted the key of its action, the check for which its entry asks EC2, and the replacement of a termination
 */
export function judgeSecondLook(
  granted: {
    readonly key: string;
    readonly confirm: Confirmation | undefined;
    readonly replacement?: Replacement | undefined;
  },
  own: OwnVerdict,
  {
    repair,
    isClaimListed,
    isCounted,
  }: {
    readonly repair: RepairInForce;
    /** The NodeClaim is the one that the pass has listed, not read again. */
    readonly isClaimListed: boolean;
    /** The repair is reserved in the limits of zone and cluster. */
    readonly isCounted: boolean;
  },
): SecondLookVerdict {
  if (isClaimListed && own.kind !== 'due') return 'readClaim';
  if (own.kind !== 'due' && own.kind !== 'finishing') return 'calledOff';
  // Limits that came into force since may not count this repair.
  if (repair.mode === 'Observe' || (repair.limits !== undefined && !isCounted)) return 'calledOff';
  if (own.kind === 'finishing') return 'overtaken';
  // The entry that decides by now may have another list, or ask EC2.
  const { ladder, entryPolicy } = own;
  const { key, replacement } = granted;
  // Once pods may run on the replacement, the list does not count.
  const isFollowUp = replacement !== undefined && (replacement.releasedTime !== undefined || hasLaunch(ladder));
  const isListed = isFollowUp || ladder.some(each => keyOf(each) === key);
  return isListed && entryPolicy.confirm === granted.confirm ? 'act' : 'calledOff';
}
