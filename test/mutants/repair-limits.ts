/** Mistakes in the limits of a zone and of the cluster. */
import type { ConcurrentRepairs, StatedLimits } from '../../functions/repair/limits/concurrent.ts';
import type { PassObservation } from '../../functions/repair/pass/decision.ts';
import { ZONE_LABEL } from '../../shared/domain/node.ts';
import { resolveNodeCount, type NodeCount } from '../../shared/domain/repair-policy.ts';
import type { JsonValue } from '../../shared/domain/kubernetes-object.ts';
import type { NewRecord } from '../../shared/ports/record-store.ts';
import type { Mutation } from '../../simulator/swarm/seed.ts';
import { withRecords, type Mutant } from './mutant.ts';
import { passSeeing } from './repair-seeing.ts';

const RECORD_ID = 'concurrent-repairs';

const withLimits = (change: (stated: StatedLimits, seen: PassObservation) => StatedLimits): Mutation =>
  passSeeing(seen => {
    const { limits } = seen.rules;
    if (limits === undefined) return seen;
    const binding = limits.binding.map(stated => change(stated, seen));
    return { ...seen, rules: { ...seen.rules, limits: { ...limits, binding } } };
  });

const withConcurrent = (
  change: (concurrent: ConcurrentRepairs, seen: PassObservation) => Partial<ConcurrentRepairs>,
): Mutation =>
  passSeeing(seen =>
    seen.concurrent === undefined
      ? seen
      : { ...seen, concurrent: { ...seen.concurrent, ...change(seen.concurrent, seen) } },
  );

const isShared = ({ id }: Pick<NewRecord, 'id'>): boolean => id === RECORD_ID;

const roundedDown = (limit: NodeCount | undefined, total: number): NodeCount | undefined =>
  limit === undefined || 'count' in limit ? limit : { count: Math.floor((limit.percent * total) / 100) };

/** Reserves without looking whether another pool has in between: shows only when two passes meet. */
export const RESERVES_WITHOUT_PRECONDITION: Mutation = withRecords('repair', records => ({
  async put(record, version) {
    if (!isShared(record)) return await records.put(record, version);
    const current = await records.get(record);
    return await records.put(record, current?.version ?? 0);
  },
}));

export const REPAIR_LIMITS_MUTANTS: readonly Mutant[] = [
  {
    name: 'repair-above-the-limit-of-the-cluster',
    mistake: 'forgets maxConcurrentRepairsPerCluster',
    breaks: ['I3'],
    scenario: 'repair-limits-cluster.yaml#repair-limits-cluster',
    mutation: withLimits(stated => ({ ...stated, maxConcurrentRepairsPerCluster: undefined })),
  },
  {
    name: 'repair-above-the-limit-of-a-zone',
    mistake: 'forgets maxConcurrentRepairsPerZone',
    breaks: ['I3'],
    scenario: 'repair-limits-zone.yaml#repair-limits-zone',
    mutation: withLimits(stated => ({ ...stated, maxConcurrentRepairsPerZone: undefined })),
  },
  {
    name: 'repair-limits-of-the-pool-alone',
    mistake: 'counts the repairs of its own pool alone',
    breaks: ['I3'],
    scenario: 'repair-limits-cluster.yaml#repair-limits-cluster',
    mutation: withConcurrent(() => ({ reservations: [], waiting: [] })),
  },
  {
    name: 'repair-limits-of-the-first-policy',
    mistake: 'goes by the most specific policy with a limit instead of the strictest',
    breaks: ['I3'],
    scenario: 'repair-limits-strictest.yaml#repair-limits-strictest',
    mutation: passSeeing(seen => {
      const { limits } = seen.rules;
      return limits === undefined
        ? seen
        : { ...seen, rules: { ...seen.rules, limits: { ...limits, binding: limits.binding.slice(0, 1) } } };
    }),
  },
  {
    name: 'repair-limits-round-down',
    mistake: 'rounds the percentage of a zone down instead of up',
    breaks: ['I5'],
    scenario: 'repair-limits-percentage.yaml#repair-limits-percentage-of-a-zone',
    mutation: passSeeing(seen => {
      const { limits } = seen.rules;
      if (limits === undefined) return seen;
      const inZone = (zone: string): number => seen.nodes.filter(({ labels }) => labels[ZONE_LABEL] === zone).length;
      const smallest = Math.min(
        ...seen.nodes.flatMap(({ labels }) => (labels[ZONE_LABEL] === undefined ? [] : [inZone(labels[ZONE_LABEL])])),
      );
      const binding = limits.binding.map(stated => ({
        ...stated,
        maxConcurrentRepairsPerZone: roundedDown(stated.maxConcurrentRepairsPerZone, smallest),
      }));
      return { ...seen, rules: { ...seen.rules, limits: { ...limits, binding } } };
    }),
  },
  {
    name: 'repair-limits-percentage-of-the-pool',
    mistake: 'takes the percentage of the cluster from the largest count it can find: one node more than there are',
    breaks: ['I3'],
    scenario: 'repair-limits-percentage.yaml#repair-limits-percentage-of-the-cluster',
    mutation: withLimits((stated, { nodes }) => {
      const { maxConcurrentRepairsPerCluster: limit } = stated;
      if (limit === undefined) return stated;
      return { ...stated, maxConcurrentRepairsPerCluster: { count: resolveNodeCount(limit, nodes.length) + 1 } };
    }),
  },
  {
    name: 'repair-place-for-good',
    mistake: 'never gives a place back: what is over still counts',
    breaks: ['I5'],
    scenario: 'repair-limits-cluster.yaml#repair-limits-cluster',
    mutation: withRecords('repair', records => {
      const all = new Map<string, JsonValue>();
      return {
        put(record, version) {
          if (!isShared(record)) return records.put(record, version);
          const { reservations } = record.state;
          for (const each of Array.isArray(reservations) ? reservations : []) all.set(JSON.stringify(each), each);
          return records.put({ ...record, state: { ...record.state, reservations: [...all.values()] } }, version);
        },
      };
    }),
  },
  {
    name: 'repair-place-once-counted',
    mistake: 'counts a place as free as soon as the NodeClaim is deleted',
    breaks: ['I3'],
    scenario: 'repair-limits-cluster.yaml#repair-limits-cluster',
    mutation: withConcurrent((concurrent, { claims, nodes }) => {
      const deleting = new Set(
        claims.flatMap(({ providerID, deletionTime }) => (deletionTime === undefined ? [] : [providerID])),
      );
      const over = new Set(nodes.flatMap(({ uid, providerID }) => (deleting.has(providerID) ? [uid] : [])));
      return { reservations: concurrent.reservations.filter(({ uid }) => !over.has(uid)), waiting: [] };
    }),
  },
  {
    name: 'repair-limits-of-node-claims-alone',
    mistake: 'counts no repair of a node without a NodeClaim',
    breaks: ['I3'],
    scenario: 'repair-limits-auto-scaling-groups.yaml#repair-limits-groups-and-pools',
    mutation: withConcurrent(({ reservations }) => ({
      reservations: reservations.filter(({ pool }) => pool !== undefined),
    })),
  },
];
