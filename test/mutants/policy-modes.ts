/** Mistakes about the mode of a policy: whose it is, and what it holds. */
import { decide as decideDrain } from '../../functions/drain/decide.ts';
import type { DrainDecision } from '../../functions/drain/rule/decision.ts';
import type { Observation } from '../../functions/drain/rule/observation.ts';
import { isOnlyObserved } from '../../functions/drain/rule/pauses.ts';
import { createReconciler as createDrain } from '../../functions/drain/route.ts';
import { decide as decideTermination } from '../../functions/finalizer/termination/decide.ts';
import type { FunctionName } from '../../shared/contract/names.ts';
import type { JsonObject } from '../../shared/domain/kubernetes-object.ts';
import { withRulesOfFinalizer, withListed, withRecords, type Mutant } from './mutant.ts';
import type { Mutation } from '../../simulator/swarm/seed.ts';

/** The function shown the policies as if they said something else. */
const withPolicies = (name: FunctionName, change: (spec: JsonObject) => JsonObject): Mutation =>
  withListed(name, 'NodeLifecyclePolicy', policy => ({ ...policy, spec: change(policy.spec ?? {}) }));

/** Without its blocks. */
const frameOf = ({ nodePoolSelector, mode }: JsonObject): JsonObject => ({
  ...(nodePoolSelector !== undefined && { nodePoolSelector }),
  ...(mode !== undefined && { mode }),
});

const drainHeldOnTheWay = (seen: Observation): DrainDecision =>
  seen.kind === 'drain' && isOnlyObserved(seen) && seen.record.active !== undefined
    ? { kind: 'pause', reason: 'ObserveMode', message: 'mode is Observe: nothing is drained' }
    : decideDrain(seen);

const FILE = 'modes-belong-to-their-blocks.yaml';

export const POLICY_MODE_MUTANTS: readonly Mutant[] = [
  {
    name: 'mode-of-another-block-holds-a-drain',
    mistake: 'takes a policy that states some block for the brake',
    breaks: ['I5'],
    scenario: `${FILE}#observed-repair-leaves-termination-and-drain-alone`,
    mutation: withPolicies('drain', frameOf),
  },
  {
    name: 'mode-of-a-block-ignored',
    mistake: 'enforces terminations whatever the mode of the policy that states them',
    breaks: ['I7'],
    scenario: 'finalizer-observes.yaml#a-termination-that-is-only-observed',
    mutation: withPolicies('finalizer', spec => ({ ...spec, mode: 'Enforce' })),
  },
  {
    name: 'observed-protection-counts',
    mistake: 'ends protections at a limit that is only observed',
    breaks: ['I2'],
    scenario: `${FILE}#an-observed-limit-ends-no-protection`,
    mutation: withPolicies('drain', spec => ({ ...spec, mode: 'Enforce' })),
  },
  {
    name: 'brake-forgotten',
    mistake: 'does not know that a policy without a block holds what would begin',
    breaks: ['I7'],
    scenario: `${FILE}#the-brake-holds-all-but-protection`,
    mutation: withPolicies('finalizer', spec => ({ protection: {}, ...spec })),
  },
  {
    name: 'brake-stops-a-drain-under-way',
    mistake: 'holds a drain that had begun when the mode became Observe',
    breaks: ['I5'],
    scenario: 'drain-is-held-in-observe-mode.yaml#drain-under-way-goes-on-in-observe-mode',
    mutation: { reconcilers: { drain: deps => createDrain(deps, { decide: drainHeldOnTheWay }) } },
  },
  {
    name: 'brake-stops-a-termination-under-way',
    mistake: 'holds a termination that had begun when the brake came',
    breaks: ['I5'],
    scenario: `${FILE}#the-brake-lets-what-has-begun-go-on`,
    mutation: withRulesOfFinalizer({
      decide: seen => decideTermination({ ...seen, settings: { ...seen.settings, isBraked: false } }),
    }),
  },
  {
    name: 'observed-drains-begin',
    mistake: 'begins drains whatever the mode is',
    breaks: ['I7'],
    scenario: 'drain-is-held-in-observe-mode.yaml#drain-is-held-in-observe-mode',
    mutation: withPolicies('drain', spec => ({ ...spec, mode: 'Enforce' })),
  },
  {
    name: 'observed-drain-limits-count',
    mistake: 'ends drains under way by the deadline of a block that is only observed',
    breaks: ['I5'],
    scenario: `${FILE}#an-observed-drain-block-sets-no-limit`,
    mutation: withPolicies('drain', spec => ({ ...spec, ...(spec['drain'] !== undefined && { mode: 'Enforce' }) })),
  },
  {
    name: 'observed-termination-begins',
    mistake: 'puts finalizers on and ends nodes by a block that is only observed',
    breaks: [],
    property: 'observed-adds-no-write',
    mutation: withPolicies('finalizer', spec => ({ ...spec, mode: 'Enforce' })),
  },
  {
    name: 'mode-of-another-block-holds-a-termination',
    mistake: 'takes a policy that states some block for the brake of terminations',
    breaks: [],
    property: 'one-block-alone',
    mutation: withPolicies('finalizer', spec => (spec['termination'] === undefined ? frameOf(spec) : spec)),
  },
  {
    name: 'observed-protection-holds',
    mistake: 'holds nodes by a protection block that is only observed',
    breaks: [],
    property: 'holds-stay',
    mutation: withPolicies('grace-period', spec => ({ ...spec, mode: 'Enforce' })),
  },
  {
    name: 'last-good-policy-forgotten',
    mistake: 'goes by no version of a policy that could be read once',
    breaks: ['I5'],
    seed: 434,
    scenario: 'settings-that-cannot-be-read.yaml#a-version-that-could-be-read-stays-in-force',
    mutation: withRecords('finalizer', records => ({
      get: async key => (key.id.startsWith('kept-policy/') ? undefined : await records.get(key)),
    })),
  },
];
