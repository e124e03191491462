/** Interleaved repetitions: every round measures every variant, so that whatever disturbs the machine disturbs all of them. */

/** Measures one variant once. */
export type Measure<Sample> = () => Promise<Sample>;

export interface RoundOptions {
  readonly rounds: number;
  /** Rounds before those that count: they fill the caches of the file system. */
  readonly warmUpRounds?: number;
  readonly onRound?: (done: number, of: number) => void;
}

/** The samples of each variant, in the order of the rounds. The order within a round turns, so that nobody is always the first. */
export async function measureInterleaved<Name extends string, Sample>(
  variants: Readonly<Record<Name, Measure<Sample>>>,
  { rounds, warmUpRounds = 0, onRound }: RoundOptions,
): Promise<ReadonlyMap<Name, readonly Sample[]>> {
  const names = Object.keys(variants).filter((name): name is Name => Object.hasOwn(variants, name));
  const samples = new Map<Name, Sample[]>(names.map(name => [name, []]));
  const total = warmUpRounds + rounds;
  for (let round = 0; round < total; round += 1) {
    for (const name of turned(names, round)) {
      const sample = await variants[name]();
      if (round >= warmUpRounds) samples.get(name)?.push(sample);
    }
    onRound?.(round + 1, total);
  }
  return samples;
}

/** The list, beginning at another element each time: `turned([a, b, c], 1)` is `[b, c, a]`. */
function turned<Item>(items: readonly Item[], by: number): Item[] {
  const start = items.length === 0 ? 0 : by % items.length;
  return [...items.slice(start), ...items.slice(0, start)];
}
