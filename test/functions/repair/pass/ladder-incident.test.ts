/** A repair belongs to one illness (I3): whatever holds repair back meanwhile, a node that was well in between begins anew. */
import { describe, expect, it } from 'vitest';
import type { RepairRules } from '../../../../functions/repair/decide.ts';
import { decidePass } from '../../../../functions/repair/pass/decide.ts';
import type { RepairAttempt } from '../../../../functions/repair/pass/pool.ts';
import { NEW_POOL } from '../../../../functions/repair/record.ts';
import { addDuration, minutes, seconds, type EpochMs } from '../../../../shared/domain/time.ts';
import { aCondition, anAttempt, aPass, aPoolNode, READY, someRules, T } from '../../../builders/repair.ts';

const BLOCK = {
  maxUnhealthy: '100%',
  conditions: [{ type: 'Fan', status: 'False', toleration: '10m' }],
  actions: [{ type: 'Reboot', timeout: '10m' }, { type: 'DrainThenTerminate' }],
};
const rules = someRules(BLOCK);
const invalid = { invalid: 'spec.repair: no' };
const HELD: readonly (readonly [string, RepairRules])[] = [
  ['the gate is closed', { ...rules, gateOpen: false }],
  ['mode is Observe', { ...rules, mode: 'Observe' }],
  ['the block is away', { ...rules, settings: undefined }],
  ['the block is invalid', { ...rules, settings: invalid }],
  ['the gate is closed and the block away', { ...rules, gateOpen: false, settings: undefined }],
];
const DRAIN = anAttempt('n1', { action: 'Drain', rung: 1, number: 2, escalates: true, requestId: 'uid-n1.1' });
const DUE = addDuration(T, minutes(30));
const later = (duration: number): EpochMs => addDuration(DUE, minutes(duration));
const fellIll = aPoolNode('n1', aCondition('Ready', 'False', later(7)));

const inPlace = (overrides: Partial<RepairAttempt>): RepairAttempt => {
  const { terminationTimestamp: _, ...attempt } = anAttempt('n1', { until: later(10), ...overrides });
  return attempt;
};

const holding = (attempt: RepairAttempt) => ({ ...NEW_POOL, attempts: [attempt] });

describe('a node that was well and is ill again', () => {
  const attempts: readonly RepairAttempt[] = [
    inPlace({ ...DRAIN, until: later(10) }),
    inPlace({ action: 'CustomResource', requestId: 'uid-n1.1' }),
    inPlace({ action: 'Reboot', bootID: 'before' }),
  ];
  const cases = HELD.flatMap(([name, held]) => attempts.map(attempt => ({ name, held, attempt })));
  it.each(cases)('while $name begins anew after its $attempt.action', ({ held, attempt }) => {
    const boot = { bootID: 'after' };
    const well = aPoolNode('n1', READY, boot);
    const whileWell = decidePass(aPass([well], { rules: held, state: holding(attempt), now: later(5) }));
    expect(whileWell.withdrawals).toEqual([attempt]);
    expect(whileWell.verdicts).toMatchObject([{ kind: 'recovered' }]);

    const ill = { ...fellIll, ...boot };
    const whileIll = decidePass(aPass([ill], { rules: held, state: whileWell.state, now: later(7) }));
    const opened = (now: EpochMs) => decidePass(aPass([ill], { rules, state: whileIll.state, now }));
    expect(opened(later(15)).verdicts).toEqual([]);
    expect(opened(later(37)).verdicts).toMatchObject([
      { kind: 'repair', attempt: { number: 1, action: 'Reboot', incident: { lastTransitionTime: later(7) } } },
    ]);
  });

  it('while the gate is closed begins anew, although its reboot has not shown', () => {
    const [, closed] = HELD[0] ?? ['', rules];
    const reboot = inPlace({ action: 'Reboot', bootID: 'before' });
    const boot = { bootID: 'before' };
    const well = aPoolNode('n1', READY, boot);
    const whileWell = decidePass(aPass([well], { rules: closed, state: holding(reboot), now: later(5) }));
    expect(whileWell).toMatchObject({ withdrawals: [], state: { attempts: [{ wellTime: later(5) }] } });
    const ill = { ...fellIll, ...boot };
    const whileIll = decidePass(aPass([ill], { rules: closed, state: whileWell.state, now: later(7) }));
    expect(whileIll).toMatchObject({ withdrawals: [{ action: 'Reboot' }], state: { attempts: [] } });
  });

  it.each([
    ['was refused', inPlace({ ...DRAIN, phase: 'refused', retryTime: later(1), until: later(60) })],
    ['has no outcome', inPlace({ ...DRAIN, phase: 'intended', intendedTime: DUE, until: later(60) })],
  ])('before an action that %s is looked at again begins anew', (_, attempt) => {
    const well = aPoolNode('n1', READY);
    const soon = addDuration(DUE, seconds(10));
    const whileWell = decidePass(aPass([well], { rules, state: holding(attempt), now: soon }));
    const ill = aPoolNode('n1', aCondition('Ready', 'False', addDuration(DUE, seconds(20))));
    const again = decidePass(aPass([ill], { rules, state: whileWell.state, now: later(2) }));
    expect(again).toMatchObject({ verdicts: [], withdrawals: [{ action: 'Drain' }], state: { attempts: [] } });
  });
});

describe('a node that stays ill', () => {
  const fan = { conditionType: 'Fan', conditionStatus: 'False', lastTransitionTime: T, dueTime: T };
  const others = HELD.filter(([, { mode }]) => mode === 'Enforce');
  it.each(others)('while %s keeps its place on the ladder', (_, held) => {
    const broken = aPoolNode('n1', aCondition('Fan', 'False'));
    const unknown = aPoolNode('n1', aCondition('Ready', 'Unknown', later(1)));
    for (const [seen, incident] of [
      [broken, fan],
      [unknown, anAttempt('n1').incident],
    ] as const) {
      const reboot = inPlace({ action: 'Reboot', bootID: 'before', incident });
      const { state } = decidePass(aPass([seen], { rules: held, state: holding(reboot), now: later(5) }));
      const opened = decidePass(aPass([seen], { rules, state, now: later(15) }));
      expect(opened.verdicts).toMatchObject([{ kind: 'repair', attempt: { number: 2, action: 'Drain', incident } }]);
    }
  });
});

describe('a node at which no action was carried out yet', () => {
  const bus = { kind: 'failed', message: 'NoTemplate' } as const;
  const impossible = inPlace({ action: 'Reboot', phase: 'accepted', notTaken: true, answer: bus, until: later(10) });
  const outOfTime = inPlace({ action: 'Reboot', phase: 'refused', retryTime: later(1), answer: bus, until: later(1) });

  it.each([
    ['cannot be carried out', impossible],
    ['was refused until its time was over', outOfTime],
  ])('goes on to the next action when the first one %s', (_, attempt) => {
    const ill = aPoolNode('n1', aCondition('Ready', 'False'));
    const { verdicts } = decidePass(aPass([ill], { rules, state: holding(attempt), now: later(2) }));
    expect(verdicts).toMatchObject([{ kind: 'repair', attempt: { number: 2, action: 'Drain' } }]);
  });

  it.each([
    ['cannot be carried out', impossible],
    ['was refused until its time was over', outOfTime],
  ])('tolerates another illness from its own beginning when the first one %s', (_, attempt) => {
    const other = aPoolNode('n1', aCondition('Ready', 'Unknown', later(1)));
    const whileTolerated = decidePass(aPass([other], { rules, state: holding(attempt), now: later(2) }));
    expect(whileTolerated).toMatchObject({ verdicts: [], state: { attempts: [] } });
    const { verdicts } = decidePass(aPass([other], { rules, state: whileTolerated.state, now: later(31) }));
    expect(verdicts).toMatchObject([
      { kind: 'repair', attempt: { number: 1, action: 'Reboot', incident: { lastTransitionTime: later(1) } } },
    ]);
  });

  it('tolerates another illness that it gets before the second look at the next action, too', () => {
    const ill = aPoolNode('n1', aCondition('Ready', 'False'));
    const { state } = decidePass(aPass([ill], { rules, state: holding(impossible), now: later(2) }));
    expect(state.attempts).toMatchObject([{ action: 'Drain' }]);
    expect(state.attempts[0]).not.toHaveProperty('escalates');
  });

  it('keeps its place once an action before was carried out', () => {
    const attempt = { ...impossible, rung: 0, number: 2, escalates: true as const };
    const other = aPoolNode('n1', aCondition('Ready', 'Unknown', later(1)));
    const { verdicts } = decidePass(aPass([other], { rules, state: holding(attempt), now: later(2) }));
    expect(verdicts).toMatchObject([{ kind: 'repair', attempt: { number: 3, action: 'Drain', escalates: true } }]);
  });
});
