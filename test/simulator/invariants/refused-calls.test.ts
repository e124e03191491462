import { describe, expect, it } from 'vitest';
import { RESOURCES } from '../../../shared/contract/resources.ts';
import { toEpochMs } from '../../../shared/domain/time.ts';
import type { CheckContext, PortCall, Run } from '../../../simulator/invariants/invariant.ts';
import { checkRefusedCalls } from '../../../simulator/invariants/refused-calls.ts';

const START = Date.parse('2024-11-01T15:00:00Z');

/** The finalizer asks for the eviction of one pod at these seconds, and a budget forbids each. */
function complaints(seconds: readonly number[]): readonly string[] {
  const found: string[] = [];
  let now = toEpochMs(START);
  const check = checkRefusedCalls({
    now: () => now,
    quietSince: () => toEpochMs(START - 60_000),
    violate: (invariant, message) => void found.push(`${invariant}: ${message}`),
  } as Partial<CheckContext> as CheckContext);
  for (const second of seconds) {
    now = toEpochMs(START + second * 1000);
    const args = [{ type: RESOURCES.Pod, namespace: 'batch', name: 'p' }, { preconditions: { uid: 'u' } }];
    const outcome = { kind: 'answered', value: { kind: 'blocked' } } as const;
    const call: PortCall = { port: 'kubernetes', method: 'evict', args, time: now, outcome };
    const run: Run = { by: 'finalizer', startTime: now, calls: [] };
    check.onAnswer?.(call, run);
  }
  return found;
}

const everyTenSeconds = [10, 20, 30, 40, 50, 59];

describe('an eviction that is not granted', () => {
  it('may be asked for every ten seconds', () => {
    expect(complaints([0, ...everyTenSeconds])).toEqual([]);
  });

  it('may be asked for by all runs that look at once, when none of them knows of another', () => {
    expect(complaints([0, 0, 0.5, 1, 2, ...everyTenSeconds])).toEqual([]);
  });

  it('but not again and again', () => {
    expect(complaints([0, 6, 7, 8, 9, ...everyTenSeconds])).toEqual([
      expect.stringMatching(/^I8: finalizer evicts pods batch.p u: not granted 10 times within a minute$/),
      expect.stringMatching(/ 11 times /),
    ]);
  });
});
