/** What messages and audit lines say of an attempt. */
import { describe, expect, it } from 'vitest';
import {
  attemptDetails,
  conditionDetails,
  describeAct,
  describeFound,
  graceEnd,
  isUnbounded,
  nextActionsText,
  podsUntil,
} from '../../../functions/repair/attempt-words.ts';
import { terminationOf } from '../../../functions/repair/node/rule/attempt.ts';
import { allActionsOf } from '../../../functions/repair/node/rule/ladder.ts';
import type { Attempt, AttemptOf, DueCondition } from '../../../functions/repair/node/attempt-record.ts';
import { at, FIX, NOW, REBOOT, TERMINATE } from '../../builders/pool.ts';
import { anAttempt, someSettings, T } from '../../builders/repair.ts';

const until = at(10);
const launch = anAttempt('n1', { action: 'Replace', until, replacement: { name: 'r1' } });
const reboot = anAttempt('n1', { action: 'Reboot', until });
const drain = anAttempt('n1', { action: 'Drain', until });
const fix = anAttempt('n1', { action: 'CustomResource', until });
const alone = anAttempt('n1', { claim: undefined });
const ending = (pods: object, more: object = {}): Attempt => anAttempt('n1', { pods, ...more } as Partial<Attempt>);
const forced = ending({ kind: 'until', time: NOW });
const patient = ending({ kind: 'until', time: at(20) });
const endless = ending({ kind: 'unbounded' });
const replaced = ending({ kind: 'until', time: NOW }, { replacement: { name: 'r1' } });

describe('an act is described', () => {
  it.each<[string, Attempt, string, string]>([
    [
      'with its replacement',
      launch,
      'a replacement, NodeClaim r1, is launched, and has time until 2024-11-01T15:42:48Z',
      'a replacement, NodeClaim r1, would be launched, and have time until 2024-11-01T15:42:48Z',
    ],
    [
      'with its time',
      reboot,
      'Reboot has begun, and has time until 2024-11-01T15:42:48Z',
      'Reboot would begin, and have time until 2024-11-01T15:42:48Z',
    ],
    [
      'as a drain',
      drain,
      'Drain has begun, and has time until 2024-11-01T15:42:48Z',
      'Drain would begin, and have time until 2024-11-01T15:42:48Z',
    ],
    [
      'as a request to somebody else',
      fix,
      'CustomResource has begun, and has time until 2024-11-01T15:42:48Z',
      'CustomResource would begin, and have time until 2024-11-01T15:42:48Z',
    ],
    [
      'as the end of an instance',
      alone,
      'the instance is terminated in its Auto Scaling group, which replaces it; its pods get no time',
      'the Auto Scaling group of the instance would replace it, and its pods would get no time',
    ],
    [
      'as forceful',
      forced,
      'NodeClaim claim-n1 is terminated forcefully',
      'NodeClaim claim-n1 would be terminated forcefully',
    ],
    [
      'with the time of its pods',
      patient,
      'NodeClaim claim-n1 is terminated, and its pods have until 2024-11-01T15:52:48Z',
      'NodeClaim claim-n1 would be terminated, and its pods have until 2024-11-01T15:52:48Z',
    ],
    [
      'as one without an end',
      endless,
      'NodeClaim claim-n1 is terminated, and waits for its pods as long as they take',
      'NodeClaim claim-n1 would be terminated, and waits for its pods as long as they take',
    ],
    [
      'with what takes its place',
      replaced,
      'NodeClaim claim-n1 is terminated forcefully; NodeClaim r1 takes its place',
      'NodeClaim claim-n1 would be terminated forcefully',
    ],
  ])('%s, as done and as what would be done', (_, attempt, done, observed) => {
    expect(describeAct(attempt)).toBe(done);
    expect(describeAct(attempt, true)).toBe(observed);
  });

  it('with a replacement that was there already', () => {
    const later = allActionsOf({ settings: someSettings({ actions: [TERMINATE] }) });
    expect(describeFound(launch, 'reserved', later)).toBe(
      'its replacement of before, NodeClaim r1, is found again, and has time until 2024-11-01T15:42:48Z; after it, while the node is unhealthy: Terminate',
    );
    expect(describeFound(launch, 'inUse', later)).toBe(
      'its replacement of before, NodeClaim r1, is found again, and in use',
    );
  });

  it('with the actions that come next', () => {
    const ladder = allActionsOf({ settings: someSettings({ actions: [REBOOT, FIX, TERMINATE] }) });
    expect(nextActionsText(ladder.slice(1, 3))).toBe(
      '; after it, while the node is unhealthy: CustomResource, Terminate',
    );
    expect(nextActionsText([])).toBe('');
  });
});

it.each<[string, Attempt, number | undefined, number | undefined, boolean]>([
  ['a reboot', reboot, undefined, undefined, false],
  ['the end of an instance without a NodeClaim', alone, undefined, undefined, false],
  ['a forceful termination', forced, NOW, undefined, false],
  ['one that gives time', patient, at(20), at(20), false],
  ['one without an end', endless, undefined, undefined, true],
])('the pods of %s have a deadline, and are waited for, as it says', (_, attempt, deadline, end, isEndless) => {
  expect([podsUntil(attempt), graceEnd(attempt), isUnbounded(attempt)]).toEqual([deadline, end, isEndless]);
});

describe('the details of an audit line', () => {
  const condition = {
    conditionType: 'Ready',
    conditionStatus: 'False',
    dueTime: '2024-11-01T15:02:48.000Z',
    lastTransitionTime: '2024-11-01T15:02:48.000Z',
  };

  it.each<[string, Attempt, object]>([
    ['a termination', patient, { attempt: 1, action: 'Terminate', nodeClaim: 'claim-n1', podsUntil: '2024-11-01T15:52:48.000Z' }], // prettier-ignore
    ['one of an instance', alone, { attempt: 1, action: 'Terminate' }],
    ['a reboot', reboot, { attempt: 1, action: 'Reboot', nodeClaim: 'claim-n1', until: '2024-11-01T15:42:48.000Z' }],
    ['a launch', launch, { attempt: 1, action: 'Replace', nodeClaim: 'claim-n1', until: '2024-11-01T15:42:48.000Z', replacement: 'r1' }], // prettier-ignore
  ])('have the numbers that %s rests on', (_, attempt, details) => {
    expect(JSON.parse(JSON.stringify(attemptDetails(attempt)))).toEqual({ ...condition, ...details });
  });

  it('have the priority where the entry states one', () => {
    const due: DueCondition = { conditionType: 'Ready', conditionStatus: 'False', dueTime: T, lastTransitionTime: T };
    expect(conditionDetails(due)).toEqual(condition);
    expect(conditionDetails({ ...due, priority: 7 })).toEqual({ ...condition, priority: 7 });
  });
});

it('futility counts a termination by its condition and node, and knows which one had a replacement', () => {
  const counted = { condition: 'Ready=False', time: NOW, node: 'uid-n1' };
  expect(terminationOf('uid-n1', forced as AttemptOf<'Terminate'>)).toEqual(counted);
  expect(terminationOf('uid-n1', replaced as AttemptOf<'Terminate'>)).toEqual({ ...counted, isReplaced: true });
});
