/** Numbers as people read them. */
import type { Limit, Quantity, Row, Unit } from './row.ts';

/** Units in steps: the first one in which the number is at least 1. */
const SCALES: Readonly<Record<Unit, readonly (readonly [factor: number, name: string])[]>> = {
  ms: [
    [60_000, ' min'],
    [1000, ' s'],
    [1, ' ms'],
    [0.001, ' µs'],
  ],
  µs: [
    [1_000_000, ' s'],
    [1000, ' ms'],
    [1, ' µs'],
  ],
  B: [
    [1e9, ' GB'],
    [1e6, ' MB'],
    [1e3, ' kB'],
    [1, ' B'],
  ],
  '1/s': [[1, ' /s']],
  '1': [[1, '']],
};

/** Three significant digits, thousands apart: `41.2 ms`, `554 kB`, `1,000,000`. */
export function formatNumber(value: number, unit: Unit): string {
  const [factor, name] = scaleOf(value, unit);
  return digits(value / factor) + name;
}

/** With its range where there is one: `41.2 ms (39.8–45.0)`. */
export function formatQuantity({ unit, median, range }: Quantity): string {
  if (range === undefined) return formatNumber(median, unit);
  const [factor] = scaleOf(median, unit);
  return `${formatNumber(median, unit)} (${digits(range.min / factor)}–${digits(range.max / factor)})`;
}

/** What the limit is about: a ratio with its sign, a number as it is. */
export function formatJudged(row: Row): string {
  const { median, range, unit } = row.judged;
  if (row.reference === undefined) return formatNumber(median, unit);
  return `${digits(median)} ×${range === undefined ? '' : ` (${digits(range.min)}–${digits(range.max)})`}`;
}

export function formatLimit(limit: Limit | undefined, row: Row): string {
  if (limit === undefined) return '';
  const sign = limit.kind === 'atMost' ? '≤' : '≥';
  return `${sign} ${row.reference === undefined ? formatNumber(limit.value, row.judged.unit) : `${digits(limit.value)} ×`}`;
}

function scaleOf(value: number, unit: Unit): readonly [factor: number, name: string] {
  const scales = SCALES[unit];
  return scales.find(([factor]) => Math.abs(value) >= factor) ?? scales.at(-1) ?? [1, ''];
}

function digits(value: number): string {
  if (Number.isInteger(value) || Math.abs(value) >= 1000) return Math.round(value).toLocaleString('en-US');
  const decimals = Math.max(0, 2 - Math.floor(Math.log10(Math.abs(value))));
  return value.toFixed(Math.min(decimals, 6));
}
