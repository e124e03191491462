/** Statistics of small samples: order statistics only, because timings on a shared machine are skewed by whatever else runs. */

/** The middle of what was measured, and its range. All in the unit of the samples. */
export interface Summary {
  readonly median: number;
  readonly min: number;
  readonly max: number;
  readonly count: number;
}

/** Throws a RangeError for no samples. */
export function summarize(samples: readonly number[]): Summary {
  return {
    median: percentile(samples, 50),
    min: percentile(samples, 0),
    max: percentile(samples, 100),
    count: samples.length,
  };
}

/**
 * The value below which `percent` of the samples lie, interpolated between its two neighbours. Throws a RangeError for no samples or
 * a percentage outside 0–100.
 */
export function percentile(samples: readonly number[], percent: number): number {
  if (samples.length === 0) throw new RangeError('there are no samples');
  if (percent < 0 || percent > 100) throw new RangeError(`there is no ${percent}th percentile`);
  const sorted = samples.toSorted((a, b) => a - b);
  const position = (percent / 100) * (sorted.length - 1);
  const below = sorted[Math.floor(position)] ?? 0;
  const above = sorted[Math.ceil(position)] ?? 0;
  return below + (above - below) * (position - Math.floor(position));
}

/**
 * How many times `reference` is `ours`: the ratio of the medians, with the range of the ratios of the single rounds. Samples of one
 * index come from one round, measured side by side. Throws a RangeError when the numbers of samples differ.
 */
export function compare(ours: readonly number[], reference: readonly number[]): Summary {
  if (ours.length !== reference.length) throw new RangeError('every round measures both sides');
  const rounds = summarize(ours.map((value, round) => value / (reference[round] ?? NaN)));
  return { ...rounds, median: percentile(ours, 50) / percentile(reference, 50) };
}
