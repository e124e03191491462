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
  it('keeps the sizes, the rows with their verdicts, and the samples, rounded to four decimals', () => {
    const row = numberRow({ name: 'lost', unit: '1', ours: 0, limit: atMost(0) });
    const outcome = { settings: { rounds: 2 }, rows: [row], samples: { wallMs: [1.234567, 2] } };
    const text = formatRun({ name: 'timers', measuredTime: new Date(0), environment, outcome });
    expect(JSON.parse(text)).toEqual({
      bench: 'timers',
      measuredTime: '1970-01-01T00:00:00.000Z',
      environment,
      settings: { rounds: 2 },
      rows: [{ ...row, ok: true }],
      samples: { wallMs: [1.2346, 2] },
    });
  });
});

describe('readRun', () => {
  it('reads what stands in the repository', () => {
    expect(readRun('storm')?.rows.map(({ name }) => name)).toContain('pods evicted a second');
    expect(readRun('nothing')).toBeUndefined();
  });
});
