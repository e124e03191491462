/** The rules of repair, shown something else than what was seen. */
import { withRepairRules } from './mutant.ts';
import type { NodeRecord } from '../../functions/repair/node/record.ts';
import type { RepairInForce } from '../../functions/repair/node/rule/settings-in-force.ts';
import type { PoolObservation } from '../../functions/repair/rule/pool-decision.ts';
import type { NodeClaimView } from '../../shared/domain/node-claim.ts';
import type { NodeView } from '../../shared/domain/node.ts';
import type { RepairSettings } from '../../shared/domain/repair-policy.ts';
import type { EpochMs } from '../../shared/domain/time.ts';
import type { Mutation } from '../../simulator/swarm/seed.ts';

interface Changes {
  readonly now?: (now: EpochMs) => EpochMs;
  readonly node?: (node: NodeView) => NodeView;
  readonly claim?: (claim: NodeClaimView) => NodeClaimView;
  readonly repair?: (repair: RepairInForce) => RepairInForce;
}

const same = <Value>(value: Value): Value => value;

/** Every rule. */
export function seeing({ now = same, node = same, claim = same, repair = same }: Changes): Mutation {
  return withRepairRules(({ decideNode, decide, judgeNode }) => ({
    decideNode: seen =>
      decideNode({
        ...seen,
        now: now(seen.now),
        node: node(seen.node),
        owner: seen.owner.kind === 'claim' ? { kind: 'claim', claim: claim(seen.owner.claim) } : seen.owner,
        repair: repair(seen.repair),
      }),
    decide(seen) {
      const changed = repair(seen.repair);
      const { settings } = changed;
      const around = settings === undefined || 'invalid' in settings ? undefined : settings;
      const guardInputs = seen.guardInputs && around && { ...seen.guardInputs, settings: around };
      return decide({ ...seen, now: now(seen.now), repair: changed, guardInputs });
    },
    judgeNode: (context, seen, held) =>
      judgeNode({ ...context, now: now(context.now), repair: repair(context.repair) }, node(seen), held),
  }));
}

/** The rule of the pool alone. */
export const poolSeeing = (change: (seen: PoolObservation) => PoolObservation): Mutation =>
  withRepairRules(rules => ({ ...rules, decide: seen => rules.decide(change(seen)) }));

/** The rule of the pool, with other guards around it. */
export const guardsSeeing = (
  change: (guardInputs: NonNullable<PoolObservation['guardInputs']>) => PoolObservation['guardInputs'],
): Mutation => poolSeeing(seen => ({ ...seen, guardInputs: seen.guardInputs && change(seen.guardInputs) }));

/** A node of which something else is remembered. */
export const remembering = (change: (held: NodeRecord, now: EpochMs) => NodeRecord | undefined): Mutation =>
  withRepairRules(rules => ({
    ...rules,
    judgeNode: (context, node, held) => rules.judgeNode(context, node, held && change(held, context.now)),
  }));

export const withSettings = (
  repair: RepairInForce,
  change: (settings: RepairSettings) => Partial<RepairSettings>,
): RepairInForce => {
  const { settings } = repair;
  if (settings === undefined || 'invalid' in settings) return repair;
  return { ...repair, settings: { ...settings, ...change(settings) } };
};
