/** One line of the table: what we measured, what it is measured against, and the limit that it has to keep. */
import * as z from 'zod';
import { compare, summarize, type Summary } from '../measure/statistics.ts';

/** Units that are measured in; `1` is a plain number. */
export type Unit = 'ms' | 'µs' | 'B' | '1/s' | '1';

export interface Quantity {
  readonly unit: Unit;
  readonly median: number;
  /** Range over the rounds; absent for what was counted or measured once. */
  readonly range?: { readonly min: number; readonly max: number };
}

export interface Limit {
  readonly kind: 'atMost' | 'atLeast';
  readonly value: number;
}

export interface Row {
  readonly name: string;
  readonly ours: Quantity;
  readonly reference?: Quantity;
  /** What the limit is about: our quantity itself, or how many times the reference it is. */
  readonly judged: Quantity;
  /** Absent: the row is for information. */
  readonly limit?: Limit;
}

const quantitySchema = z.object({
  unit: z.enum(['ms', 'µs', 'B', '1/s', '1']),
  median: z.number(),
  range: z.exactOptional(z.object({ min: z.number(), max: z.number() })),
});
/** A row as it was written. */
export const rowSchema = z.object({
  name: z.string(),
  ours: quantitySchema,
  reference: z.exactOptional(quantitySchema),
  judged: quantitySchema,
  limit: z.exactOptional(z.object({ kind: z.enum(['atMost', 'atLeast']), value: z.number() })),
});

export const atMost = (value: number): Limit => ({ kind: 'atMost', value });
export const atLeast = (value: number): Limit => ({ kind: 'atLeast', value });

/** Whether the limit is kept; undefined for a row without one. */
export function isKept({ judged, limit }: Pick<Row, 'judged' | 'limit'>): boolean | undefined {
  if (limit === undefined) return undefined;
  return limit.kind === 'atMost' ? judged.median <= limit.value : judged.median >= limit.value;
}

/** A row about a number of ours: one sample per round, or a single value. */
export function numberRow(row: {
  readonly name: string;
  readonly unit: Unit;
  readonly ours: readonly number[] | number;
  readonly limit?: Limit;
}): Row {
  const ours = toQuantity(row.unit, row.ours);
  return { name: row.name, ours, judged: ours, ...(row.limit && { limit: row.limit }) };
}

/** A row about a ratio: samples of both sides from the same rounds. */
export function ratioRow(row: {
  readonly name: string;
  readonly unit: Unit;
  readonly ours: readonly number[];
  readonly reference: readonly number[];
  readonly limit?: Limit;
}): Row {
  return {
    name: row.name,
    ours: toQuantity(row.unit, row.ours),
    reference: toQuantity(row.unit, row.reference),
    judged: fromSummary('1', compare(row.ours, row.reference)),
    ...(row.limit && { limit: row.limit }),
  };
}

function toQuantity(unit: Unit, samples: readonly number[] | number): Quantity {
  return typeof samples === 'number' ? { unit, median: samples } : fromSummary(unit, summarize(samples));
}

function fromSummary(unit: Unit, { median, min, max, count }: Summary): Quantity {
  return { unit, median, ...(count > 1 && { range: { min, max } }) };
}
