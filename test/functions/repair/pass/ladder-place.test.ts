/** An action that its run did not carry out: what the next pass makes of it, and where the ladder stands meanwhile. */
import { describe, expect, it } from 'vitest';
import type { RepairRules } from '../../../../functions/repair/decide.ts';
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

  it('keeps its place in the budget while it is held, and begins there though another node is due', () => {
    const one = someRules({ maxUnhealthy: '100%', maxConcurrentRepairs: 1, actions: ACTIONS });
    const other = aPoolNode('n0');
    const judge = (nodes: Parameters<typeof aPass>[0], state: PoolState) => {
      const { verdicts, state: next } = decidePass(aPass(nodes, { rules: one, state, now: settled }));
      return { verdicts: verdicts.map(verdict => `${verdict.node.name} ${verdict.kind}`).toSorted(), next };
    };
    const whileHeld = judge([{ ...node, ...VETO }, other], holding(drain));
    expect(whileHeld.verdicts).toEqual(['n0 blocked', 'n1 vetoed']);
    expect(judge([node, other], whileHeld.next).verdicts).toEqual(['n0 blocked', 'n1 repair']);
    // The other one ranks first.
    expect(judge([other, node], holding(drain)).verdicts).toEqual(['n0 blocked', 'n1 repair']);
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

const CLOSED: readonly (readonly [string, RepairRules])[] = [
  ['the gate is closed', { ...rules, gateOpen: false }],
  ['mode is Observe', { ...rules, mode: 'Observe' }],
];

describe('while nothing may be repaired', () => {
  it.each(CLOSED)('an action that was not carried out is taken back and keeps its place: %s', (_, its) => {
    const whileOff = decidePass(aPass([node], { rules: its, state: holding(drain), now: settled }));
    expect(whileOff.withdrawals).toEqual([drain]);
    expect(actionsOf(whileOff.state, settled)).toEqual(its.mode === 'Observe' ? ['Drain 4'] : ['Drain 3']);
  });

  const accepted = intended({ ...drain, phase: 'accepted' });
  const remediation = intended({ ...accepted, action: 'CustomResource', rung: 1 });

  it.each(CLOSED)('a drain under way is called off: %s', (_, its) => {
    const whileOff = decidePass(aPass([node], { rules: its, state: holding(accepted), now: settled }));
    expect(whileOff.withdrawals).toEqual([accepted]);
    const again = decidePass(aPass([node], { rules: its, state: whileOff.state, now: settled }));
    expect(again.withdrawals).toEqual([]);
    expect(again.state.attempts).toEqual(whileOff.state.attempts);
  });

  it('a drain under way is called off with the block that asked for it', () => {
    const without = { ...rules, settings: undefined };
    const whileOff = decidePass(aPass([node], { rules: without, state: holding(accepted), now: settled }));
    expect(whileOff).toMatchObject({ withdrawals: [accepted], state: { attempts: [] } });
  });

  it.each(CLOSED)('who answers to a custom resource is not interrupted: %s', (_, its) => {
    const whileOff = decidePass(aPass([node], { rules: its, state: holding(remediation), now: settled }));
    expect(whileOff.withdrawals).toEqual([]);
  });

  it('a block that cannot be read calls nothing off', () => {
    const invalid = { ...rules, settings: { invalid: 'spec.repair: no' } };
    const whileOff = decidePass(aPass([node], { rules: invalid, state: holding(accepted), now: settled }));
    expect(whileOff).toMatchObject({ withdrawals: [], state: { attempts: [accepted] } });
  });

  it('mode Observe goes on with the times of the drain that it called off', () => {
    const [, observe] = CLOSED[1] ?? ['', rules];
    const whileOff = decidePass(aPass([node], { rules: observe, state: holding(accepted), now: settled }));
    expect(whileOff.state.attempts).toMatchObject([{ action: 'Drain', phase: 'observed', until: drain.until }]);
    const { until = NOW } = drain;
    const after = decidePass(aPass([node], { rules: observe, state: whileOff.state, now: until }));
    expect(after.verdicts).toMatchObject([{ kind: 'wouldRepair', attempt: { action: 'Terminate', rung: 2 } }]);
  });

  it.each(CLOSED)('a drain that has ended stays as it is: %s', (_, its) => {
    const ended = { ...accepted, answer: { kind: 'succeeded', message: 'drain Succeeded' } } as const;
    const whileOff = decidePass(aPass([node], { rules: its, state: holding(ended), now: settled }));
    expect(whileOff.withdrawals).toEqual([]);
  });

  it('a drain whose time was over stays as it is', () => {
    const whileHeld = decidePass(aPass([{ ...node, ...VETO }], { rules, state: holding(drain), now: settled }));
    const [, closed] = CLOSED[0] ?? ['', rules];
    const whileOff = decidePass(aPass([node], { rules: closed, state: whileHeld.state, now: settled }));
    expect(whileOff).toMatchObject({ withdrawals: [], state: { attempts: [{ action: 'Reboot' }] } });
  });
});

describe('mode Observe, and Enforce again', () => {
  const [, observe] = CLOSED[1] ?? ['', rules];
  const rebooted = { ...intended({ action: 'Reboot', rung: 0, until: NOW }), phase: 'accepted' } as const;

  it('goes on after the last action that was carried out, however many were observed since', () => {
    const observed = decidePass(aPass([node], { rules: observe, state: holding(rebooted), now: settled }));
    expect(observed.verdicts).toMatchObject([{ kind: 'wouldRepair', attempt: { action: 'Drain' } }]);
    expect(actionsOf(observed.state, settled)).toEqual(['Drain 4']);
    const later = addDuration(settled, minutes(10));
    const more = decidePass(aPass([node], { rules: observe, state: observed.state, now: later }));
    expect(more.verdicts).toMatchObject([{ kind: 'wouldRepair', attempt: { action: 'Terminate' } }]);
    expect(actionsOf(more.state, later)).toEqual(['Drain 5']);
  });

  it('asks anew for the drain that it called off, not for what came before', () => {
    const accepted = intended({ ...drain, phase: 'accepted' });
    const whileOff = decidePass(aPass([node], { rules: observe, state: holding(accepted), now: settled }));
    expect(actionsOf(whileOff.state, settled)).toEqual(['Drain 3']);
  });

  it('begins with the first action where none was carried out', () => {
    const observed = decidePass(aPass([node], { rules: observe, state: NEW_POOL, now: settled }));
    const more = decidePass(
      aPass([node], { rules: observe, state: observed.state, now: addDuration(settled, minutes(1)) }),
    );
    expect(more.verdicts).toMatchObject([{ kind: 'wouldRepair', attempt: { action: 'Drain' } }]);
    expect(actionsOf(more.state, addDuration(settled, minutes(2)))).toEqual(['Reboot 1']);
  });

  it('is another repair once the node was well', () => {
    const observed = decidePass(aPass([node], { rules: observe, state: holding(rebooted), now: settled }));
    const well = { ...node, conditions: [READY] };
    const after = decidePass(aPass([well], { rules: observe, state: observed.state, now: settled }));
    expect(after.state.attempts).toEqual([]);
  });
});
