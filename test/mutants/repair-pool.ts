/** Mistakes in what a pool allows: threshold, budget, outages, and whose node it is. */
import type { NodeView } from '../../shared/domain/node.ts';
import { resolveNodeCount, type RepairSettings } from '../../shared/domain/repair-policy.ts';
import type { Mutation } from '../../simulator/swarm/seed.ts';
import type { Mutant } from './mutant.ts';
import { passSeeing, seeing, withSettings } from './repair-seeing.ts';

const POOL = 'karpenter.sh/nodepool';

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

export const REPAIR_POOL_MUTANTS: readonly Mutant[] = [
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
];

const isReady = ({ conditions }: NodeView): boolean =>
  conditions.find(({ type }) => type === 'Ready')?.status === 'True';
