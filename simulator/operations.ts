/** What operators and AWS do to an installation of Curfew while it runs: late messages, redrives, rollbacks, a table or a cluster that is restored. */
import { ANNOTATIONS, CONFIG_MAP, type FunctionName } from '../shared/contract/names.ts';
import { addDuration, seconds, toDurationMs, toIsoText, type DurationMs, type EpochMs } from '../shared/domain/time.ts';
import type { Scheduler } from '../runtime/scheduler.ts';
import type { BuriedMessage, System } from '../runtime/system-parts.ts';
import type { RecordStore } from '../shared/ports/record-store.ts';
import type { Outages } from './outages.ts';
import type { ClusterBackups } from './cluster-backups.ts';
import type { Table } from './table.ts';
import type { World } from './world.ts';

export interface Operations {
  /** What is sent to that inbox in the time `duration` comes so much later; undefined: to any inbox. */
  delay(target: FunctionName | undefined, duration: DurationMs, by: DurationMs): void;
  /** Sends what is in the dead-letter queue again; answers how many messages. */
  redrive(target: FunctionName): number;
  /** For so long functions of the version before run; then a republish, for what they had to leave alone. */
  rollBack(duration: DurationMs): void;
  /** As docs/runbook.md has it: the table of so long ago, or an empty one, and a republish. */
  restoreTable(age: DurationMs | undefined): void;
  /** As docs/runbook.md has it: what the API server had stored so long ago, or at the start of the run. */
  restoreCluster(age: DurationMs): void;
}

export interface OperationsOptions {
  readonly scheduler: Scheduler;
  readonly outages: Pick<Outages, 'begin'>;
  readonly lateness: Lateness;
  readonly table: Table;
  readonly backups: ClusterBackups;
  /** Of the table, for whoever watches its writes. */
  readonly records: RecordStore;
  readonly world: Pick<World, 'patch'>;
  readonly system: Pick<System, 'send' | 'restartForwarder'>;
  /** All that are in a dead-letter queue. */
  readonly deadLetters: BuriedMessage[];
  readonly onTableRestored: (backup: EpochMs | undefined) => void;
  readonly onClusterRestored: () => void;
}

/** How late messages are now. */
export interface Lateness {
  add(target: FunctionName | undefined, duration: DurationMs, by: DurationMs): void;
  of(target: FunctionName): DurationMs;
}

export function createLateness(scheduler: Scheduler): Lateness {
  const delays = new Set<{ readonly target: FunctionName | undefined; readonly by: DurationMs }>();
  return {
    add(target, duration, by) {
      const delay = { target, by };
      delays.add(delay);
      scheduler.at(addDuration(scheduler.now(), duration), () => void delays.delete(delay));
    },
    of: name =>
      [...delays].reduce(
        (longest, { target, by }) => ((target ?? name) === name && by > longest ? by : longest),
        seconds(0),
      ),
  };
}

export function createOperations(options: OperationsOptions): Operations {
  const { scheduler, outages, lateness, table, backups, records, world, system, deadLetters } = options;
  const republish = (): void => {
    const request = { metadata: { annotations: { [ANNOTATIONS.republish]: toIsoText(scheduler.now()) } } };
    const { namespace, name } = CONFIG_MAP;
    // Without that ConfigMap the command refuses, and who starts a forwarder again has the same.
    if (!world.patch({ resource: 'configmaps', namespace, name }, request)) system.restartForwarder();
  };
  return {
    delay(target, duration, by) {
      lateness.add(target, duration, by);
      outages.begin('deliveries', toDurationMs(duration + by));
    },
    redrive(target) {
      const again = deadLetters.filter(letter => letter.function === target);
      for (const letter of again) {
        deadLetters.splice(deadLetters.indexOf(letter), 1);
        system.send(target, letter.body);
      }
      return again.length;
    },
    rollBack(duration) {
      table.rollBack(duration);
      outages.begin('functions', duration);
      scheduler.at(addDuration(scheduler.now(), duration), republish);
    },
    restoreTable(age) {
      const now = scheduler.now();
      const backup = age === undefined ? undefined : addDuration(now, toDurationMs(0 - age));
      options.onTableRestored(backup);
      void table.restore(backup, records);
      outages.begin('functions', seconds(1));
      republish();
    },
    restoreCluster(age) {
      backups.restore(addDuration(scheduler.now(), toDurationMs(0 - age)));
      options.onClusterRestored();
      outages.begin('functions', seconds(1));
    },
  };
}
