/** The swarm of continuous integration: always the same 1,500 stories, a second of one core each. */
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { ResourceCatalog } from '../scenario/resource-names.ts';
import { parseScenarios } from '../scenario/parse.ts';
import { formatFinding, toFinding } from '../scenario/finding.ts';
import { toTrial } from './trial-file.ts';
import type { Trial } from './seed.ts';
import { HARDSHIPS_FROM } from './generate/hardships.ts';
import { KARPENTER_REBOOTS_FROM, KARPENTERS_FROM } from './generate/karpenters.ts';
import { NEWS_FROM } from './generate/focus.ts';
import { CLUSTER_RESTORES_FROM, MISHAPS_FROM } from './generate/mishaps.ts';

const range = (from: number, count: number): readonly number[] =>
  Array.from({ length: count }, (_, index) => from + index);

/** Stories of a day or a few hours. */
export const CI_SEEDS = { from: 1, to: 900 } as const;
/** Seeds that draw news over days (`generate/drain-news.ts`), which those from 1 on do not. */
const CI_NEWS_SEEDS = range(0, 40).map(index => NEWS_FROM + 4 * index);

/** Seeds beyond those that alone show a mistake, or that found a fault. The last one has a pool of a thousand nodes: 16 s. */
const CI_MORE_SEEDS: readonly number[] = [1057, 4081, 6870, 12_107, 200_270, 200_539, 400_213, 400_221, 400_079];

const CI_HARDSHIP_SEEDS = range(HARDSHIPS_FROM, 280);
const CI_MISHAP_SEEDS = range(MISHAPS_FROM, 151);
/** Seeds in which etcd goes back to a snapshot. */
const CI_RESTORE_SEEDS = range(CLUSTER_RESTORES_FROM, 40);
/** Seeds with Karpenters that act by themselves, two at once among them. */
const CI_KARPENTER_SEEDS = range(KARPENTERS_FROM, 39);
/** Seeds in which one of them reboots nodes, with budgets that have schedules. */
const CI_REBOOT_SEEDS = range(KARPENTER_REBOOTS_FROM, 39);

/**
 * Seeds that showed what a check must not ask for: words that overtake each other without times of
 * their own, what only a lost table knew, and what holds while a configuration is refused.
 */
const CI_UNDECIDABLE_SEEDS: readonly number[] = [12_090, 100_445, 100_894, 200_503];

/** All that the gate runs, besides the regressions. */
export const ALL_CI_SEEDS: readonly number[] = [
  ...range(CI_SEEDS.from, CI_SEEDS.to),
  ...CI_NEWS_SEEDS,
  ...CI_MORE_SEEDS,
  ...CI_HARDSHIP_SEEDS,
  ...CI_MISHAP_SEEDS,
  ...CI_RESTORE_SEEDS,
  ...CI_KARPENTER_SEEDS,
  ...CI_REBOOT_SEEDS,
  ...CI_UNDECIDABLE_SEEDS,
];

/** A change of the code moves every draw, so what failed under one seed is tried under a few more. */
const MORE_SEEDS: readonly number[] = [1, 2, 3];

/** The scenarios that failed once, as files of the folder: each under its own chance and some more. Throws when one is not valid. */
export async function readRegressions(folder: string, catalog: ResourceCatalog): Promise<readonly Trial[]> {
  const files = (await readdir(folder)).filter(name => name.endsWith('.yaml')).toSorted();
  const trials: Trial[] = [];
  for (const name of files) {
    const file = join(folder, name);
    const parsed = parseScenarios(await readFile(file, 'utf8'), file, catalog);
    if (!parsed.ok) throw new Error(parsed.faults.map(fault => formatFinding(toFinding(fault))).join('\n'));
    for (const trial of parsed.scenarios.map(toTrial)) {
      const seeds = trial.faults.mix === 'none' ? [trial.seed] : [...new Set([trial.seed, ...MORE_SEEDS])];
      trials.push(...seeds.map(seed => ({ ...trial, seed })));
    }
  }
  return trials;
}
