/** What of a repair is taken back, and how its node counts then. */
import { describe, expect, it } from 'vitest';
import type { NodeRecord, RepairLeftovers } from '../../../../../functions/repair/node/record.ts';
import { newNode } from '../../../../../functions/repair/node/rule/attempt.ts';
import {
  afterTakeBack,
  leftoversToTakeBack,
  recordWithLeftovers,
  withoutTakenBack,
} from '../../../../../functions/repair/node/record-changes/leftovers.ts';
import { findingOf, type PresentNode, withState } from '../../../../../functions/repair/node/rule/finding.ts';
import { addDuration, hours, minutes } from '../../../../../shared/domain/time.ts';
import { anAttempt, aPoolNode, claimOf, T } from '../../../../builders/repair.ts';

const NOTHING = withState(findingOf(undefined, undefined));
const NOW = addDuration(T, minutes(40));
const node = aPoolNode('n1');
const CLAIM = claimOf(node);
const NEW = newNode('n1', 'default');

const ALL = {
  drain: 'a drain',
  requested: { key: 'Drain||1', requestId: 'a request' },
  resources: [{ apiVersion: 'v1', kind: 'Remedy', name: 'made', uid: 'u-made' }],
  mayHaveMade: [{ apiVersion: 'v1', kind: 'Remedy', name: 'intended' }],
  maintenance: true,
  replacement: { name: 'new' },
  annotation: { set: '2024-11-01T15:32:48Z', claim: { name: CLAIM.name, uid: CLAIM.uid } },
} as unknown as RepairLeftovers;

const healthy = { type: 'Ready', taken: [], healthySince: T };
const drain = anAttempt('n1', { action: 'Drain', key: 'Drain||3600000' });
const reboot = anAttempt('n1', { action: 'Reboot', key: 'Reboot||3600000' });
const drainBefore = anAttempt('n1', { action: 'Drain', key: 'Drain before Reboot|3600000' });
const launch = anAttempt('n1', { action: 'Replace', replacement: { name: 'new' } });
const termination = anAttempt('n1');
const opened = anAttempt('n1', { replacement: { name: 'new' } });
const released = (releasedTime = T) => ({ ...ALL, replacement: { name: 'new', releasedTime } });

interface Seen {
  readonly record: Partial<NodeRecord>;
  readonly isClaimGone?: boolean;
  readonly isGone?: boolean;
}
const EVERYTHING = ['annotation', 'drain', 'maintenance', 'mayHaveMade', 'replacement', 'requested', 'resources'];

describe('what nothing needs any more', () => {
  it.each<readonly [string, Seen, readonly string[] | undefined]>([
    ['of a node of which nothing is left', { record: { leftovers: undefined } }, undefined],
    ['without an attempt', { record: {} }, EVERYTHING],
    ['of a drain that goes on', { record: { attempt: drain } }, ['annotation', 'maintenance', 'replacement']],
    ['of a reboot that goes on', { record: { attempt: reboot } }, ['annotation', 'replacement']],
    ['of the drain before a reboot', { record: { attempt: drainBefore } }, ['annotation', 'replacement']],
    ['of a launch that goes on', { record: { attempt: launch } }, ['annotation', 'maintenance']],
    [
      'of a termination of a node that is unhealthy',
      { record: { attempt: termination }, isClaimGone: true },
      ['annotation', 'maintenance', 'replacement'],
    ],
    [
      'of a termination of a node that is well',
      { record: { attempt: termination, incident: healthy } },
      ['annotation', 'maintenance', 'mayHaveMade', 'replacement', 'resources'],
    ],
    [
      'of one of a node that is well, after its NodeClaim',
      { record: { attempt: termination, incident: healthy }, isClaimGone: true },
      ['annotation', 'drain', 'maintenance', 'mayHaveMade', 'replacement', 'resources'],
    ],
    ['of a termination with its replacement', { record: { attempt: opened } }, ['annotation', 'maintenance']],
    [
      'of one whose Node is gone',
      { record: { attempt: opened }, isGone: true },
      ['annotation', 'maintenance', 'replacement'],
    ],
    [
      'of a replacement that was opened for long',
      { record: { attempt: opened, leftovers: released(addDuration(NOW, hours(-1))) } },
      ['annotation', 'maintenance', 'replacement'],
    ],
    [
      'of a replacement that was opened just now',
      { record: { leftovers: released(addDuration(NOW, minutes(-59))) } },
      EVERYTHING.filter(key => key !== 'replacement'),
    ],
  ])('%s', (_, { record, isClaimGone = false, isGone = false }, expected) => {
    const claims = new Map(isClaimGone ? [] : [[CLAIM.uid, CLAIM]]);
    const wanted = leftoversToTakeBack({ record: { ...NEW, leftovers: ALL, ...record }, claims, isGone }, NOW);
    expect(wanted && Object.keys(wanted).toSorted()).toEqual(expected);
  });
});

describe('the record of a node', () => {
  const stored = { ...NEW, attempt: anAttempt('n1', { phase: 'intended' }) };

  it.each<readonly [string, Partial<PresentNode>, NodeRecord | undefined, object | undefined]>([
    ['that takes nothing back', { record: NEW }, stored, undefined],
    ['as it was found', { record: NEW, needsCleanUp: true }, stored, NEW],
    ['that was never stored', { needsCleanUp: true }, undefined, undefined],
    ['that is to be forgotten', { needsCleanUp: true }, NEW, NEW],
    [
      'that is to be forgotten, with what its attempt has set',
      { needsCleanUp: true },
      stored,
      { ...NEW, leftovers: { annotation: ALL.annotation } },
    ],
  ])('%s', (_, counted, known, expected) => {
    expect(recordWithLeftovers({ record: undefined, needsCleanUp: false, ...counted }, known)).toEqual(expected);
  });

  it('keeps what is still needed', () => {
    const { drain: requested, ...others } = ALL;
    expect(withoutTakenBack({ ...NEW, leftovers: ALL }, others)).toEqual({ ...NEW, leftovers: { drain: requested } });
    expect(withoutTakenBack({ ...NEW, leftovers: ALL }, ALL)).toEqual(NEW);
  });
});

describe('after the try', () => {
  const stuck = { kind: 'stuck' } as PresentNode['verdict'];
  const withAttempt = { ...NEW, attempt: termination };
  const marked = { ...NEW, leftovers: { replacement: { name: 'new' } } };
  const mended = { ...NEW, incident: { ...healthy, taken: ['CustomResource||1'] } };

  it.each<readonly [string, Partial<PresentNode>, NodeRecord, boolean, string, boolean]>([
    ['a node of which nothing is left is idle', { record: NEW, state: 'followed' }, NEW, false, 'idle', true],
    ['one that owes something is followed', { record: NEW }, NEW, true, 'followed', true],
    ['one that is to be forgotten is', {}, NEW, false, 'idle', false],
    ['one that is to be forgotten, and owes something, is not', {}, marked, true, 'followed', true],
    ['one with an attempt is followed', { record: NEW, state: 'followed' }, withAttempt, false, 'followed', true],
    ['a stuck one is followed', { record: NEW, state: 'followed', verdict: stuck }, NEW, false, 'followed', true],
    ['one that was mended a moment ago is followed', { record: NEW }, mended, false, 'followed', true],
    ['one whose replacement is still marked is followed', { record: NEW }, marked, false, 'followed', true],
    [
      'one in flight stays so',
      { record: NEW, state: 'inFlight', attemptState: 'hasTime' },
      NEW,
      true,
      'inFlight',
      true,
    ],
  ])('%s', (_, counted, record, isOwed, state, isKept) => {
    const finding: PresentNode = {
      ...NOTHING,
      kind: 'present',
      node,
      record: undefined,
      needsCleanUp: true,
      ...counted,
    };
    const after = afterTakeBack(finding, record, isOwed);
    // The state follows from that of the attempt, and the clean-up is over by then.
    const { attemptState, needsCleanUp } = finding;
    expect({ ...after, attemptState, needsCleanUp }).toEqual({
      ...finding,
      record: isKept ? record : undefined,
      state,
    });
  });
});
