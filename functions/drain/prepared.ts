/** How a Node must be while it is drained, or waits for it. Pure; part of `decide`. */
import { DRAIN_STATES, REMEDIATING, STATE_LABEL } from '../../shared/domain/quarantine.ts';
import type { ActiveDrain, Hold } from './model.ts';
import type { DrainedNode, DrainObservation } from './observation.ts';
import { describeUnderWay } from './under-way.ts';

/** A node that is not cordoned is cordoned by the drain, also one that is quarantined by a taint: pods that tolerate that must not come. */
export function holdFor({ id }: ActiveDrain, { quarantine, unschedulable, cordonMark }: DrainedNode): Hold {
  return { quarantined: quarantine !== undefined, cordon: unschedulable && cordonMark !== id ? 'other' : 'own' };
}

export function isPrepared({ node }: DrainObservation, active: ActiveDrain, showDraining: boolean): boolean {
  if (active.hold === undefined || !node.watched || node.underWay !== describeUnderWay(active)) return false;
  const state = node.labels[STATE_LABEL];
  return !showDraining || state === DRAIN_STATES.draining || state === REMEDIATING;
}
