/** How mistakes are put into the rule of drains. */
import { decide } from '../../functions/drain/decide.ts';
import type { DrainDecision } from '../../functions/drain/rule/decision.ts';
import type {
  DrainObservation,
  DrainConfiguration,
  Observation,
  PoliciesInForce,
} from '../../functions/drain/rule/observation.ts';
import { createReconciler } from '../../functions/drain/route.ts';
import type { Mutation } from '../../simulator/swarm/seed.ts';

/** The rule decides, and this is done instead. */
export const deciding = (change: (decision: DrainDecision, seen: Observation) => DrainDecision): Mutation => ({
  reconcilers: { drain: deps => createReconciler(deps, { decide: seen => change(decide(seen), seen) }) },
});

/** The rule sees this instead. */
export const seeingAny = (change: (seen: Observation) => Observation): Mutation => ({
  reconcilers: { drain: deps => createReconciler(deps, { decide: seen => decide(change(seen)) }) },
});

/** The rule sees this instead where something is asked or under way. */
export const seeing = (change: (seen: DrainObservation) => DrainObservation): Mutation =>
  seeingAny(seen => (seen.kind === 'drain' ? change(seen) : seen));

/** The policies say this instead. */
export const withPolicies = (change: Partial<PoliciesInForce>): Mutation =>
  seeing(seen => (seen.inForce.kind === 'known' ? { ...seen, inForce: { ...seen.inForce, ...change } } : seen));

/** The configuration says this instead. */
export const withConfiguration = (change: (configuration: DrainConfiguration) => DrainConfiguration): Mutation =>
  seeing(seen => ({ ...seen, configuration: seen.configuration && change(seen.configuration) }));

/** These settings are others. */
export const withSettings = (change: Partial<DrainConfiguration['settings']>): Mutation =>
  withConfiguration(configuration => ({ ...configuration, settings: { ...configuration.settings, ...change } }));
