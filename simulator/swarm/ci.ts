/** The swarm of continuous integration: always the same 1,500 seeds. The gate runs it on what the control plane leaves of the processors. */
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { ResourceCatalog } from '../scenario/resource-names.ts';
import { parseScenarios } from '../scenario/parse.ts';
import { formatFinding, toFinding } from '../scenario/finding.ts';
import { toTrial } from './trial-file.ts';
import type { Trial } from './seed.ts';
import { HARDSHIPS_FROM } from './generate/hardships.ts';
import { KARPENTERS_FROM } from './generate/karpenters.ts';
import { CLUSTER_RESTORES_FROM, MISHAPS_FROM } from './generate/mishaps.ts';

export const CI_SEEDS = { from: 1, to: 920 } as const;
/** Seeds that draw news over days (`generate/drain-news.ts`), which those from 1 on do not. */
const CI_NEWS_SEEDS: readonly number[] = Array.from({ length: 40 }, (_, index) => 20_000 + 4 * index);

/** Seeds beyond those, each of which alone shows a mistake: a try that dies, a refusal that is forgotten, an act that counts as carried out. */
const CI_MORE_SEEDS: readonly number[] = [6870, 9914, 12_107];

/** Seeds with hardships (`generate/hardships.ts`). */
const CI_HARDSHIP_SEEDS: readonly number[] = Array.from({ length: 280 }, (_, index) => HARDSHIPS_FROM + index);

/** Seeds with mishaps (`generate/mishaps.ts`). */
const CI_MISHAP_SEEDS: readonly number[] = Array.from({ length: 140 }, (_, index) => MISHAPS_FROM + index);

/** Seeds in which etcd goes back to a snapshot, as a rule. */
const CI_RESTORE_SEEDS: readonly number[] = Array.from({ length: 40 }, (_, index) => CLUSTER_RESTORES_FROM + index);

/** Seeds with Karpenters that act by themselves, two at once among them. The last one has a pool of a thousand nodes. */
const CI_KARPENTER_SEEDS: readonly number[] = Array.from({ length: 74 }, (_, index) => KARPENTERS_FROM + 6 + index);

/** Seeds that showed what a check must not ask for: words that overtake each other without times of their own, what only a lost table knew, and what it does not know that it said. */
const CI_UNDECIDABLE_SEEDS: readonly number[] = [12_090, 200_503, 200_539];

/** All that the gate runs, besides the regressions. */
export const ALL_CI_SEEDS: readonly number[] = [
  ...Array.from({ length: CI_SEEDS.to - CI_SEEDS.from + 1 }, (_, index) => CI_SEEDS.from + index),
  ...CI_NEWS_SEEDS,
  ...CI_MORE_SEEDS,
  ...CI_HARDSHIP_SEEDS,
  ...CI_MISHAP_SEEDS,
  ...CI_RESTORE_SEEDS,
  ...CI_KARPENTER_SEEDS,
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
