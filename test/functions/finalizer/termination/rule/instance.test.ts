import { describe, expect, it } from 'vitest';
import {
  afterRefusedCall,
  nextForInstance,
  ownershipOf,
  type InstanceEffect,
  type InstanceObservation,
} from '../../../../../functions/finalizer/termination/rule/instance.ts';
import { addDuration, minutes, seconds, type EpochMs } from '../../../../../shared/domain/time.ts';
import { at } from '../../../../builders/repair.ts';

const NOW = at('2024-11-01T15:00:00Z');
const later = (count: number): EpochMs => addDuration(NOW, seconds(count));
const ID = 'i-1';
const seen = (fields: Partial<InstanceObservation> = {}): InstanceObservation => ({
  now: NOW,
  providerID: ID,
  look: { kind: 'here' },
  isKarpenters: false,
  deletion: NOW,
  deadline: undefined,
  isForced: false,
  attempt: undefined,
  ownAttempt: undefined,
  refused: undefined,
  ...fields,
});
const intended = (number: number, intendedTime: EpochMs = NOW) =>
  ({ number, phase: 'intended', intendedTime }) as const;
const accepted = (number: number, intendedTime: EpochMs = NOW) =>
  ({ number, phase: 'accepted', intendedTime }) as const;
const wait = (on: string, until: EpochMs): InstanceEffect => ({ kind: 'wait', on, until });
const refused = { message: 'it is protected', until: later(120) };
const shuttingDown = { look: { kind: 'shuttingDown' } } as const;
const beside = { isKarpenters: true } as const;

describe('the next thing for an instance', () => {
  it.each<[string, Partial<InstanceObservation>, InstanceEffect]>([
    ['is nothing when it is gone', { look: { kind: 'gone' }, attempt: accepted(1) }, { kind: 'done' }],
    [
      'is to wait while EC2 may not know it yet',
      { look: { kind: 'tooYoung', until: later(30) } },
      wait('EC2 does not know instance i-1, which is too young for that to be certain', later(30)),
    ],
    [
      'is to look again after 5 s while it goes',
      { ...shuttingDown, attempt: accepted(1) },
      wait('instance i-1 is shutting down', later(5)),
    ],
    [
      'is to look again after half of the time that its end has taken',
      { ...shuttingDown, attempt: accepted(1, later(-40)), deletion: later(-500) },
      wait('instance i-1 is shutting down', later(20)),
    ],
    [
      'is to look after a minute at most, counted from the deletion where nobody here has asked for its end',
      { ...shuttingDown, deletion: later(-500) },
      wait('instance i-1 is shutting down', later(60)),
    ],
    ['is nothing while it goes, at the deadline', { ...shuttingDown, isForced: true }, { kind: 'done' }],
    ['is to note the call down first', {}, { kind: 'recordCall', attempt: intended(1) }],
    [
      'is the call for the run that noted it down',
      { attempt: intended(1), ownAttempt: 1 },
      { kind: 'call', attempt: intended(1) },
    ],
    [
      'is to wait while the call of another run may be under way (I4)',
      { attempt: intended(1), ownAttempt: undefined },
      wait('attempt 1 to end instance i-1 may be under way', later(60)),
    ],
    [
      'is to wait while a call has been made and has not settled',
      { attempt: accepted(2, later(-20)) },
      wait('the instance runs after attempt 2 to end instance i-1', later(40)),
    ],
    [
      'is another call when it runs on a minute after one',
      { attempt: accepted(2, later(-60)) },
      { kind: 'recordCall', attempt: intended(3) },
    ],
    [
      'is another call when nobody knows whether the last one was made',
      { attempt: intended(2, later(-60)) },
      { kind: 'recordCall', attempt: intended(3) },
    ],
    [
      'is to wait for as long as a refusal lasts',
      { attempt: accepted(1, later(-60)), refused },
      wait('instance i-1 could not be ended: it is protected', later(120)),
    ],
    [
      'is to wait for that, also for who has noted the call down',
      { attempt: intended(2), ownAttempt: 2, refused },
      wait('instance i-1 could not be ended: it is protected', later(120)),
    ],
  ])('%s', (_, fields, effect) => {
    expect(nextForInstance(seen(fields))).toEqual(effect);
  });
});

describe('beside Karpenter', () => {
  it.each<[string, Partial<InstanceObservation>, InstanceEffect]>([
    ['it is Karpenter that ends it', {}, wait('Karpenter ends instance i-1', later(5))],
    [
      'it is Karpenter until a minute after the deadline',
      { deletion: later(-600), deadline: later(-30), isForced: true },
      wait('Karpenter ends instance i-1', later(30)),
    ],
    [
      'we end it from then on (I5)',
      { deletion: later(-600), deadline: later(-60), isForced: true },
      { kind: 'recordCall', attempt: intended(1) },
    ],
    [
      'a deadline before the deletion counts from the deletion',
      { deletion: later(-50), deadline: later(-600), isForced: true },
      wait('Karpenter ends instance i-1', later(10)),
    ],
    [
      'the looks are counted from the deletion, whatever call there was',
      { look: { kind: 'shuttingDown' }, deletion: later(-30), attempt: accepted(1) },
      wait('instance i-1 is shutting down', later(15)),
    ],
  ])('%s', (_, fields, effect) => {
    expect(nextForInstance(seen({ ...beside, ...fields }))).toEqual(effect);
  });
});

describe('after a call that was refused', () => {
  it.each([
    [1, 5],
    [2, 10],
    [4, 40],
    [9, 60],
  ])('what may pass is tried again: attempt %i after %i s, when it has settled', (number, delay) => {
    const { attempt, until } = afterRefusedCall(NOW, { number }, { until: later(999), isPassing: true });
    expect(until).toBe(later(delay));
    expect(nextForInstance(seen({ attempt, now: later(delay - 1) })).kind).toBe('wait');
    expect(nextForInstance(seen({ attempt, now: later(delay) })).kind).toBe('recordCall');
  });

  it('what is refused for good has settled, and waits for its own time', () => {
    const { attempt, until } = afterRefusedCall(NOW, { number: 1 }, { until: later(120), isPassing: false });
    expect([attempt, until]).toEqual([accepted(1, addDuration(NOW, minutes(-1))), later(120)]);
  });
});

describe('an instance', () => {
  const claim = {};
  it.each([
    ['of one NodeClaim is ours', { claim, providerID: ID, sharedWith: [] }, 'ours'],
    ['is none without a providerID', { claim, providerID: undefined, sharedWith: ['b'] }, 'none'],
    ['that another NodeClaim has stays', { claim, providerID: ID, sharedWith: ['b'] }, 'shared'],
    ['that no NodeClaim has is nobody’s to end', { claim: undefined, providerID: ID, sharedWith: [] }, 'unclaimed'],
  ] as const)('%s', (_, observed, ownership) => {
    expect(ownershipOf(observed)).toBe(ownership);
  });
});
