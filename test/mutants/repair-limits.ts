/** Mistakes in the limits of a zone and of the cluster. */
import { isJsonObject } from '../../shared/domain/json.ts';
import type { JsonValue } from '../../shared/domain/kubernetes-object.ts';
import type { NewRecord } from '../../shared/ports/record-store.ts';
import type { Mutation } from '../../simulator/swarm/seed.ts';
import { withListed, withRecords, withRepairRules, type Mutant } from './mutant.ts';

const RECORD_ID = 'concurrent-repairs';

/** Policies without one of their limits. */
const withoutLimit = (limit: string): Mutation =>
  withListed('repair', 'NodeLifecyclePolicy', object => {
    const stated = object.spec?.['repairLimits'];
    if (!isJsonObject(stated)) return object;
    const { [limit]: _, ...repairLimits } = stated;
    return { ...object, spec: { ...object.spec, repairLimits } };
  });

/** Reservations with some of them missing. */
const countingOnly = (isCounted: (reservation: JsonValue) => boolean): Mutation =>
  withRecords('repair', records => ({
    async get(key) {
      const record = await records.get(key);
      const reservations = record?.state['reservations'];
      if (record === undefined || !isShared(record) || !Array.isArray(reservations)) return record;
      return { ...record, state: { ...record.state, reservations: reservations.filter(isCounted) } };
    },
  }));

const isShared = ({ id }: Pick<NewRecord, 'id'>): boolean => id === RECORD_ID;

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
    mutation: withoutLimit('maxConcurrentRepairsPerCluster'),
  },
  {
    name: 'repair-above-the-limit-of-a-zone',
    mistake: 'forgets maxConcurrentRepairsPerZone',
    breaks: ['I3'],
    scenario: 'repair-limits-zone.yaml#repair-limits-zone',
    mutation: withoutLimit('maxConcurrentRepairsPerZone'),
  },
  {
    name: 'repair-limits-of-the-pool-alone',
    mistake: 'counts the repairs of its own pool alone',
    breaks: ['I3'],
    scenario: 'repair-limits-cluster.yaml#repair-limits-cluster',
    mutation: countingOnly(() => false),
  },
  {
    name: 'repair-slot-for-good',
    mistake: 'never gives a slot back: a node that a reboot has mended still counts',
    breaks: ['I5'],
    scenario: 'repair-in-flight-in-place.yaml#repair-in-flight-reboot-that-helps',
    mutation: withRepairRules(rules => ({
      ...rules,
      judgeNode(context, node, held) {
        const look = rules.judgeNode(context, node, held);
        const isActed = held !== undefined && held.acts.length > 0;
        return isActed ? { ...look, record: look.record ?? held, state: 'inFlight' } : look;
      },
    })),
  },
  {
    name: 'repair-limits-of-node-claims-alone',
    mistake: 'counts no repair of a node without a NodeClaim',
    breaks: ['I3'],
    scenario: 'repair-limits-auto-scaling-groups.yaml#repair-limits-groups-and-pools',
    mutation: countingOnly(each => isJsonObject(each) && each['pool'] !== undefined),
  },
];
