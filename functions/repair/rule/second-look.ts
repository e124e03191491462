/** Checks whether a granted act is still wanted: Node, NodeClaim and rules are read again before it. Pure. */
import type { Attempt } from '../attempt-record.ts';
import { readableSettings } from './incident.ts';
import { keyOf } from './ladder.ts';
import { unhealthyStatementsOf } from './onsets.ts';
import type { NodeFacts, NodeObservation } from './pool-facts.ts';
import type { NodeDecision } from './verdict.ts';
import type { RepairRules } from './settings-in-force.ts';
import type { NodeClaimView } from '../../../shared/domain/node-claim.ts';
import { indexOwners, ownerOf } from '../../../shared/domain/node-owner.ts';
import type { NodeView } from '../../../shared/domain/node.ts';
import type { Confirmation } from '../../../shared/domain/repair-policy.ts';
import type { EpochMs } from '../../../shared/domain/time.ts';

/** Facts that are read once the intent of an act is recorded. */
export interface SecondLook {
  readonly now: EpochMs;
  readonly node: NodeView;
  readonly claim: NodeClaimView | undefined;
  readonly rules: RepairRules;
  readonly otherRequest: string | undefined;
  /** The NodeClaim is the one that the pass has listed, not read again. */
  readonly isClaimListed: boolean;
  /** The place of the repair is reserved in the limits of zone and cluster. */
  readonly isCounted: boolean;
}

/**
 * Answer of the second look. `readClaim`: by the listed NodeClaim the act is not wanted, so the NodeClaim must be read.
 * `overtaken`: somebody else terminates the node forcefully by now.
 */
export type StillWanted = 'act' | 'overtaken' | 'calledOff' | 'readClaim';

/** Whether a granted act is still wanted. @param confirm the check for which its entry asks EC2 */
export function stillWanted(
  {
    attempt,
    record,
    confirm,
  }: Pick<NodeFacts, 'record'> & {
    readonly attempt: Pick<Attempt, 'key'>;
    readonly confirm: Confirmation | undefined;
  },
  { now, node, claim, rules, otherRequest, isClaimListed, isCounted }: SecondLook,
  decide: (observation: NodeObservation) => NodeDecision,
): StillWanted {
  const settings = readableSettings(rules);
  const owner = ownerOf(node, indexOwners([node], claim === undefined ? [] : [claim]));
  const unhealthy = settings === undefined ? [] : unhealthyStatementsOf(node, { now, settings, record });
  const decision = decide({ now, node, owner, rules, unhealthy, episodes: record.episodes, otherRequest });
  if (isClaimListed && decision.kind !== 'due') return 'readClaim';
  if (decision.kind !== 'due' && decision.kind !== 'finishing') return 'calledOff';
  // Limits that came into force since may not count this repair.
  if (rules.mode === 'Observe' || (rules.limits !== undefined && !isCounted)) return 'calledOff';
  if (decision.kind === 'finishing') return 'overtaken';
  // The entry that decides by now may have another list, or ask EC2.
  const isSame = decision.ladder.some(each => keyOf(each) === attempt.key) && decision.entryPolicy.confirm === confirm;
  return isSame ? 'act' : 'calledOff';
}
