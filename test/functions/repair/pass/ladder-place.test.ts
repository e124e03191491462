/** An action that its run did not carry out: what the next pass makes of it, and where the ladder stands meanwhile. */
import { describe, expect, it } from 'vitest';
import { decidePass } from '../../../../functions/repair/pass/decide.ts';
import type { PoolState, RepairAttempt } from '../../../../functions/repair/pass/pool.ts';
import { NEW_POOL } from '../../../../functions/repair/record.ts';
import { addDuration, minutes, seconds, type EpochMs } from '../../../../shared/domain/time.ts';
import { aPass, aPoolNode, anAttempt, READY, someRules, T } from '../../../builders/repair.ts';

const VETO = { annotations: { 'curfew.dev/do-not-repair': 'true' } };
const ACTIONS = [{ type: 'Reboot', timeout: '30s' }, { type: 'DrainThenTerminate' }];
const rules = someRules({ maxUnhealthy: '100%', actions: ACTIONS });
const frozen = someRules({ maxUnhealthy: 0, actions: ACTIONS });
const NOW = addDuration(T, minutes(40));
const settled = addDuration(NOW, seconds(60));
const node = aPoolNode('n1');

const intended = (overrides: Partial<RepairAttempt>): RepairAttempt => ({
  ...anAttempt('n1', { number: 2, phase: 'intended', intendedTime: NOW, ...overrides }),
  terminationTimestamp: undefined,
});
const drain = intended({
  action: 'Drain',
  rung: 1,
  escalates: true,
  requestId: 'uid-n1.1',
  until: addDuration(NOW, minutes(10)),
});
const holding = (attempt: RepairAttempt): PoolState => ({ ...NEW_POOL, attempts: [attempt] });

function actionsOf(state: PoolState, now: EpochMs): readonly string[] {
  return decidePass(aPass([node], { rules, state, now })).verdicts.map(verdict =>
    verdict.kind === 'repair' ? `${verdict.attempt.action} ${verdict.attempt.number}` : verdict.kind,
  );
}

describe('an action that was not carried out', () => {
  it.each([
    ['a veto', { ...node, ...VETO }, rules],
    ['a guard', node, frozen],
  ])('is taken back while %s holds it, and follows at its place, not from the first action on', (_, held, its) => {
    const whileHeld = decidePass(aPass([held], { rules: its, state: holding(drain), now: settled }));
    expect(whileHeld.withdrawals).toEqual([drain]);
    expect(actionsOf(whileHeld.state, addDuration(settled, minutes(5)))).toEqual(['Drain 3']);
  });

  it('keeps the drain before a termination that waits', () => {
    const termination = intended({ action: 'Terminate', rung: 2, escalates: true, requestId: 'uid-n1.1' });
    const whileHeld = decidePass(aPass([{ ...node, ...VETO }], { rules, state: holding(termination), now: settled }));
    expect(whileHeld.withdrawals).toMatchObject([{ action: 'Terminate' }]);
    expect(whileHeld.withdrawals[0]).not.toHaveProperty('requestId');
    expect(actionsOf(whileHeld.state, settled)).toEqual(['Terminate 3']);
  });

  it('is forgotten with the node well', () => {
    const well = decidePass(aPass([{ ...node, conditions: [READY] }], { rules, state: holding(drain), now: settled }));
    expect(well).toMatchObject({ withdrawals: [drain], state: { attempts: [] } });
  });

  it('has its time when it is taken over and none of that is left', () => {
    const short = intended({ ...drain, until: addDuration(NOW, seconds(30)) });
    const { state } = decidePass(aPass([node], { rules, state: holding(short), now: settled }));
    expect(state.attempts).toMatchObject([{ action: 'Drain', until: addDuration(settled, minutes(10)) }]);
    const long = decidePass(aPass([node], { rules, state: holding(drain), now: settled }));
    expect(long.state.attempts).toMatchObject([{ action: 'Drain', until: drain.until }]);
  });
});
