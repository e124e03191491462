/** The rules of repair, shown something else than what was seen. */
import type { RepairRules } from '../../functions/repair/decide.ts';
import type { PassObservation } from '../../functions/repair/pass/decision.ts';
import type { NodeClaimView } from '../../shared/domain/node-claim.ts';
import type { NodeView } from '../../shared/domain/node.ts';
import type { RepairSettings } from '../../shared/domain/repair-policy.ts';
import type { EpochMs } from '../../shared/domain/time.ts';
import type { Mutation } from '../../simulator/swarm/seed.ts';
import { withRepairRules } from './mutant.ts';

interface Changes {
  readonly now?: (now: EpochMs) => EpochMs;
  readonly node?: (node: NodeView) => NodeView;
  readonly claim?: (claim: NodeClaimView) => NodeClaimView;
  readonly rules?: (rules: RepairRules) => RepairRules;
}

const same = <Value>(value: Value): Value => value;

/** Both rules. */
export function seeing({ now = same, node = same, claim = same, rules = same }: Changes): Mutation {
  return withRepairRules(({ decide, decidePass }) => ({
    decide: seen =>
      decide({
        ...seen,
        now: now(seen.now),
        node: node(seen.node),
        owner: seen.owner.kind === 'claim' ? { kind: 'claim', claim: claim(seen.owner.claim) } : seen.owner,
        rules: rules(seen.rules),
      }),
    decidePass: seen =>
      decidePass({
        ...seen,
        now: now(seen.now),
        nodes: seen.nodes.map(node),
        claims: seen.claims.map(claim),
        rules: rules(seen.rules),
      }),
  }));
}

/** The rule of the pass alone. */
export const passSeeing = (change: (seen: PassObservation) => PassObservation): Mutation =>
  withRepairRules(({ decide, decidePass }) => ({ decide, decidePass: seen => decidePass(change(seen)) }));

export const withSettings = (
  rules: RepairRules,
  change: (settings: RepairSettings) => Partial<RepairSettings>,
): RepairRules => {
  const { settings } = rules;
  if (settings === undefined || 'invalid' in settings) return rules;
  return { ...rules, settings: { ...settings, ...change(settings) } };
};
