/** Whether a series stays where it is: its last quarter against its second. The first is left out, in which everything fills up. Pure. */
import { percentile } from '../measure/statistics.ts';
import { atMost, numberRow, type Row, type Unit } from '../report/row.ts';

export interface Quarters {
  readonly second: readonly number[];
  readonly last: readonly number[];
}

export function quartersOf(series: readonly number[]): Quarters {
  const length = Math.floor(series.length / 4);
  return { second: series.slice(length, 2 * length), last: series.slice(series.length - length) };
}

/**
 * How many times the second quarter's median the last one's is; the line through both, not a single peak. Of nothing it is 1, and
 * infinitely many times nothing is something. Throws a RangeError for fewer than four samples.
 */
export function growthOf(series: readonly number[]): number {
  const { second, last } = quartersOf(series);
  const [before, after] = [percentile(second, 50), percentile(last, 50)];
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
  const { second, last } = quartersOf(series);
  const { ours } = numberRow({ name, unit, ours: last });
  const { ours: reference } = numberRow({ name, unit, ours: second });
  const judged = { unit: '1', median: growthOf(series) } as const;
  return {
    name: `${name}, last quarter against second`,
    ours,
    reference,
    judged,
    ...(limit !== undefined && { limit: atMost(limit) }),
  };
}
