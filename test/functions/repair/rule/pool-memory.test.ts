/** What a pool remembers while repair is off: behind a closed gate, under a block that cannot be read, in mode Observe. */
import { describe, expect, it } from 'vitest';
import { NEW_POOL, type PoolRecord } from '../../../../functions/repair/pool-record.ts';
import type { RepairInForce } from '../../../../functions/repair/node/rule/settings-in-force.ts';
import type { EpochMs } from '../../../../shared/domain/time.ts';
import { at, NOW, open, remembered } from '../../../builders/pool.ts';
import { aCondition, aDecision, anAttempt, aPoolOf, claimOf, verdictsOf } from '../../../builders/repair.ts';

const DUE = aPoolOf(2, 2);
const remember = (state: Partial<PoolRecord>): PoolRecord => ({ ...NEW_POOL, ...state });
const pass = (repair: RepairInForce, state: PoolRecord, now: EpochMs = NOW, nodes = DUE) =>
  aDecision(nodes, { repair, poolRecord: state, now });

const CLOSED = open({}, { gateOpen: false });
const TYPO = open({}, { settings: { invalid: 'a typo' } });
const NO_BLOCK = open({}, { settings: undefined });
const OBSERVED = open({}, { mode: 'Observe' });
const OFF: readonly [string, RepairInForce][] = [
  ['the gate is closed', CLOSED],
  ['the block cannot be read', TYPO],
  ['no block applies', NO_BLOCK],
];
const ALL: typeof OFF = [...OFF, ['mode is Observe', OBSERVED]];

describe.each(ALL)('while %s', (_, repair) => {
  it('nothing is granted', () => {
    expect(pass(repair, NEW_POOL).granted).toEqual([]);
  });

  it('a guard that ends meanwhile is followed by a ramp once repair is on again', () => {
    const { poolRecord } = pass(repair, remember({ blockingGuards: ['threshold'] }));
    expect(verdictsOf(pass(open(), poolRecord, at(1)))).toEqual(['blocked n2 RampUp', 'repair n1']);
  });

  it('a ramp that has yet to begin waits for the day on which it is forgotten', () => {
    const ramp = { step: 0, stepTime: NOW, granted: 0 };
    const kept = pass(repair, remember({ ramp }), at(24 * 60 - 1));
    expect(kept.poolRecord.ramp).toEqual(ramp);
    expect(kept.wakeTime).toBeLessThanOrEqual(at(24 * 60));
    expect(pass(repair, remember({ ramp }), at(24 * 60)).poolRecord).not.toHaveProperty('ramp');
  });

  it('a node keeps its slot while a run may be at work on it', () => {
    const state = remember({ inFlight: { 'uid-n1': at(-0.9) } });
    expect(pass(repair, state).poolRecord.inFlight).toEqual({ 'uid-n1': at(-0.9) });
    expect(pass(repair, state, at(0.1)).poolRecord.inFlight).toEqual({});
  });

  it('a termination goes on in its place', () => {
    const [node] = DUE;
    const claims = DUE.map(each => claimOf(each, each === node ? { deletionTime: at(-5) } : {}));
    const attempt = anAttempt('n1', { time: at(-5), until: at(55) });
    const records = { 'uid-n1': remembered({ attempt, number: 1 }) };
    const state = remember({ inFlight: { 'uid-n1': at(-5) } });
    const decision = aDecision(DUE, { repair, poolRecord: state, records, claims });
    expect(decision.poolRecord).toMatchObject({ inFlight: { 'uid-n1': at(-5) }, counts: { repairing: 1 } });
    expect(decision.wakeTime).toBe(at(5));
  });

  it('terminations and failed launches are remembered', () => {
    const told = {
      terminations: [{ condition: 'Ready=False', time: at(-60) }],
      launchPause: { failures: 2, until: at(-60) },
    };
    expect(pass(repair, remember(told)).poolRecord).toMatchObject(told);
  });

  it('a failed launch is forgotten in the end', () => {
    const state = remember({ launchPause: { failures: 2, until: at(-24 * 60) } });
    expect(pass(repair, state).poolRecord).not.toHaveProperty('launchPause');
  });
});

describe('terminations that futility counts for longer than a day', () => {
  const LONG = { futility: { repairs: 1, window: '48h' } };
  const told = remember({ terminations: [{ condition: 'Ready=False', time: at(-30 * 60) }] });
  it.each<[string, boolean, RepairInForce]>([
    ['are remembered while the gate is closed', true, open(LONG, { gateOpen: false })],
    ['are remembered in mode Observe', true, open(LONG, { mode: 'Observe' })],
    ['are remembered while the block cannot be read, which may say so', true, TYPO],
    ['are forgotten where no block applies', false, NO_BLOCK],
  ])('%s', (_, expected, repair) => {
    expect(pass(repair, told).poolRecord.terminations).toEqual(expected ? told.terminations : []);
  });

  it('block the next node once the block can be read again', () => {
    const born = DUE.map(node => ({ ...node, creationTime: at(-60) }));
    expect(verdictsOf(pass(open(LONG), pass(TYPO, told, at(-1)).poolRecord, NOW, born))).toEqual([
      'blocked n1 FutileRepairs',
      'blocked n2 FutileRepairs',
    ]);
  });

  it('ask for no pass while the block cannot be read', () => {
    expect(pass(TYPO, told, NOW, []).wakeTime).toBeUndefined();
  });
});

describe.each(OFF)('while %s', (_, repair) => {
  it('what blocked a node is remembered, and is no outage', () => {
    const decision = pass(repair, remember({ blockingGuards: ['zone/a', 'cluster'] }));
    expect(decision.poolRecord.blockingGuards).toEqual(['cluster', 'zone/a']);
    expect(decision.isOutage).toBe(false);
  });

  it('a ramp stands still, and asks for no pass', () => {
    const ramp = { step: 2, stepTime: NOW, granted: 3 };
    const decision = pass(repair, remember({ ramp }), at(10), []);
    expect(decision.poolRecord.ramp).toEqual(ramp);
    expect(decision.wakeTime).toBe(at(24 * 60));
  });
});

it('in mode Observe a guard begins and ends as it would', () => {
  const dark = DUE.map(node => ({ ...node, conditions: [aCondition('Ready', 'Unknown')] }));
  const observed = (block: object) => open({ ...block }, { mode: 'Observe' });
  const blocked = pass(observed({ maxUnhealthy: 0 }), NEW_POOL, NOW, dark);
  expect(blocked.poolRecord.blockingGuards).toEqual(['threshold']);
  const after = pass(OBSERVED, blocked.poolRecord, at(1));
  expect(after.poolRecord).toMatchObject({ blockingGuards: [], ramp: { step: 0, stepTime: at(1), granted: 0 } });
  expect(verdictsOf(after)).toEqual(['wouldRepair n1', 'wouldRepair n2']);
});
