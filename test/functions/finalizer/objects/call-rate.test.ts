/** Times for the calls of a rule, where time goes on while records are read and written, as it does outside of simulations. */
import { expect, it } from 'vitest';
import { reserveCall } from '../../../../functions/finalizer/objects/call-rate.ts';
import { reserveCallTime } from '../../../../functions/finalizer/objects/rule/call-queue.ts';
import type { FinalizerRuleInForce } from '../../../../functions/finalizer/finalizer-rules/rule/acceptance.ts';
import { addDuration, type EpochMs, minutes, seconds } from '../../../../shared/domain/time.ts';
import type { NewRecord, StoredRecord } from '../../../../shared/ports/record-store.ts';
import { at } from '../../../builders/repair.ts';

const NOW = at('2024-11-01T15:00:00Z');

function slowDeps(): Parameters<typeof reserveCall>[0] {
  let now: EpochMs = NOW;
  let stored: StoredRecord | undefined;
  const goOn = (): void => void (now = addDuration(now, seconds(1)));
  return {
    clock: { now: () => now },
    records: {
      get: () => {
        goOn();
        return Promise.resolve(stored);
      },
      put: (record: NewRecord) => {
        goOn();
        stored = { ...record, version: (stored?.version ?? 0) + 1 };
        return Promise.resolve({ kind: 'written', version: stored.version });
      },
    },
  } as unknown as Parameters<typeof reserveCall>[0];
}

const rule = {
  object: { kind: 'FinalizerRule', apiVersion: 'curfew.dev/v1alpha1', metadata: { name: 'certificates', uid: 'r' } },
  rule: { rateLimit: { perSecond: 1, concurrent: 2, longestBackoff: minutes(5) } },
} as unknown as FinalizerRuleInForce;

it('are free at the moment of the look, so that the call is made in the same run', async () => {
  const deps = slowDeps();
  for (const uid of ['a', 'b'])
    expect(await reserveCall(deps, rule, uid, { isCallDue: false, now: NOW, reserveCallTime })).toBe(NOW);
});

it('are later once as many calls are under way as may be', async () => {
  const deps = slowDeps();
  const times: EpochMs[] = [];
  for (const uid of ['a', 'b', 'c'])
    times.push(await reserveCall(deps, rule, uid, { isCallDue: false, now: NOW, reserveCallTime }));
  expect(times[2]).toBeGreaterThan(NOW);
});
