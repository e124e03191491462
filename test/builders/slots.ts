/** The record of the slots in zone and cluster, with the records of pools, for tests that ask it without a pass. */
import { type Reservation, RESERVATIONS_CODEC } from '../../functions/repair/reservation-record.ts';
import { openReservations, type OpenReservations } from '../../functions/repair/reservations.ts';
import { POOL_CODEC, poolRecordId } from '../../functions/repair/record.ts';
import { NEW_POOL } from '../../functions/repair/pool-record.ts';
import { createMemoryRecordStore, type MemoryRecordStore } from '../../runtime/memory/record-store.ts';
import type { NodeView } from '../../shared/domain/node.ts';
import type { RepairLimits } from '../../shared/domain/repair-policy.ts';
import { addDuration, type EpochMs, toDurationMs } from '../../shared/domain/time.ts';
import type { RecordStore } from '../../shared/ports/record-store.ts';
import { createManualClock } from '../fakes/manual-clock.ts';
import { aPoolNode, T } from './repair.ts';

export const NOW = T;
/** Seconds from now; negative: before. A run is over after a minute. */
export const at = (second: number): EpochMs => addDuration(NOW, toDurationMs(second * 1000));
export const BASIS = 'policy@1';
export const ID = 'concurrent-repairs';
export const KEY = { owner: 'repair', id: ID } as const;
export const SUBJECT = { apiVersion: 'curfew.dev/v1alpha1', kind: 'Round', name: ID };

export const inZone = (name: string, zone?: string): NodeView =>
  aPoolNode(name, undefined, zone === undefined ? {} : { labels: { 'topology.kubernetes.io/zone': zone } });
/** Of pool `default` n1 and n2, of pool `gpu` g1, without a zone x1. */
export const NODES = [inZone('n1', 'a'), inZone('n2', 'b'), inZone('g1', 'a'), inZone('x1')];
export const [N1, N2] = NODES as [NodeView, NodeView, NodeView, NodeView];
export const of = (name: string, pool: string | undefined, second: number, zone?: string): Reservation => ({
  uid: `uid-${name}`,
  ...(zone !== undefined && { zone }),
  ...(pool !== undefined && { pool }),
  since: at(second),
});
export const ours = (...names: readonly string[]): ReadonlySet<string> => new Set(names.map(name => `uid-${name}`));

export function aWorld() {
  const records = createMemoryRecordStore();
  const clock = createManualClock(NOW);
  const sent: unknown[] = [];
  const deps = { records, clock, wakeUps: { send: async (wakeUps: readonly unknown[]) => void sent.push(...wakeUps) } };
  const put = (id: string, state: Parameters<RecordStore['put']>[0]['state']) =>
    records.put({ owner: 'repair', id, subject: SUBJECT, state, nextWakeTime: NOW }, versionOf(records, id));
  return {
    deps,
    records,
    clock,
    sent,
    /** The record as a run of before has left it. */
    shared: (reservations: readonly Reservation[], basis = BASIS) =>
      put(ID, {
        schemaVersion: 2,
        ...RESERVATIONS_CODEC.toState({ policyGenerations: basis, reservations: [...reservations] }),
      }),
    pool: (name: string | undefined, ...names: readonly string[]) => {
      const inFlight = Object.fromEntries(names.map(each => [`uid-${each}`, at(-600)]));
      return put(poolRecordId(name), { schemaVersion: 5, ...POOL_CODEC.toState({ ...NEW_POOL, inFlight }) });
    },
    newer: (id: string) => put(id, { schemaVersion: 99 }),
    stored: () => {
      const record = records.all().find(({ id }) => id === ID);
      return record && RESERVATIONS_CODEC.parse(record.state).reservations;
    },
    record: () => records.get(KEY),
  };
}
export type World = ReturnType<typeof aWorld>;

const versionOf = (records: MemoryRecordStore, id: string): number =>
  records.all().find(each => each.id === id)?.version ?? 0;

export const open = (
  world: World,
  limits: RepairLimits = { maxConcurrentRepairsPerCluster: { count: 1 } },
  pool: string | undefined = 'default',
) =>
  openReservations(world.deps, {
    pool,
    pools: ['default', 'gpu', undefined],
    nodes: NODES,
    limits: { policyGenerations: BASIS, binding: [{ source: 'NodeLifecyclePolicy all', ...limits }] },
  });

export async function opened(world: World, limits?: RepairLimits, pool?: string): Promise<OpenReservations> {
  const reserved = await open(world, limits, pool);
  if (reserved === 'newer') throw new Error('a newer version has it');
  return reserved;
}
