/**
 * A file of stored items: a scenario with the cluster as it stood at one instant of another run, what the author of that run did afterwards,
 * and after it what only a run has: the items of the table, and the states of the instances.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { parse, stringify } from 'yaml';
import type { ReconcilerFactory } from '../../runtime/functions.ts';
import { createMemoryRecordStore } from '../../runtime/memory/record-store.ts';
import type { InstanceState } from '../../shared/ports/instances.ts';
import type { NewRecord } from '../../shared/ports/record-store.ts';
import { RESOURCES } from '../../shared/contract/resources.ts';
import { withDueIndex } from '../../simulator/due-index.ts';
import { runScenario, type RunResult } from '../../simulator/run.ts';
import { printScenario, type PrintableScenario } from '../../simulator/scenario/print.ts';
import type { Scenario } from '../../simulator/scenario/scenario.ts';
import { addDuration, earliest, hours } from '../../shared/domain/time.ts';
import { scenarioOf } from '../builders/scenario.ts';
import type { Outcome } from './outcome.ts';

export const ITEMS = new URL('../fixtures/items/', import.meta.url);
const SEPARATOR = '\n---\n';

export interface Stored {
  readonly items: readonly NewRecord[];
  /** Of those that do not run. */
  readonly instances: Readonly<Record<string, InstanceState>>;
  /** What the run had destroyed before this instant. */
  readonly before: Outcome['destroyed'];
  /** What it came to from this instant on. */
  readonly after: Outcome;
}

/** A record with the names of the table. */
type StoredItem = Omit<NewRecord, 'hasOwnMessage'> & { readonly direct?: boolean };

export interface StoredItems extends Stored {
  readonly scenario: Scenario;
}

/** @param comment stands above, a line each */
export function printStoredItems(scenario: PrintableScenario, stored: Stored, comment: readonly string[]): string {
  const items = stored.items.map(({ hasOwnMessage, ...item }) => ({ ...item, direct: hasOwnMessage }));
  const rest = stringify({ ...stored, items }, { lineWidth: 0, aliasDuplicateObjects: false });
  return printScenario(scenario, comment).trimEnd() + SEPARATOR + rest;
}

/** The names of the files of one version, without `.yaml`. */
export const namesOf = (version: string): readonly string[] =>
  readdirSync(new URL(`${version}/`, ITEMS)).flatMap(file => (file.endsWith('.yaml') ? [file.slice(0, -5)] : []));

export function readStoredItems(version: string, name: string): StoredItems {
  const [scenario = '', rest = ''] = readFileSync(new URL(`${version}/${name}.yaml`, ITEMS), 'utf8').split(SEPARATOR);
  const { items, ...stored } = parse(rest) as Omit<Stored, 'items'> & { readonly items: readonly StoredItem[] };
  return {
    ...stored,
    items: items.map(({ direct, ...item }) => ({ ...item, ...(direct !== undefined && { hasOwnMessage: direct }) })),
    scenario: scenarioOf(scenario),
  };
}

/** Of a record that a later version wrote: no version of this code reads it. */
const LATER = 1_000;
/** Whatever an item of a later version would be taken for, its timer is due by then. */
const LONG_ENOUGH = hours(3);

/** The same as a later version of Curfew left them, and nothing that happens afterwards. */
export function asNewer({ scenario, items, ...rest }: StoredItems): StoredItems {
  const { start } = scenario;
  return {
    ...rest,
    items: items.map(item => ({ ...item, state: { ...item.state, schemaVersion: LATER } })),
    scenario: {
      ...scenario,
      end: earliest(scenario.end, addDuration(start, LONG_ENOUGH)),
      steps: scenario.steps.filter(({ time }) => time <= start),
    },
  };
}

/** The simulated API server counts its UIDs from the same one on: so many are passed over, those of the run before. */
const USED_UIDS = 64;

/** Runs the functions on these items, in that cluster. */
export async function load(
  { scenario, items, instances }: Pick<StoredItems, 'scenario' | 'items' | 'instances'>,
  reconcilers?: Readonly<Record<string, ReconcilerFactory>>,
): Promise<RunResult> {
  const store = withDueIndex(createMemoryRecordStore());
  for (const item of items) await store.records.put(item, 0);
  return runScenario(scenario, {
    ...(reconcilers && { reconcilers }),
    parts(parts) {
      for (let used = 0; used < USED_UIDS; used++) {
        const metadata = { name: `used-${used}`, namespace: 'default' };
        parts.core.create(RESOURCES.ConfigMap, { apiVersion: 'v1', kind: 'ConfigMap', metadata });
        parts.core.delete({ type: RESOURCES.ConfigMap, ...metadata });
      }
      parts.time.at(scenario.start, () => {
        for (const [providerID, state] of Object.entries(instances)) parts.cloud.setState(providerID, state);
      });
      return { ...parts, store };
    },
  });
}
