/** A termination while its Node is still there: what is said of it, when it is stuck, and what is seen where no run said how it ended. */
import { describe, expect, it } from 'vitest';
import { dueVerdictOf } from '../../../../../functions/repair/node/rule/finding.ts';
import type { RepairLeftovers } from '../../../../../functions/repair/node/record.ts';
import {
  ACTED,
  type AttemptLook,
  look,
  NODE,
  nextOf,
  refused,
  VETOED,
  WELL,
} from '../../../../builders/attempt-look.ts';
import { at } from '../../../../builders/pool.ts';
import { anAttempt, claimOf, type Look, someRepairInForce } from '../../../../builders/repair.ts';

const GOING = claimOf(NODE, { deletionTime: ACTED });
const RESOURCES: RepairLeftovers = {
  resources: [{ group: 'g', version: 'v1', resource: 'fixes', name: 'n1', uid: 'f1' }],
};
const MAY_HAVE_MADE: RepairLeftovers = { mayHaveMade: [{ group: 'g', version: 'v1', resource: 'fixes', name: 'n1' }] };

describe('a termination', () => {
  const TERMINATE = anAttempt('n1', { time: ACTED });

  it('is said to be under way, and looked at every five minutes until its hour is over', () => {
    expect(look(TERMINATE, { claims: [GOING] })).toMatchObject({
      verdict: {
        kind: 'finishing',
        node: { name: 'n1' },
        dueCondition: { conditionType: 'Ready' },
        message: 'NodeClaim claim-n1 is being terminated, since 2024-11-01T15:32:48Z',
      },
      nextLookTime: at(10),
      state: 'inFlight',
      needsCleanUp: false,
    });
    expect(look(TERMINATE, { claims: [GOING] }, 58).nextLookTime).toBe(at(60));
    expect(look(TERMINATE, { claims: [GOING], node: WELL }).verdict).toBeUndefined();
  });

  it.each<[string, AttemptLook, string]>([
    [
      'the finalizers of both',
      { claims: [GOING], node: { ...NODE, finalizers: ['a/b', 'c/d'] } },
      'held by finalizer karpenter.sh/termination on the NodeClaim, a/b on the Node, c/d on the Node',
    ],
    [
      'those of the Node where its NodeClaim is gone',
      { claims: [], node: { ...NODE, finalizers: ['a/b'] } },
      'held by finalizer a/b on the Node',
    ],
    ['that nothing holds it', { claims: [{ ...GOING, finalizers: [] }] }, 'no finalizer holds it'],
  ])('is stuck after its hour, and blocks nobody any more: it says %s', (_, given, words) => {
    expect(look(TERMINATE, given, 60)).toMatchObject({
      verdict: {
        kind: 'stuck',
        node: { name: 'n1' },
        attempt: { number: 1 },
        message: `its termination was begun at 2024-11-01T15:32:48Z and is not over: ${words}; it holds no other repair any more`,
      },
      nextLookTime: at(65),
      state: 'followed',
    });
  });

  it('that the NodeClaim does not know of is over: it begins anew, and what is ours goes', () => {
    const finding = look(TERMINATE, { more: { incident: { type: 'Ready', taken: [] } } });
    expect(nextOf(finding)).toBe('Terminate||3600000');
    expect(finding).toMatchObject({ needsCleanUp: true, state: 'idle' });
    expect(finding.record?.attempt).toBeUndefined();
  });

  it.each<[string, boolean, RepairLeftovers | undefined, AttemptLook]>([
    ['a custom resource once the node is well', true, RESOURCES, { claims: [GOING], node: WELL }],
    ['one that may have been made once the node is well', true, MAY_HAVE_MADE, { claims: [GOING], node: WELL }],
    ['no custom resource while the node is unhealthy', false, RESOURCES, { claims: [GOING] }],
    [
      'no drain of a node that is well while its NodeClaim is going',
      false,
      { drain: 'r1' },
      { claims: [GOING], node: WELL },
    ],
    ['the drain of a node that is well and whose NodeClaim is gone', true, { drain: 'r1' }, { claims: [], node: WELL }],
    ['nothing where nothing is ours', false, undefined, { claims: [], node: WELL }],
    ['nothing else that is ours', false, { maintenance: true }, { claims: [], node: WELL }],
  ])('I7 takes back %s', (_, expected, leftovers, given) => {
    for (const minute of [5, 60])
      expect(look(TERMINATE, { ...given, more: { ...(leftovers && { leftovers }) } }, minute).needsCleanUp).toBe(
        expected,
      );
  });

  it('I7 keeps the drain of an instance without a NodeClaim, which has not ended', () => {
    const alone = anAttempt('n1', { time: ACTED, claim: undefined });
    const given = { claims: [], node: { ...WELL, labels: {} }, more: { leftovers: { drain: 'r1' } } };
    expect(look(alone, given)).toMatchObject({ needsCleanUp: false, state: 'inFlight' });
    expect(look(alone, { ...given, node: { ...NODE, labels: {} } }).verdict).toMatchObject({
      message: 'the instance was terminated in its Auto Scaling group, since 2024-11-01T15:32:48Z',
    });
  });
});

describe('a termination of which no run said how it ended', () => {
  const set = '2024-11-01T15:32:48Z';
  const INTENDED = anAttempt('n1', {
    phase: 'intended',
    time: ACTED,
    pods: { kind: 'until', time: ACTED, annotation: { set } },
  });
  const annotated = (value: string) => ({ annotations: { 'karpenter.sh/nodeclaim-termination-timestamp': value } });

  it('I4 may still be under way for a minute', () => {
    expect(look(INTENDED, {}, 0.5)).toMatchObject({
      verdict: { kind: 'outcomeUnknown', node: { name: 'n1' }, message: 'attempt 1 may still be under way' },
      nextLookTime: at(1),
      state: 'inFlight',
      record: { attempt: INTENDED },
    });
  });

  it.each<[string, boolean, Look]>([
    ['its NodeClaim goes by our deadline', true, { claims: [{ ...GOING, ...annotated(set) }] }],
    ['its NodeClaim goes by an earlier one', true, { claims: [{ ...GOING, ...annotated('2024-11-01T15:00:00Z') }] }],
    ['its NodeClaim goes by a later one', false, { claims: [{ ...GOING, ...annotated('2024-11-01T23:00:00Z') }] }],
    ['its NodeClaim goes without one', false, { claims: [GOING] }],
    ['its NodeClaim does not go', false, { claims: [claimOf(NODE, annotated(set))] }],
    ['its NodeClaim is gone', true, { claims: [] }],
  ])('I4 is judged by what is seen: where %s, carried out: %s', (_, expected, given) => {
    const said = look(INTENDED, given).unreported.map(({ kind }) => kind);
    expect(said).toEqual(expected ? ['carriedOut'] : []);
  });

  it('I4 that sets no deadline was carried out where its NodeClaim goes, however it goes', () => {
    const graceful = anAttempt('n1', { phase: 'intended', time: ACTED, pods: { kind: 'unbounded' } });
    expect(look(graceful, { claims: [GOING] }).unreported).toMatchObject([{ kind: 'carriedOut' }]);
  });

  it('I4 of an instance without a NodeClaim was not: its instance was looked at before', () => {
    const alone = anAttempt('n1', { phase: 'intended', time: ACTED, claim: undefined });
    const given = { claims: [], node: { ...NODE, labels: {} }, pool: undefined };
    const repair = someRepairInForce({ nodesWithoutNodeClaim: 'TerminateInAutoScalingGroup' });
    const finding = look(alone, { ...given, repair });
    expect(finding.unreported).toEqual([]);
    expect(dueVerdictOf(finding)).toMatchObject({ action: { type: 'Terminate' }, unfinished: { number: 1 } });
  });

  it('and that is refused blocks nobody, its deadline standing, until it is tried again', () => {
    const more = refused(INTENDED.key, 3);
    expect(look(INTENDED, { more })).toMatchObject({
      verdict: { kind: 'retry', node: { name: 'n1' }, message: 'no; it is tried again at 2024-11-01T15:39:48Z' },
      nextLookTime: at(7),
      state: 'followed',
      needsCleanUp: false,
      record: { attempt: { phase: 'intended' } },
    });
    expect(dueVerdictOf(look(INTENDED, { more }, 7))?.unfinished).toMatchObject({ number: 1 });
  });

  it.each<[string, AttemptLook]>([
    ['mode is Observe', { repair: someRepairInForce({}, { mode: 'Observe' }) }],
    ['the gate is closed', { repair: someRepairInForce({}, { gateOpen: false }) }],
    ['the block cannot be read', { repair: someRepairInForce({}, { settings: { invalid: 'a typo' } }) }],
    ['a person forbids it', { node: VETOED }],
    ['the node is well', { node: WELL }],
  ])('I7 and that is refused waits no longer where %s: its deadline goes', (_, given) => {
    const finding = look(INTENDED, { more: refused(INTENDED.key, 3), ...given });
    expect(finding.record?.attempt).toBeUndefined();
    expect(finding).toMatchObject({
      needsCleanUp: true,
      state: 'followed',
      record: { leftovers: { annotation: { set } } },
    });
  });

  it('and that was refused on another basis is tried at once', () => {
    const basisOf = () => 'another';
    const finding = look(INTENDED, { more: refused(INTENDED.key, 3), basisOf });
    expect(dueVerdictOf(finding)?.unfinished).toMatchObject({ number: 1 });
    expect(finding).toMatchObject({ needsCleanUp: false, state: 'idle', unreported: [] });
  });

  it('gives way to another action where the list has another one by now', () => {
    const repair = someRepairInForce({ actions: [{ type: 'Reboot', timeout: '10m' }] });
    const finding = look(INTENDED, { repair });
    expect(dueVerdictOf(finding)).toMatchObject({ action: { type: 'Reboot' }, unfinished: undefined });
    expect(finding).toMatchObject({ needsCleanUp: true, state: 'followed' });
  });
});
