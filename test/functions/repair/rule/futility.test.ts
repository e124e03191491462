/** Replacements that fail as those before them are left alone. */
import { describe, expect, it } from 'vitest';
import { futilityBlocker } from '../../../../functions/repair/rule/futility.ts';
import type { GuardInputs } from '../../../../functions/repair/rule/guard-inputs.ts';
import { NEW_POOL, type PoolRecord } from '../../../../functions/repair/pool-record.ts';
import type { NodeView } from '../../../../shared/domain/node.ts';
import { addDuration, hours, minutes } from '../../../../shared/domain/time.ts';
import { aDecision, aPoolNode, SICK, someRepairInForce, T, verdictsOf } from '../../../builders/repair.ts';

const block = { maxUnhealthy: '100%', futility: { repairs: 2, window: '6h' } };
const repair = someRepairInForce(block);
const terminated = (condition: string, ...times: readonly number[]): PoolRecord => ({
  ...NEW_POOL,
  terminations: times.map(time => ({ condition, time: addDuration(T, minutes(time)) })),
});
const bornAt = (time: number): readonly NodeView[] => [
  aPoolNode('n1', SICK, { creationTime: addDuration(T, minutes(time)) }),
];

describe('futility', () => {
  it('leaves a replacement alone that fails as those before it, until the window has passed', () => {
    const given = { repair, poolRecord: terminated('Ready=False', -60, -30) };
    const decision = aDecision(bornAt(-10), given);
    expect(verdictsOf(decision)).toEqual(['blocked n1 FutileRepairs']);
    expect(decision.findings.map(each => each.nextLookTime)).toEqual([addDuration(T, minutes(300))]);
    const early = aDecision(bornAt(-10), { ...given, now: addDuration(T, minutes(299)) });
    expect(verdictsOf(early)).toEqual(['blocked n1 FutileRepairs']);
    const late = aDecision(bornAt(-10), { ...given, now: addDuration(T, minutes(300)) });
    expect(verdictsOf(late)).toEqual(['repair n1']);
  });

  it.each<[string, number, PoolRecord]>([
    ['terminations after the node was made', -40, terminated('Ready=False', -60, -30)],
    ['those for another reason', -10, terminated('Disk=True', -60, -30)],
    ['fewer', -10, terminated('Ready=False', -60)],
  ])('does not count %s', (_, born, state) => {
    expect(verdictsOf(aDecision(bornAt(born), { repair, poolRecord: state }))).toEqual(['repair n1']);
  });

  it('blocks a termination, and no action that leaves the node in place', () => {
    const ladder = someRepairInForce({
      ...block,
      actions: [{ type: 'Reboot', timeout: '10m' }, { type: 'Terminate' }],
    });
    const state = terminated('Ready=False', -60, -30);
    expect(verdictsOf(aDecision(bornAt(-10), { repair: ladder, poolRecord: state }))).toEqual(['repair n1']);
  });

  it('is remembered while the block cannot be read, the gate is closed or mode is Observe', () => {
    const state = terminated('Ready=False', -60, -30);
    for (const other of [
      someRepairInForce({}, { settings: { invalid: 'a typo' } }),
      someRepairInForce({}, { gateOpen: false }),
      someRepairInForce(block, { mode: 'Observe' }),
    ]) {
      expect(aDecision(bornAt(-10), { repair: other, poolRecord: state }).poolRecord.terminations).toEqual(
        state.terminations,
      );
    }
  });

  it('says how many did not help, whatever their order, and none made after the node', () => {
    const given = { settings: { futility: { repairs: 2, window: hours(6) } }, now: T, place: 'in NodePool a' };
    const at = (time: number) => ({ condition: 'Ready=False', time: addDuration(T, minutes(time)) });
    const node = { creationTime: addDuration(T, minutes(-30)) };
    const blockerOf = (rule: object, born: Pick<NodeView, 'creationTime'>, times: readonly number[]) =>
      futilityBlocker({ ...given, ...rule } as unknown as GuardInputs, 'Ready=False', born, times.map(at));
    expect(blockerOf({}, node, [-30, -90, -60])).toEqual({
      kind: 'futility',
      reason: 'FutileRepairs',
      message:
        '3 repairs in NodePool a did not help: their replacements fail the same way (Ready=False); held until 2024-11-01T20:02:48Z',
      setting: { field: 'spec.repair.futility', numbers: { repairs: 3, allowed: 2 } },
      until: addDuration(T, minutes(300)),
    });
    expect(blockerOf({ settings: {} }, node, [-90, -60])).toBeUndefined();
    expect(blockerOf({}, { creationTime: undefined }, [-90, -60])).toBeUndefined();
  });
});
