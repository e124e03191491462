/** The swarm of continuous integration: always the same, within four minutes on two quiet cores. 1,500 seeds take 1,800 s of one core, and do not fit. */
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { ResourceCatalog } from '../scenario/resource-names.ts';
import { parseScenarios } from '../scenario/parse.ts';
import { formatFinding, toFinding } from '../scenario/finding.ts';
import { toTrial } from './trial-file.ts';
import type { Trial } from './seed.ts';
import { HARDSHIPS_FROM } from './generate/hardships.ts';
import { KARPENTER_REBOOTS_FROM, KARPENTERS_FROM } from './generate/karpenters.ts';
import { CLUSTER_RESTORES_FROM, MISHAPS_FROM } from './generate/mishaps.ts';

/** 1.3 s of one core each (measured over seeds 1 to 150): some two minutes on two cores. */
export const CI_SEEDS = { from: 1, to: 150 } as const;
/** Seeds that draw news over days (`generate/drain-news.ts`), which those from 1 on do not. */
const CI_NEWS_SEEDS: readonly number[] = Array.from({ length: 11 }, (_, index) => 20_000 + 4 * index);

/** Seeds beyond those that alone show a mistake: what is readable last, a recovery while a drain ends, a try that dies, an act that counts as carried out, words that the table has lost, and those that found a fault later. */
const CI_MORE_SEEDS: readonly number[] = [
  434, 621, 624, 672, 690, 738, 794, 1057, 6870, 9914, 12_107, 200_270, 200_539, 400_213, 400_221,
];

/** Seeds with hardships (`generate/hardships.ts`): 1.1 s of one core each. */
const CI_HARDSHIP_SEEDS: readonly number[] = Array.from({ length: 130 }, (_, index) => HARDSHIPS_FROM + index);

/** Seeds with mishaps (`generate/mishaps.ts`), those that showed a mistake among them: a second of one core each. */
const CI_MISHAP_SEEDS: readonly number[] = Array.from({ length: 30 }, (_, index) => MISHAPS_FROM + 20 + index);

/** Seeds in which etcd goes back to a snapshot: two seconds of one core each. */
const CI_RESTORE_SEEDS: readonly number[] = [5, 7, 9, 11, 14, 15, 19, 22].map(index => CLUSTER_RESTORES_FROM + index);

/** Seeds with Karpenters that act by themselves, two at once among them: two seconds of one core each. The last one has a pool of a thousand nodes: 16 s. */
const CI_KARPENTER_SEEDS: readonly number[] = [0, 3, 5, 40, 79].map(index => KARPENTERS_FROM + index);

/** Seeds in which one of them reboots nodes, with budgets that have schedules: a second of one core each. */
const CI_REBOOT_SEEDS: readonly number[] = [3, 4, 5].map(index => KARPENTER_REBOOTS_FROM + index);

/** Seeds that showed what a check must not ask for: words that overtake each other without times of their own, and what only a lost table knew. */
const CI_UNDECIDABLE_SEEDS: readonly number[] = [12_090, 200_503];

/** All that the gate runs, besides the regressions. */
export const ALL_CI_SEEDS: readonly number[] = [
  ...Array.from({ length: CI_SEEDS.to - CI_SEEDS.from + 1 }, (_, index) => CI_SEEDS.from + index),
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
const MORE_SEEDS: readonly number[] = [1, 2, 3, 4, 5];

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
