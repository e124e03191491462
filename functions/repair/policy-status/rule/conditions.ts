/** The conditions in the status of a policy: whether it is accepted, whether it is in force, and what it warns of. Pure. */
import { BLOCKS, type PolicyFacts, type PolicyWarning } from './policy-facts.ts';

/** A condition without its transition time. */
export interface PolicyCondition {
  readonly type: 'Accepted' | 'Active' | 'Warning';
  readonly status: 'True' | 'False';
  readonly reason: string;
  readonly message: string;
}

/** The conditions of a policy, without a warning if there is none. */
export function conditionsFor(facts: PolicyFacts): readonly PolicyCondition[] {
  const own = [acceptedCondition(facts), activeCondition(facts)];
  const warning = warningOf(facts);
  if (warning === undefined) return own;
  return [...own, { type: 'Warning', status: 'True', reason: warning.reason, message: warning.message }];
}

function acceptedCondition({ generation, fault, acceptedGeneration }: PolicyFacts): PolicyCondition {
  if (fault === undefined) {
    return { type: 'Accepted', status: 'True', reason: 'Valid', message: 'every field can be used' };
  }
  const kept =
    acceptedGeneration === undefined
      ? 'no generation of it was ever accepted'
      : acceptedGeneration === generation
        ? 'the other blocks are in force, and a block with a fault as it could be read last'
        : `generation ${acceptedGeneration}, which was accepted last, stays in force`;
  return { type: 'Accepted', status: 'False', reason: 'Invalid', message: `${fault}; ${kept}` };
}

function activeCondition({ fault, acceptedGeneration, gateOpen, inForce, selected }: PolicyFacts): PolicyCondition {
  const inactive = (reason: string, message: string): PolicyCondition => ({
    type: 'Active',
    status: 'False',
    reason,
    message,
  });
  if (inForce === undefined || (fault !== undefined && acceptedGeneration === undefined)) {
    return inactive('NotAccepted', 'it cannot be read, and no generation of it was ever accepted');
  }
  const { mode, blocks, selectsByLabels, isBlockless } = inForce;
  if (selectsByLabels && selected.every(({ name }) => name === undefined))
    return inactive('SelectsNothing', 'it selects no NodePool');
  if (isBlockless && mode === 'Observe') return BRAKING;
  if (blocks.length === 0) return inactive('NoBlock', `it has none of ${BLOCKS.join(', ')}`);
  if (selected.every(({ blocksInForce }) => blocksInForce.length === 0))
    return inactive('Overridden', 'a more specific policy, or the first by name, comes before it everywhere');
  if (blocks.every(block => block === 'repair' || block === 'repairLimits')) {
    if (!blocks.includes('repairLimits') && !selected.some(({ isRepairedByPolicy }) => isRepairedByPolicy))
      return inactive('Overridden', 'every NodePool that it selects has a repair block of its own');
    if (!gateOpen) return inactive('GateOff', 'featureGates.nodeRepair is off in ConfigMap curfew/curfew-config');
  }
  const what = `in force${mode === 'Observe' ? ', in mode Observe' : ''}: ${blocks.join(', ')}`;
  return { type: 'Active', status: 'True', reason: mode === 'Observe' ? 'Observing' : 'InForce', message: what };
}

/** The condition of a policy in mode `Observe` without any block, which stops what would begin. */
const BRAKING: PolicyCondition = {
  type: 'Active',
  status: 'True',
  reason: 'Observing',
  message:
    'it has no block: repairs, terminations and drains that would begin in its NodePools are held, except by a policy at least as specific that has the block; protection is not affected',
};

/**
 * The warnings about a policy in one, under the reason of the first: those about its settings, and at the end which pools
 * the numbers leave out. undefined: there is none.
 */
export function warningOf({ selected, warnings }: PolicyFacts): PolicyWarning | undefined {
  const uncounted = selected
    .filter(({ isRepairedByPolicy, repairs }) => isRepairedByPolicy && repairs === undefined)
    .map(({ name }) => (name === undefined ? 'the nodes without a NodePool' : `NodePool ${name}`));
  const notCounted = {
    reason: 'NotCounted',
    message: `held and repairing leave out ${uncounted.join(', ')}: a newer version counts there`,
    isReported: false,
  };
  const all = uncounted.length === 0 ? warnings : [...warnings, notCounted];
  const [first] = all;
  return first && { ...first, message: all.map(({ message }) => message).join('; ') };
}
