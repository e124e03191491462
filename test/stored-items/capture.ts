/**
 * `node test/stored-items/capture.ts VERSION`: freezes what this code stores today, before its layout changes. It runs all example scenarios,
 * looks at each record that is written, and picks as few instants as have every phase between them, in the smallest clusters that have it.
 */
import { createHash } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { basename } from 'node:path';
import { exampleFiles, scenariosIn } from '../examples/files.ts';
import { createMemoryRecordStore } from '../../runtime/memory/record-store.ts';
import { addDuration, minutes, toIsoText } from '../../shared/domain/time.ts';
import type { StoredRecord } from '../../shared/ports/record-store.ts';
import { withDueIndex } from '../../simulator/due-index.ts';
import type { SimulatedParts } from '../../simulator/parts.ts';
import { runScenario, type RunResult } from '../../simulator/run.ts';
import type { Scenario } from '../../simulator/scenario/scenario.ts';
import { countOf, outcomeOf } from './outcome.ts';
import { isDisturbed, snapshotOf } from './snapshot.ts';
import { phasesOf, typeOf } from './phases.ts';
import { ITEMS, printStoredItems } from './stored-items.ts';

Error.stackTraceLimit = 0;

const FOLDERS = ['../../examples/scenarios/', './scenarios/'].map(path => new URL(path, import.meta.url));
/** What was begun at the end of a scenario goes on as long as this. */
const RUNS_ON = minutes(30);
const LARGEST_CLUSTER = 40;
/** Of one phase; some are in every record that is written. */
const MAX_KNOWN = 100;

interface Instant {
  readonly scenario: Scenario;
  /** Of the writes of records in its run, from 0. */
  readonly write: number;
  readonly record: StoredRecord;
  readonly phases: readonly string[];
}

/** Calls `onWrite` after each write of a record. */
async function watchRecords(
  scenario: Scenario,
  onWrite: (record: StoredRecord, parts: SimulatedParts, all: () => readonly StoredRecord[]) => void,
): Promise<RunResult> {
  const memory = createMemoryRecordStore();
  const store = withDueIndex(memory);
  return runScenario(scenario, {
    parts(parts) {
      const records = {
        ...store.records,
        async put(...args: Parameters<typeof store.records.put>) {
          const outcome = await store.records.put(...args);
          if (outcome.kind === 'written') onWrite(outcome.record, parts, () => memory.all());
          return outcome;
        },
      };
      return { ...parts, store: { ...store, records } };
    },
  });
}

function readScenarios(): readonly Scenario[] {
  return FOLDERS.flatMap(folder =>
    exampleFiles(folder)
      .flatMap(file => scenariosIn(file, folder))
      .map(each => ({ ...each, end: addDuration(each.end, RUNS_ON) })),
  )
    .filter(({ objects }) => objects.length <= LARGEST_CLUSTER)
    .toSorted((a, b) => a.objects.length - b.objects.length);
}

/** For each phase the instants that have it, those in the smallest clusters first. */
async function findInstants(scenarios: readonly Scenario[]): Promise<ReadonlyMap<string, readonly Instant[]>> {
  const found = new Map<string, Instant[]>();
  for (const scenario of scenarios) {
    let write = 0;
    await watchRecords(scenario, (record, parts) => {
      const instant = { scenario, write: write++, record, phases: phasesOf(record) };
      if (isDisturbed(scenario, parts.time.now())) return;
      for (const phase of instant.phases) {
        const known = found.get(phase) ?? [];
        if (known.length < MAX_KNOWN) found.set(phase, [...known, instant]);
      }
    });
  }
  return found;
}

/** As few as have every phase: of the rarest phase first, the instant that has most others which are still missing. */
function pick(found: ReadonlyMap<string, readonly Instant[]>): readonly Instant[] {
  const missing = new Set(found.keys());
  const picked: Instant[] = [];
  const rarest = [...found].toSorted(([, a], [, b]) => a.length - b.length);
  for (const [phase, instants] of rarest) {
    if (!missing.has(phase)) continue;
    const gain = ({ phases }: Instant): number => phases.filter(each => missing.has(each)).length;
    const [best] = instants.toSorted(
      (a, b) => gain(b) - gain(a) || a.scenario.objects.length - b.scenario.objects.length || a.write - b.write,
    );
    if (best === undefined) continue;
    picked.push(best);
    for (const each of best.phases) missing.delete(each);
  }
  return picked;
}

interface Captured {
  readonly type: string;
  readonly text: string;
}

/** Runs the scenario again and writes down the instants. */
async function capture(scenario: Scenario, instants: readonly Instant[]): Promise<readonly Captured[]> {
  const captured: ((result: RunResult) => Captured)[] = [];
  let write = 0;
  const result = await watchRecords(scenario, (record, parts, all) => {
    const instant = instants.find(each => each.write === write);
    write += 1;
    if (instant === undefined) return;
    const now = parts.time.now();
    const { scenario: file, stored } = snapshotOf(scenario, parts, { now, items: all() });
    const comment = [
      `${record.owner} has just written ${record.id}, at ${toIsoText(now)}`,
      `in the run of ${basename(scenario.file)}#${scenario.name}. Frozen: never edited.`,
    ];
    const seen = parts.trace.entries.length;
    captured.push(({ trace, core }) => {
      const ends = { before: countOf(trace.slice(0, seen)), after: outcomeOf({ trace, core }, seen) };
      return { type: typeOf(record), text: printStoredItems(file, { ...stored, ...ends }, comment) };
    });
  });
  return captured.map(make => make(result));
}

async function main(version: string): Promise<void> {
  const folder = new URL(`${version}/`, ITEMS);
  mkdirSync(folder);
  const found = await findInstants(readScenarios());
  const picked = pick(found);
  const numbers = new Map<string, number>();
  const sums: string[] = [];
  for (const scenario of new Set(picked.map(each => each.scenario))) {
    const instants = picked.filter(each => each.scenario === scenario);
    for (const { type, text } of await capture(scenario, instants)) {
      const number = (numbers.get(type) ?? 0) + 1;
      numbers.set(type, number);
      const file = `${type.replace('/', '-')}-${String(number).padStart(2, '0')}.yaml`;
      writeFileSync(new URL(file, folder), text);
      sums.push(`${sha256(text)}  ${file}\n`);
    }
  }
  writeFileSync(new URL('SHA256SUMS', folder), sums.toSorted((a, b) => (a.slice(64) < b.slice(64) ? -1 : 1)).join(''));
  process.stdout.write(`${sums.length} files have ${found.size} phases\n`);
}

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');

const [version = ''] = process.argv.slice(2);
if (/^v\d+$/.test(version)) await main(version);
else {
  process.stderr.write('node test/stored-items/capture.ts VERSION, such as v2: a folder that is not there yet\n');
  process.exitCode = 2;
}
