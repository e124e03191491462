/** Mistakes in what a pool allows: threshold, budget, outages, and whose node it is. */
import type { JsonValue } from '../../shared/domain/kubernetes-object.ts';
import { type RepairSettings, resolveNodeCount } from '../../shared/domain/repair-policy.ts';
import type { Mutation } from '../../simulator/swarm/seed.ts';
import { isA, type Mutant, withKubernetes, withRecords } from './mutant.ts';
import { guardsSeeing, poolSeeing, seeing, withSettings } from './repair-seeing.ts';

const POOL = 'karpenter.sh/nodepool';

/** The threshold with another count in its place. */
const withThreshold = (count: (settings: RepairSettings, nodes: number) => number): Mutation =>
  guardsSeeing(guardInputs => {
    const { settings, thresholdNodes: nodes } = guardInputs;
    return { ...guardInputs, settings: { ...settings, maxUnhealthy: { count: count(settings, nodes.length) } } };
  });

export const REPAIR_POOL_MUTANTS: readonly Mutant[] = [
  {
    name: 'repair-above-threshold',
    mistake: 'forgets the unhealthy threshold',
    breaks: ['I3'],
    seed: 115,
    scenario: 'repair-counts-the-cluster-without-a-pool.yaml#repair-counts-the-cluster-without-a-pool',
    mutation: withThreshold(() => Infinity),
  },
  {
    name: 'repair-threshold-rounds-down',
    mistake: 'rounds the threshold down instead of up',
    breaks: ['I5'],
    seed: 115,
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
    seed: 79,
    scenario: 'repair-keeps-to-its-budget.yaml#repair-two-at-a-time',
    mutation: seeing({ repair: repair => withSettings(repair, () => ({ maxConcurrentRepairs: undefined })) }),
  },
  {
    name: 'repair-budget-until-the-deletion',
    mistake: 'counts a repair as over as soon as the deletion was accepted',
    breaks: ['I3'],
    scenario: 'repair-keeps-to-its-budget.yaml#repair-two-at-a-time',
    mutation: poolSeeing(seen => ({
      ...seen,
      findings: seen.findings.map(finding =>
        finding.record?.attempt?.phase === 'accepted' ? { ...finding, state: 'followed' } : finding,
      ),
      poolRecord: { ...seen.poolRecord, inFlight: {} },
    })),
  },
  {
    name: 'repair-without-a-ramp',
    mistake: 'repairs all that an outage had held at once when it ends',
    breaks: ['I12', 'I3'],
    seed: 200025,
    scenario: 'repair-freezes-when-the-cluster-goes-dark.yaml#repair-ramps-up-after-a-freeze',
    mutation: poolSeeing(seen => ({
      ...seen,
      poolRecord: { ...seen.poolRecord, blockingGuards: [], ramp: undefined },
    })),
  },
  {
    name: 'repair-outage-of-the-pool',
    mistake: 'counts a zone by the nodes of the pool instead of all',
    breaks: ['I3', 'I5'],
    scenario: 'repair-outage-who-counts.yaml#repair-zone-counts-pools-without-a-block',
    mutation: guardsSeeing(guardInputs => ({ ...guardInputs, nodes: guardInputs.poolNodes })),
  },
  {
    name: 'repair-in-a-zone-outage',
    mistake: 'does not see that a whole zone is out',
    breaks: ['I3'],
    seed: 87,
    mutation: seeing({ repair: repair => withSettings(repair, () => ({ zoneOutage: undefined })) }),
  },
  {
    name: 'repair-in-a-frozen-cluster',
    mistake: 'does not see that most of the cluster is Unknown at once',
    breaks: ['I3'],
    seed: 115,
    mutation: seeing({ repair: repair => withSettings(repair, () => ({ freeze: undefined })) }),
  },
  {
    name: 'repair-uncertain-node-left-over',
    mistake: 'takes an unhealthy node for left over, of which it is not certain whose NodeClaim it is',
    breaks: ['I3'],
    scenario: 'repair-knows-whose-node-claim-it-is.yaml#repair-counts-who-is-not-told-apart',
    mutation: guardsSeeing(seen => ({
      ...seen,
      knownOf(node) {
        const known = seen.knownOf(node);
        return { ...known, isLeftOver: known.claim === undefined };
      },
    })),
  },
  {
    name: 'repair-node-claim-without-pool',
    mistake: 'leaves a node in the pool of its label where its NodeClaim is of none',
    breaks: ['I5'],
    scenario: 'repair-knows-whose-node-claim-it-is.yaml#repair-node-claim-of-no-pool',
    mutation: withKubernetes('repair', api => ({
      async list(type, query, options) {
        const answer = await api.list(type, query, options);
        if (answer.kind !== 'there' || !isA('NodeClaim', type) || query?.labelSelector !== undefined) return answer;
        return {
          kind: 'there',
          objects: answer.objects.filter(({ metadata }) => metadata.labels?.[POOL] !== undefined),
        };
      },
    })),
  },
  {
    name: 'repair-node-known-in-its-first-pool',
    mistake: 'takes a node for one of the pool that it was in first, whatever its NodeClaim has become',
    breaks: ['I5'],
    scenario: 'repair-knows-whose-node-claim-it-is.yaml#repair-label-of-the-node-claim-taken-away',
    mutation: withRecords('repair', records => {
      const first = new Map<string, JsonValue>();
      return {
        put(record, version) {
          if (record.subject.kind !== 'Node') return records.put(record, version);
          const pool = first.get(record.id) ?? record.state['pool'];
          if (pool !== undefined) first.set(record.id, pool);
          return records.put({ ...record, state: { ...record.state, ...(pool !== undefined && { pool }) } }, version);
        },
      };
    }),
  },
];
