/** Mistakes in when a node is repaired. */
import type { RepairRules } from '../../functions/repair/decide.ts';
import type { PassObservation } from '../../functions/repair/pass/decide.ts';
import type { NodeClaimView } from '../../shared/domain/node-claim.ts';
import type { NodeCondition, NodeView } from '../../shared/domain/node.ts';
import { resolveNodeCount, type RepairSettings } from '../../shared/domain/repair-policy.ts';
import { addDuration, parseTimestamp, seconds, toDurationMs, type EpochMs } from '../../shared/domain/time.ts';
import type { Mutation } from '../swarm/seed.ts';
import { withObjects, withRepairRules, type Mutant } from './mutant.ts';

const OPEN_GATE = '[featureGates]\nnodeRepair = true\n';

interface Changes {
  readonly now?: (now: EpochMs) => EpochMs;
  readonly node?: (node: NodeView) => NodeView;
  readonly claim?: (claim: NodeClaimView) => NodeClaimView;
  readonly rules?: (rules: RepairRules) => RepairRules;
}

const same = <Value>(value: Value): Value => value;

/** Both rules, told something else than what was seen. */
function seeing({ now = same, node = same, claim = same, rules = same }: Changes): Mutation {
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
const passSeeing = (change: (seen: PassObservation) => PassObservation): Mutation =>
  withRepairRules(({ decide, decidePass }) => ({ decide, decidePass: seen => decidePass(change(seen)) }));

const withSettings = (
  rules: RepairRules,
  change: (settings: RepairSettings) => Partial<RepairSettings>,
): RepairRules => {
  const { settings } = rules;
  if (settings === undefined || 'invalid' in settings) return rules;
  return { ...rules, settings: { ...settings, ...change(settings) } };
};

const POOL = 'karpenter.sh/nodepool';
const VETO = 'curfew.dev/do-not-repair';

/** The threshold with another count in its place. */
const withThreshold = (count: (settings: RepairSettings, nodes: number) => number): Mutation =>
  passSeeing(seen => {
    const inPool = seen.nodes.filter(node => node.labels[POOL] === seen.pool).length;
    const total = seen.pool === undefined ? seen.nodes.length : inPool;
    return {
      ...seen,
      rules: withSettings(seen.rules, settings => ({ maxUnhealthy: { count: count(settings, total) } })),
    };
  });

/** Every transition a second before it was. */
const withEarlierTransitions = (node: NodeView): NodeView => ({
  ...node,
  conditions: node.conditions.map((condition): NodeCondition => ({
    ...condition,
    lastTransitionTime: condition.lastTransitionTime && addDuration(condition.lastTransitionTime, seconds(-1)),
  })),
});

function without(annotations: Readonly<Record<string, string>>, key: string): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(annotations).filter(([name]) => name !== key));
}

export const REPAIR_RULE_MUTANTS: readonly Mutant[] = [
  {
    name: 'repair-a-second-early',
    mistake: 'counts the toleration from a second before the transition',
    breaks: ['I3'],
    seed: 87,
    mutation: seeing({ node: withEarlierTransitions }),
  },
  {
    name: 'repair-after-the-due-instant',
    mistake: 'compares with < instead of <=: at the due instant it is not due yet',
    breaks: ['I5', 'I8'],
    scenario: 'repair-zero-toleration-is-at-once.yaml#repair-zero-toleration-is-at-once',
    mutation: seeing({ now: now => addDuration(now, toDurationMs(-1)) }),
  },
  {
    name: 'repair-above-threshold',
    mistake: 'forgets the unhealthy threshold',
    breaks: ['I3'],
    scenario: 'repair-counts-the-cluster-without-a-pool.yaml#repair-counts-the-cluster-without-a-pool',
    mutation: withThreshold(() => Infinity),
  },
  {
    name: 'repair-threshold-rounds-down',
    mistake: 'rounds the threshold down instead of up',
    breaks: ['I5'],
    scenario: 'repair-asks-by-custom-resource.yaml#repair-custom-resource-fails',
    mutation: withThreshold(({ maxUnhealthy }, nodes) =>
      'count' in maxUnhealthy ? maxUnhealthy.count : Math.floor((maxUnhealthy.percent * nodes) / 100),
    ),
  },
  {
    name: 'repair-threshold-exclusive',
    mistake: 'stops at the threshold instead of above it',
    breaks: ['I5'],
    seed: 115,
    mutation: withThreshold(({ maxUnhealthy }, nodes) => resolveNodeCount(maxUnhealthy, nodes) - 1),
  },
  {
    name: 'repair-threshold-of-healthy-pool',
    mistake: 'counts the unhealthy nodes of the whole pool but one',
    breaks: ['I3'],
    scenario: 'repair-counts-the-cluster-without-a-pool.yaml#repair-counts-the-cluster-without-a-pool',
    mutation: withThreshold(({ maxUnhealthy }, nodes) => resolveNodeCount(maxUnhealthy, nodes) + 1),
  },
  {
    name: 'repair-in-observe-mode',
    mistake: 'acts in a pool whose mode is Observe',
    breaks: ['I3'],
    scenario: 'repair-follows-its-policies.yaml#repair-policy-begins-to-enforce',
    mutation: seeing({ rules: rules => ({ ...rules, mode: 'Enforce' }) }),
  },
  {
    name: 'repair-against-a-veto',
    mistake: 'does not read the veto of Nodes and NodeClaims',
    breaks: ['I3'],
    scenario: 'repair-obeys-a-veto.yaml#repair-vetoed-until-removed',
    mutation: seeing({
      node: node => ({ ...node, annotations: without(node.annotations, VETO) }),
      claim: claim => ({ ...claim, annotations: without(claim.annotations, VETO) }),
    }),
  },
  {
    name: 'repair-against-the-veto-of-a-pool',
    mistake: 'reads the veto of Nodes and NodeClaims, not that of the NodePool',
    breaks: ['I3'],
    seed: 11,
    mutation: seeing({ rules: rules => ({ ...rules, poolVeto: undefined }) }),
  },
  {
    name: 'repair-vetoed-until-it-can-be-read',
    mistake: 'takes a veto that it cannot read for none',
    breaks: ['I3'],
    scenario: 'repair-obeys-a-veto.yaml#repair-veto-that-cannot-be-read',
    mutation: seeing({
      node: node =>
        isReadable(node.annotations[VETO]) ? node : { ...node, annotations: without(node.annotations, VETO) },
    }),
  },
  {
    name: 'repair-vetoed-for-ever',
    mistake: 'does not see that a veto has ended',
    breaks: ['I5'],
    scenario: 'repair-obeys-a-veto.yaml#repair-vetoed-until-an-instant',
    mutation: seeing({
      node: node =>
        node.annotations[VETO] === undefined ? node : { ...node, annotations: { ...node.annotations, [VETO]: 'true' } },
    }),
  },
  {
    name: 'repair-above-budget',
    mistake: 'forgets maxConcurrentRepairs',
    breaks: ['I3'],
    scenario: 'repair-keeps-to-its-budget.yaml#repair-two-at-a-time',
    mutation: seeing({ rules: rules => withSettings(rules, () => ({ maxConcurrentRepairs: undefined })) }),
  },
  {
    name: 'repair-budget-until-the-deletion',
    mistake: 'counts a repair as over as soon as the deletion was accepted',
    breaks: ['I3'],
    scenario: 'repair-keeps-to-its-budget.yaml#repair-two-at-a-time',
    mutation: passSeeing(seen => ({
      ...seen,
      state: { ...seen.state, attempts: seen.state.attempts.filter(({ phase }) => phase === 'intended') },
    })),
  },
  {
    name: 'repair-without-a-ramp',
    mistake: 'repairs all that an outage had held at once when it ends',
    breaks: ['I3'],
    scenario: 'repair-freezes-when-the-cluster-goes-dark.yaml#repair-ramps-up-after-a-freeze',
    mutation: passSeeing(seen => ({ ...seen, state: { ...seen.state, outages: [], ramp: undefined } })),
  },
  {
    name: 'repair-outage-of-the-pool',
    mistake: 'counts a zone by the nodes of the pool instead of all',
    breaks: ['I3', 'I5'],
    seed: 27,
    mutation: passSeeing(seen => {
      const own = new Set(
        seen.claims.filter(({ labels }) => labels[POOL] === seen.pool).map(({ providerID }) => providerID),
      );
      return { ...seen, nodes: seen.nodes.filter(({ providerID }) => own.has(providerID)) };
    }),
  },
  {
    name: 'repair-for-any-reason',
    mistake: 'does not match the reason of a condition of the user',
    breaks: ['I3'],
    scenario: 'repair-watches-conditions-of-the-user.yaml#repair-user-conditions',
    mutation: seeing({
      rules: rules =>
        withSettings(rules, ({ conditions }) => ({
          conditions: conditions.map(condition => ({ ...condition, matchesReason: undefined })),
        })),
    }),
  },
  {
    name: 'repair-by-the-last-condition',
    mistake: 'goes by the last condition of a type instead of the first',
    breaks: ['I3', 'I5'],
    scenario: 'repair-knows-whose-node-claim-it-is.yaml#repair-first-condition-of-a-type',
    mutation: seeing({ node: node => ({ ...node, conditions: node.conditions.toReversed() }) }),
  },
  {
    name: 'repair-in-a-zone-outage',
    mistake: 'does not see that a whole zone is out',
    breaks: ['I3'],
    seed: 87,
    mutation: seeing({ rules: rules => withSettings(rules, () => ({ zoneOutage: undefined })) }),
  },
  {
    name: 'repair-in-a-frozen-cluster',
    mistake: 'does not see that most of the cluster is Unknown at once',
    breaks: ['I3'],
    seed: 115,
    mutation: seeing({ rules: rules => withSettings(rules, () => ({ freeze: undefined })) }),
  },
  {
    name: 'repair-of-a-shared-instance',
    mistake: 'does not notice that two Nodes state the same instance',
    breaks: ['I3'],
    scenario: 'repair-knows-whose-node-claim-it-is.yaml#repair-instance-that-a-healthy-node-states',
    mutation: passSeeing(seen => {
      const unhealthyFirst = seen.nodes.toSorted((a, b) => Number(isReady(a)) - Number(isReady(b)));
      const instances = unhealthyFirst.map(({ providerID }) => providerID);
      return {
        ...seen,
        nodes: unhealthyFirst.filter(
          ({ providerID }, index) => providerID === undefined || instances.indexOf(providerID) === index,
        ),
      };
    }),
  },
  {
    name: 'repair-by-the-label',
    mistake: 'takes the pool from the label of the Node',
    breaks: ['I3', 'I5'],
    seed: 124,
    mutation: passSeeing(seen => {
      const labels = new Map(seen.nodes.map(node => [node.providerID, node.labels[POOL]]));
      return {
        ...seen,
        claims: seen.claims.map(claim => {
          const label = labels.get(claim.providerID);
          return label === undefined ? claim : { ...claim, labels: { ...claim.labels, [POOL]: label } };
        }),
      };
    }),
  },
  {
    name: 'repair-without-gate',
    mistake: 'does not ask whether the feature gate is on',
    breaks: ['I3'],
    scenario: 'repair-follows-the-gate.yaml#repair-gate-closed-while-tolerating',
    mutation: withObjects('repair', 'ConfigMap', object => ({ ...object, data: { 'config.toml': OPEN_GATE } })),
  },
  {
    name: 'repair-ends-any-instance',
    mistake: 'ends instances of Auto Scaling groups without having been asked to',
    breaks: ['I3'],
    scenario: 'repair-replaces-nodes-of-auto-scaling-groups.yaml#repair-leaves-auto-scaling-groups-alone',
    seed: 3,
    mutation: seeing({
      rules: rules => withSettings(rules, () => ({ nodesWithoutNodeClaim: 'TerminateInAutoScalingGroup' })),
    }),
  },
  {
    name: 'repair-leaves-groups-alone',
    mistake: 'never replaces an instance of an Auto Scaling group, although it was asked to',
    breaks: ['I5'],
    scenario: 'repair-replaces-nodes-of-auto-scaling-groups.yaml#repair-in-an-auto-scaling-group',
    seed: 27,
    mutation: seeing({ rules: rules => withSettings(rules, () => ({ nodesWithoutNodeClaim: 'Ignore' })) }),
  },
];

const isReadable = (veto: string | undefined): boolean =>
  veto === undefined || veto === 'true' || parseTimestamp(veto) !== undefined;

const isReady = ({ conditions }: NodeView): boolean =>
  conditions.find(({ type }) => type === 'Ready')?.status === 'True';
