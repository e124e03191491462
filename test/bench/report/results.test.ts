import { describe, expect, it } from 'vitest';
import { formatRun, readRun, type Environment } from '../../../bench/report/results.ts';
import { atMost, numberRow } from '../../../bench/report/row.ts';

const environment: Environment = {
  node: 'v24.0.0',
  platform: 'linux-x64',
  cpu: 'a processor',
  cores: 2,
  memoryBytes: 8e9,
  commit: 'abc1234',
};

describe('formatRun', () => {
  it('keeps the sizes and the rows with their verdicts, rounded to four decimals, and leaves the samples out', () => {
    const row = numberRow({ name: 'calls', unit: '1', ours: 1.234567, limit: atMost(2) });
    const outcome = { settings: { rounds: 2 }, rows: [row], samples: { wallMs: [1.234567, 2] } };
    const text = formatRun({ name: 'storm', measuredTime: new Date(0), environment, outcome });
    expect(JSON.parse(text)).toEqual({
      bench: 'storm',
      measuredTime: '1970-01-01T00:00:00.000Z',
      environment,
      settings: { rounds: 2 },
      rows: [{ ...row, ours: { unit: '1', median: 1.2346 }, judged: { unit: '1', median: 1.2346 }, ok: true }],
    });
  });
});

describe('readRun', () => {
  it('reads what stands in the repository', () => {
    expect(readRun('storm')?.rows.map(({ name }) => name)).toContain('pods evicted a second');
    expect(readRun('nothing')).toBeUndefined();
  });
});
