/** Where an attempt stands in the ladder, and what a look at Node and NodeClaim makes of it (I4). */
import { describe, expect, it } from 'vitest';
import { sortAttempts, standingOf, staleOf } from '../../../../functions/repair/pass/attempts.ts';
import type { RepairAttempt, Rung, RungAnswer } from '../../../../functions/repair/pass/pool.ts';
import type { NodeClaimView } from '../../../../shared/domain/node-claim.ts';
import type { NodeView } from '../../../../shared/domain/node.ts';
import { addDuration, minutes, seconds } from '../../../../shared/domain/time.ts';
import { anAttempt, aPoolNode, claimOf, T } from '../../../builders/repair.ts';

const NOW = addDuration(T, minutes(60));
const soon = addDuration(NOW, seconds(1));
const later = addDuration(NOW, minutes(1));

describe('an attempt in the ladder', () => {
  const reboot: Rung = { type: 'Reboot', timeout: minutes(10) };
  const drain: Rung = { type: 'Drain', timeout: minutes(10) };
  const terminate: Rung = { type: 'Terminate', timeout: seconds(0) };
  const answer = (kind: RungAnswer['kind']): RungAnswer => ({ kind, message: '' });
  const LADDER = [reboot, terminate];

  it.each<[string, Partial<RepairAttempt>, readonly Rung[], string]>([
    ['without an outcome waits, though its time is over', { phase: 'intended' }, LADDER, 'waiting'],
    ['that was refused waits to be tried again', { phase: 'refused' }, LADDER, 'waiting'],
    ['has the rest of its time', { until: soon }, LADDER, 'waiting'],
    ['whose time is over gives way to the next one', {}, LADDER, 'next 1'],
    ['that failed does so at once', { until: soon, answer: answer('failed') }, LADDER, 'next 1'],
    ['that is over, too', { until: soon, answer: answer('succeeded') }, LADDER, 'next 1'],
    ['that a person took back is the last one', { answer: answer('stopped') }, LADDER, 'exhausted'],
    [
      'that is a termination takes as long as it takes',
      { action: 'Terminate', rung: 1, until: undefined },
      LADDER,
      'waiting',
    ],
    [
      'that is the last one and failed leaves nothing',
      { action: 'Terminate', rung: 1, until: undefined, answer: answer('failed') },
      LADDER,
      'exhausted',
    ],
    ['begins again after the ladder was edited', {}, [drain, reboot, terminate], 'next 0'],
    ['begins again after the ladder was shortened', { rung: 3 }, [terminate], 'next 0'],
  ])('%s', (_, overrides, rungs, expected) => {
    const attempt = anAttempt('n1', { action: 'Reboot', until: NOW, ...overrides });
    const standing = standingOf(attempt, rungs, NOW);
    expect(standing.kind === 'next' ? `next ${standing.rung}` : standing.kind).toBe(expected);
  });
});

describe('a recorded attempt', () => {
  const node = aPoolNode('n1');
  const made = { group: 'g', version: 'v1', resource: 'fixes', name: 'fix' };
  const sorted = (
    overrides: Partial<RepairAttempt>,
    nodes: readonly NodeView[] = [node],
    claims: readonly NodeClaimView[] = [claimOf(node)],
    observeOnly = false,
  ) => {
    const { kept, stale, withdrawals, lost, found, claimless, settleTime } = sortAttempts(
      [anAttempt('n1', overrides)],
      {
        now: NOW,
        nodes,
        claims,
        observeOnly,
      },
    );
    const lists = { kept, stale, withdrawals, lost, found, claimless: [...claimless] };
    const where = Object.entries(lists).flatMap(([name, list]) => (list.length > 0 ? [name] : []));
    return { where, settleTime, kept };
  };

  it('that was refused is tried again in its time, within that of its action, and taken back with its node', () => {
    const refused = { phase: 'refused', action: 'CustomResource', retryTime: later } as const;
    expect(sorted(refused)).toMatchObject({ where: ['kept'], settleTime: later });
    expect(sorted({ ...refused, retryTime: NOW }).where).toEqual(['stale']);
    expect(sorted({ ...refused, until: NOW }).kept).toMatchObject([{ phase: 'accepted', answer: { kind: 'failed' } }]);
    expect(sorted(refused, []).where).toEqual(['withdrawals']);
  });

  it('that nothing is left of goes with its node, another one is taken back', () => {
    const accepted = { phase: 'accepted', action: 'CustomResource' } as const;
    expect(sorted(accepted).where).toEqual(['kept']);
    expect(sorted(accepted, []).where).toEqual([]);
    expect(sorted({ ...accepted, resources: [{ ...made, uid: 'u' }] }, []).where).toEqual(['withdrawals']);
    expect(sorted({ ...accepted, mayHaveMade: [made] }, []).where).toEqual(['withdrawals']);
    const observed = { ...accepted, phase: 'observed' } as const;
    expect(sorted(observed, [node], [], true).where).toEqual(['kept']);
    expect(sorted(observed).where).toEqual([]);
    expect(sorted({ ...observed, mayHaveMade: [made] }).where).toEqual(['withdrawals']);
  });

  it('at a termination is over where the NodeClaim stands there as if nothing had happened, and not while it goes', () => {
    expect(sorted({}).where).toEqual([]);
    expect(sorted({}, [node], [claimOf(node, { deletionTime: NOW })]).where).toEqual(['kept']);
    expect(sorted({}, [node], []).where).toEqual(['kept', 'claimless']);
    expect(sorted({ answer: { kind: 'failed', message: '' } }).where).toEqual(['kept']);
  });

  it('of another node, or from before the node was well, is none that is taken over', () => {
    const open = (overrides: Partial<RepairAttempt>) =>
      sortAttempts([anAttempt('n1', { phase: 'refused', retryTime: NOW, ...overrides })], {
        now: NOW,
        nodes: [node],
        claims: [],
        observeOnly: false,
      });
    expect(staleOf(node, open({}))).toBeDefined();
    expect(staleOf(aPoolNode('n2'), open({}))).toBeUndefined();
    expect(staleOf(node, open({ wellTime: NOW }))).toBeUndefined();
  });

  it('is looked at again when the first of those that wait can be judged', () => {
    const waiting = (name: string, retryTime: RepairAttempt['retryTime']): RepairAttempt =>
      anAttempt(name, { phase: 'refused', retryTime });
    const nodes = ['n1', 'n2', 'n3'].map(name => aPoolNode(name));
    const attempts = [waiting('n1', later), waiting('n2', soon), waiting('n3', later)];
    expect(sortAttempts(attempts, { now: NOW, nodes, claims: [], observeOnly: false }).settleTime).toBe(soon);
  });
});
