/**
 * Whether a series stays where it is: its last quarter against the one before. In the first half everything fills up: Events live for an hour.
 * Pure.
 */
import { percentile } from '../measure/statistics.ts';
import { atMost, numberRow, type Row, type Unit } from '../report/row.ts';

export interface Quarters {
  readonly third: readonly number[];
  readonly last: readonly number[];
}

export function quartersOf(series: readonly number[]): Quarters {
  const length = Math.floor(series.length / 4);
  const start = series.length - length;
  return { third: series.slice(start - length, start), last: series.slice(start) };
}

/**
 * How many times the third quarter's median the last one's is; the line through both, not a single peak. Of nothing it is 1, and
 * infinitely many times nothing is something. Throws a RangeError for fewer than four samples.
 */
export function growthOf(series: readonly number[]): number {
  const { third, last } = quartersOf(series);
  const [before, after] = [percentile(third, 50), percentile(last, 50)];
  return before === after ? 1 : after / before;
}

/** @param limit of `growthOf`; absent: for information */
export function flatRow(row: {
  readonly name: string;
  readonly unit: Unit;
  readonly series: readonly number[];
  readonly limit?: number | undefined;
}): Row {
  const { name, unit, series, limit } = row;
  const { third, last } = quartersOf(series);
  const { ours } = numberRow({ name, unit, ours: last });
  const { ours: reference } = numberRow({ name, unit, ours: third });
  const judged = { unit: '1', median: growthOf(series) } as const;
  return {
    name: `${name}, last quarter against the one before`,
    ours,
    reference,
    judged,
    ...(limit !== undefined && { limit: atMost(limit) }),
  };
}
