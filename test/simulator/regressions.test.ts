/** Mistakes that the simulator found, each as the shortest history that shows it. */
import { describe, expect, it } from 'vitest';
import { createReconciler as createFinalizerReconciler } from '../../functions/finalizer/reconcile.ts';
import { createReconciler } from '../../functions/repair/reconcile.ts';
import type { ReconcilerFactory } from '../../runtime/functions.ts';
import { toIsoText } from '../../shared/domain/time.ts';
import { complaints, GATE, nodeObjects, simulate } from './simulate.ts';

const SICK = `${GATE}  objects:\n${nodeObjects('a')}`;

describe('repair', () => {
  it('does not act on attempts that another run has changed in between', async () => {
    // Another run writes the pool's record just before this one has reserved its attempts: it must look again.
    let interfered = false;
    const overtaken: ReconcilerFactory = deps =>
      createReconciler({
        ...deps,
        records: {
          get: key => deps.records.get(key),
          delete: (key, version) => deps.records.delete(key, version),
          async put(record, version) {
            const isIntent = JSON.stringify(record.state).includes('"phase":"intended"');
            if (!interfered && isIntent) {
              interfered = true;
              const { attempts: _, ...state } = record.state;
              await deps.records.put({ ...record, state: { ...state, attempts: [] } }, version);
            }
            return await deps.records.put(record, version);
          },
        },
      });
    const expectation = '  expect:\n    - { write: { verb: delete, resource: nodeclaims }, times: 1 }\n';
    const result = await simulate(SICK + expectation, { reconcilers: { repair: overtaken } });
    expect(interfered).toBe(true);
    expect(result.violations).toEqual([]);
    expect(complaints(result)).toEqual([]);
  });

  it('does not wake a blocked pool once for each node that a starting forwarder tells of', async () => {
    // Each of n nodes woke all unhealthy ones: in a pool of a thousand, 250 of them unhealthy, 80,000 messages at every start.
    const nodes = Array.from({ length: 40 }, (_, index) => nodeObjects(`n${index}`, index < 12 ? 'False' : 'True'));
    const onePool = nodes.join('').replaceAll(/nodepool: n\d+/g, 'nodepool: n0');
    const wakeUps = new Map<string, number>();
    const counting: ReconcilerFactory = deps => {
      const reconcile = createReconciler(deps);
      return async message => {
        const minute = toIsoText(deps.clock.now()).slice(11, 16);
        const isAboutNodes = message.kind === 'wakeUp' && message.subject.kind !== 'Round';
        if (isAboutNodes) wakeUps.set(minute, (wakeUps.get(minute) ?? 0) + 1);
        await reconcile(message);
      };
    };
    const steps = '  steps:\n    - { at: 42m, restart: forwarder }\n';
    await simulate(`${GATE}  objects:\n${onePool}${steps}`, { reconcilers: { repair: counting } });
    expect(wakeUps.get('15:42')).toBeGreaterThan(0);
    expect(wakeUps.get('15:42')).toBeLessThan(2 * 40);
    // Nor later: nothing changes in the minutes before the next pass.
    expect([wakeUps.get('15:43'), wakeUps.get('15:44')]).toEqual([undefined, undefined]);
  });
});

describe('settings', () => {
  it('that change in a burst do not wake every node for each change', async () => {
    // Each of twenty policies woke each unhealthy node, and for the finalizer every Node and NodeClaim: 20 x 92 wake-ups.
    const nodes = Array.from({ length: 40 }, (_, index) => nodeObjects(`n${index}`, index < 12 ? 'False' : 'True'));
    const onePool = nodes.join('').replaceAll(/nodepool: n\d+/g, 'nodepool: n0');
    const woken = new Map<string, number>();
    const counting =
      (name: 'repair' | 'finalizer', create: ReconcilerFactory): ReconcilerFactory =>
      deps => {
        const reconcile = create(deps);
        return async message => {
          const isAboutOne = message.kind === 'wakeUp' && ['Node', 'NodeClaim'].includes(message.subject.kind);
          if (isAboutOne) woken.set(name, (woken.get(name) ?? 0) + 1);
          await reconcile(message);
        };
      };
    const policies = Array.from({ length: 20 }, (_, index) => {
      const spec = '{ nodePoolSelector: {}, repair: { defaultTolerationDuration: 4h } }';
      return `    - { at: 5m${index}s, apply: { apiVersion: curfew.dev/v1alpha1, kind: NodeLifecyclePolicy, metadata: { name: p${index} }, spec: ${spec} } }\n`;
    });
    await simulate(`  duration: 7m\n${GATE}  objects:\n${onePool}  steps:\n${policies.join('')}`, {
      reconcilers: {
        repair: counting('repair', createReconciler),
        finalizer: counting('finalizer', createFinalizerReconciler),
      },
    });
    // Two rounds at the start; for the burst of twenty seconds one at once, and one every ten seconds.
    expect(woken.get('repair')).toBe(5 * 12);
    expect(woken.get('finalizer')).toBeUndefined();
  });
});
