/** Mistakes that the simulator found, each as the shortest history that shows it. */
import { describe, expect, it } from 'vitest';
import { decide } from '../../functions/repair/decide.ts';
import { createReconciler } from '../../functions/repair/reconcile.ts';
import type { ReconcilerFactory } from '../../runtime/functions.ts';
import type { RepairRecord } from '../../shared/domain/repair-record.ts';
import { toIsoText } from '../../shared/domain/time.ts';
import { aCondition, aNode, anObservation, at } from '../builders/repair.ts';
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

  it('leaves an attempt that may be under way in the record, whatever the node looks like', () => {
    // With clocks 2 s apart, the run that is behind took the attempt back, and a third run deleted the NodeClaim a second time.
    const now = at('2024-11-01T15:32:46Z');
    const node = aNode([aCondition('Ready', 'False')]);
    const lastTransitionTime = at('2024-11-01T15:02:48Z');
    const dueTime = at('2024-11-01T15:32:48Z');
    const record: RepairRecord = {
      incident: { conditionType: 'Ready', conditionStatus: 'False', lastTransitionTime, dueTime },
      attempt: {
        number: 1,
        nodeClaimName: 'nc1',
        nodeClaimUid: 'uid-nc1',
        phase: 'intended',
        intendedTime: dueTime,
        terminationTimestamp: '2024-11-01T15:32:48Z',
      },
    };
    const undecided = { now, record, ownsAttempt: false };
    expect(decide(anObservation({ ...undecided, node }))).toMatchObject({ kind: 'settle' });
    const recovered = aNode([aCondition('Ready', 'True')]);
    expect(decide(anObservation({ ...undecided, node: recovered }))).toMatchObject({ kind: 'settle' });
    expect(decide(anObservation({ ...undecided, node, gateOpen: false }))).toMatchObject({ kind: 'settle' });
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
        if (message.kind === 'wakeUp') wakeUps.set(minute, (wakeUps.get(minute) ?? 0) + 1);
        await reconcile(message);
      };
    };
    const steps = '  steps:\n    - { at: 42m, restart: forwarder }\n';
    await simulate(`${GATE}  objects:\n${onePool}${steps}`, { reconcilers: { repair: counting } });
    expect(wakeUps.get('15:42')).toBeGreaterThan(0);
    expect(wakeUps.get('15:42')).toBeLessThan(2 * 40);
    // Nor later: nothing changes in the minutes before the next look of each node by itself.
    expect([wakeUps.get('15:43'), wakeUps.get('15:44')]).toEqual([undefined, undefined]);
  });
});
