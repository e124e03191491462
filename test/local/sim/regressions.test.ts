/** Mistakes that the simulator found, each as the shortest history that shows it. */
import { describe, expect, it } from 'vitest';
import { createReconciler } from '../../../functions/repair/reconcile.ts';
import type { ReconcilerFactory } from '../../../local/functions.ts';
import { complaints, GATE, nodeObjects, simulate } from './simulate.ts';

const SICK = `${GATE}  objects:\n${nodeObjects('a')}`;

describe('repair', () => {
  it('does not act on an attempt that another run has taken out of the record', async () => {
    // A run whose clock is behind still tolerates the condition, and writes so after this one has recorded its intent.
    let interfered = false;
    const overtaken: ReconcilerFactory = deps =>
      createReconciler({
        ...deps,
        records: {
          get: key => deps.records.get(key),
          delete: (key, version) => deps.records.delete(key, version),
          async put(record, version) {
            const outcome = await deps.records.put(record, version);
            if (interfered || outcome.kind !== 'written' || record.state['attempt'] === undefined) return outcome;
            interfered = true;
            const { attempt: _, ...state } = record.state;
            const nextWakeTime = deps.clock.now();
            await deps.records.put({ ...record, state, nextWakeTime }, outcome.record.version);
            return outcome;
          },
        },
      });
    const expectation = '  expect:\n    - { write: { verb: delete, resource: nodeclaims }, times: 1 }\n';
    const result = await simulate(SICK + expectation, { reconcilers: { repair: overtaken } });
    expect(interfered).toBe(true);
    expect(result.violations).toEqual([]);
    expect(complaints(result)).toEqual([]);
  });
});
