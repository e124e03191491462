import { describe, expect, it } from 'vitest';
import { atLeast, atMost, isKept, numberRow, ratioRow } from '../../../bench/report/row.ts';
import { formatOther, formatTable } from '../../../bench/report/table.ts';

const load = ratioRow({
  name: 'load repair',
  unit: 'ms',
  ours: [60, 80, 70],
  reference: [50, 50, 40],
  limit: atMost(1.5),
});
const size = numberRow({ name: 'size repair', unit: 'B', ours: 554_321, limit: atMost(1_000_000) });
const speed = numberRow({ name: 'speed', unit: '1/s', ours: 1999, limit: atLeast(2000) });
const memory = numberRow({ name: 'memory', unit: 'B', ours: [2_000_000, 1_500_000, 1_750_000] });

describe('rows', () => {
  it('judge a ratio of medians, with the range of the rounds', () => {
    expect(load.judged).toEqual({ unit: '1', median: 1.4, range: { min: 1.2, max: 1.75 } });
    expect(isKept(load)).toBe(true);
  });

  it('judge a number by its own limit, which counts as kept when it is reached exactly', () => {
    expect(isKept(speed)).toBe(false);
    expect(isKept(numberRow({ name: 'speed', unit: '1/s', ours: 2000, limit: atLeast(2000) }))).toBe(true);
    expect(isKept(numberRow({ name: 'lost', unit: '1', ours: 1, limit: atMost(0) }))).toBe(false);
  });

  it('judge nothing without a limit', () => {
    expect(isKept(memory)).toBeUndefined();
  });
});

describe('formatTable', () => {
  it('lines up what was measured, its reference, what is judged, and whether the limit is kept', () => {
    const rows = [load, size, speed, memory].map(row => ({ bench: 'init', row }));
    expect(formatTable(rows)).toBe(
      [
        'bench             ours              reference      ratio/number        limit       ok?',
        '────────────────  ────────────────  ─────────────  ──────────────────  ──────────  ───',
        'init load repair  70 ms (60–80)     50 ms (40–50)  1.40 × (1.20–1.75)  ≤ 1.50 ×    yes',
        'init size repair  554 kB                           554 kB              ≤ 1 MB      yes',
        'init speed        1,999 /s                         1,999 /s            ≥ 2,000 /s  NO',
        'init memory       1.75 MB (1.50–2)                 1.75 MB',
        '',
      ].join('\n'),
    );
  });
});

describe('formatOther', () => {
  it('names the API server of a bench, and says how its limits stood on the other one', () => {
    const other = { measuredTime: '2026-11-22T17:12:36.844Z', rows: [load, speed, memory] };
    expect(formatOther('storm', false, other)).toBe(
      'storm: both sides on the embedded API server. On a real kube-apiserver, measured 2026-11-22: ' +
        'load repair 1.40 × (1.20–1.75) (≤ 1.50 ×: yes); speed 1,999 /s (≥ 2,000 /s: NO).\n',
    );
    expect(formatOther('storm-control-plane', true, undefined)).toBe(
      'storm-control-plane: both sides on a real kube-apiserver. It was not measured on the embedded API server.\n',
    );
  });
});
