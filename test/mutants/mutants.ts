/** All mistakes that the swarm must find. */
import { ANSWER_MUTANTS } from './answers.ts';
import { DENIAL_MUTANTS } from './denials.ts';
import { DRAIN_CUSTOM_MUTANTS } from './drain-custom.ts';
import { DRAIN_EVENT_MUTANTS } from './drain-events.ts';
import { DRAIN_NODE_MUTANTS } from './drain-node.ts';
import { DRAIN_POD_MUTANTS } from './drain-pods.ts';
import { DRAIN_REQUEST_MUTANTS } from './drain-requests.ts';
import { FINALIZER_MUTANTS } from './finalizer.ts';
import { FINALIZER_DRAIN_MUTANTS } from './finalizer-drain.ts';
import { FINALIZER_END_MUTANTS } from './finalizer-ends.ts';
import { FINALIZER_RULE_MUTANTS } from './finalizer-rules.ts';
import { FINALIZER_SETTINGS_MUTANTS } from './finalizer-settings.ts';
import { FORWARDER_MUTANTS } from './forwarder.ts';
import { GRACE_PERIOD_MUTANTS } from './grace-period.ts';
import { HOOK_RESOURCE_MUTANTS } from './hook-resources.ts';
import { LADDER_MUTANTS } from './ladder.ts';
import { METAMORPHIC_MUTANTS } from './metamorphic.ts';
import type { Mutation } from '../../simulator/swarm/seed.ts';
import type { Mutant } from './mutant.ts';
import { PERMISSION_MUTANTS } from './permissions.ts';
import { POLICY_MODE_MUTANTS } from './policy-modes.ts';
import { POLICY_TIE_MUTANTS } from './policy-ties.ts';
import { REPAIR_MUTANTS } from './repair.ts';
import { REPAIR_INCIDENT_MUTANTS } from './repair-incident.ts';
import { REPAIR_LIMITS_MUTANTS } from './repair-limits.ts';
import { REPAIR_MEMORY_MUTANTS } from './repair-memory.ts';
import { REPAIR_PAST_MUTANTS } from './repair-past.ts';
import { REPAIR_POOL_MUTANTS } from './repair-pool.ts';
import { REPAIR_RULE_MUTANTS } from './repair-rule.ts';
import { REPAIR_VOLUNTARY_MUTANTS } from './repair-voluntary.ts';
import { TIMER_MUTANTS } from './timer.ts';
import { WORD_MUTANTS } from './words.ts';

export const MUTANTS: readonly Mutant[] = [
  ...REPAIR_RULE_MUTANTS,
  ...REPAIR_VOLUNTARY_MUTANTS,
  ...REPAIR_POOL_MUTANTS,
  ...REPAIR_PAST_MUTANTS,
  ...REPAIR_INCIDENT_MUTANTS,
  ...REPAIR_MEMORY_MUTANTS,
  ...REPAIR_MUTANTS,
  ...REPAIR_LIMITS_MUTANTS,
  ...LADDER_MUTANTS,
  ...FINALIZER_MUTANTS,
  ...FINALIZER_DRAIN_MUTANTS,
  ...FINALIZER_RULE_MUTANTS,
  ...FINALIZER_END_MUTANTS,
  ...FINALIZER_SETTINGS_MUTANTS,
  ...HOOK_RESOURCE_MUTANTS,
  ...DRAIN_REQUEST_MUTANTS,
  ...DRAIN_EVENT_MUTANTS,
  ...DRAIN_POD_MUTANTS,
  ...DRAIN_NODE_MUTANTS,
  ...DRAIN_CUSTOM_MUTANTS,
  ...GRACE_PERIOD_MUTANTS,
  ...TIMER_MUTANTS,
  ...DENIAL_MUTANTS,
  ...POLICY_TIE_MUTANTS,
  ...POLICY_MODE_MUTANTS,
  ...FORWARDER_MUTANTS,
  ...PERMISSION_MUTANTS,
  ...ANSWER_MUTANTS,
  ...METAMORPHIC_MUTANTS,
  ...WORD_MUTANTS,
];

/** The mistake of that name. Throws for a name that is not known. */
export function mutationOf(name: string): Mutation {
  const mutant = MUTANTS.find(known => known.name === name);
  if (mutant === undefined) throw new Error(`there is no mutant ${name}`);
  return mutant.mutation;
}
