/** What a FinalizerRule needs, and when one that is being deleted goes. */
import { describe, expect, it } from 'vitest';
import {
  decide,
  decideRelease,
  type ObjectsWithFinalizer,
  type ReleaseObservation,
} from '../../../../functions/finalizer/finalizer-rules/decide.ts';
import type {
  FinalizerRuleAcceptance,
  FinalizerRuleInForce,
} from '../../../../functions/finalizer/finalizer-rules/rule/acceptance.ts';
import type { FinalizerRule } from '../../../../shared/domain/finalizer-rule.ts';
import type { KubernetesObject } from '../../../../shared/domain/kubernetes-object.ts';
import { RUN_ENDS_WITHIN } from '../../../../shared/domain/run-end.ts';
import { addDuration, minutes, seconds, toEpochMs, toTimestamp } from '../../../../shared/domain/time.ts';

const DELETED = toEpochMs(Date.parse('2024-11-01T15:00:00Z'));
const SETTLED = addDuration(DELETED, RUN_ENDS_WITHIN);
const FINALIZER = 'database.example.com/cleanup';

const object = (deletionTimestamp?: string): KubernetesObject => ({
  apiVersion: 'curfew.dev/v1alpha1',
  kind: 'FinalizerRule',
  metadata: {
    name: 'databases',
    uid: 'u-databases',
    resourceVersion: '1',
    creationTimestamp: '2024-11-01T14:00:00Z',
    ...(deletionTimestamp !== undefined && { deletionTimestamp }),
  },
});
const rule = {
  group: 'database.example.com',
  version: 'v1',
  kind: 'ManagedDatabase',
  finalizerName: FINALIZER,
} as FinalizerRule;
const living = object();
const ending = object(toTimestamp(DELETED));
const cleanUp = (hasOwnFinalizer: boolean, addsFinalizer = true): FinalizerRuleInForce => ({
  object: living,
  rule,
  addsFinalizer,
  hasOwnFinalizer,
  type: undefined,
});
const inForce = (hasOwnFinalizer: boolean): FinalizerRuleAcceptance => ({
  kind: 'inForce',
  value: cleanUp(hasOwnFinalizer),
});
const refused = (cleansUp: FinalizerRuleInForce | undefined): FinalizerRuleAcceptance => ({
  kind: 'invalid',
  message: 'no',
  cleansUp,
});
const conflict: FinalizerRuleAcceptance = {
  kind: 'conflict',
  olderFinalizerRule: 'older',
  cleansUp: cleanUp(false, false),
};

describe('a FinalizerRule', () => {
  it.each([
    ['in force, without a finalizer of its own', living, inForce(false), 'addFinalizer'],
    ['in force, with it', living, inForce(true), 'keep'],
    ['refused, that still cleans up', living, refused(cleanUp(false, false)), 'addFinalizer'],
    ['in conflict, that still cleans up', living, conflict, 'addFinalizer'],
    ['by which nothing can be cleaned up', living, refused(undefined), 'free'],
    ['that is being deleted, by which nothing can be cleaned up', ending, refused(undefined), 'free'],
    ['that is being deleted', ending, inForce(true), 'awaitObjects'],
    ['that is being deleted, and never had its finalizer', ending, inForce(false), 'awaitObjects'],
    ['in conflict that is being deleted', ending, conflict, 'awaitObjects'],
  ] as const)('%s', (_, of, acceptance, kind) => {
    expect(decide({ object: of, acceptance, isReplaced: false }).kind).toBe(kind);
  });

  it('goes at once where another one sees to the objects with its finalizer', () => {
    expect(decide({ object: ending, acceptance: conflict, isReplaced: true })).toEqual({ kind: 'free' });
  });

  it('says by what its objects are cleaned up', () => {
    expect(decide({ object: living, acceptance: conflict, isReplaced: true })).toEqual({
      kind: 'addFinalizer',
      cleanUp: conflict.cleansUp,
    });
  });
});

const named = (name: string): KubernetesObject => ({
  ...living,
  metadata: { ...living.metadata, name, namespace: 'prod' },
});
const none: ObjectsWithFinalizer = { kind: 'none' };
const some = (...names: readonly string[]): ObjectsWithFinalizer => ({ kind: 'some', objects: names.map(named) });
const notKnown = (isForbidden: boolean): ObjectsWithFinalizer => ({
  kind: 'unavailable',
  message: 'the server said no',
  isForbidden,
});
const release = (seen: Partial<ReleaseObservation>) =>
  decideRelease({ now: SETTLED, rule, deletionTime: DELETED, objectsWithFinalizer: none, isUnwatched: false, ...seen });

describe('a FinalizerRule that is being deleted', () => {
  it.each<readonly [string, Partial<ReleaseObservation>]>([
    ['when no object carries its finalizer, and no run of before can put it on', {}],
    [
      'when nobody may look at a kind that was never watched',
      { objectsWithFinalizer: notKnown(true), isUnwatched: true, now: DELETED },
    ],
  ])('goes %s', (_, seen) => {
    expect(release(seen)).toEqual({ kind: 'release' });
  });

  it.each<readonly [string, Partial<ReleaseObservation>, 'True' | 'False', string, string]>([
    [
      'a run that read it before its deletion may still be at work',
      { now: addDuration(SETTLED, seconds(-1)) },
      'True',
      'Released',
      `no object carries ${FINALIZER}; the rule goes at ${toTimestamp(SETTLED)}, for somebody may have read it before its deletion`,
    ],
    [
      'an object carries its finalizer',
      { objectsWithFinalizer: some('a') },
      'False',
      'Waiting',
      `1 object (prod/a) carries ${FINALIZER}`,
    ],
    [
      'objects carry its finalizer',
      { objectsWithFinalizer: some('b', 'a'), isUnwatched: true },
      'False',
      'Waiting',
      `2 objects (prod/a, prod/b) carry ${FINALIZER}`,
    ],
    [
      'its objects are out of sight',
      { objectsWithFinalizer: { kind: 'notServed' }, isUnwatched: true },
      'False',
      'NotServed',
      'ManagedDatabase is not served in version v1: its objects are out of sight',
    ],
    [
      'its objects, of a kind that was watched, must not be listed any more',
      { objectsWithFinalizer: notKnown(true) },
      'False',
      'ListFailed',
      `which objects carry ${FINALIZER} is not known: the server said no`,
    ],
    [
      'its objects cannot be listed for another reason',
      { objectsWithFinalizer: notKnown(false), isUnwatched: true },
      'False',
      'ListFailed',
      `which objects carry ${FINALIZER} is not known: the server said no`,
    ],
  ])('stays while %s', (_, seen, status, reason, message) => {
    expect(release(seen)).toMatchObject({ kind: 'wait', because: { status, reason, message } });
  });

  it.each([
    ['a minute later', addDuration(SETTLED, minutes(5)), addDuration(SETTLED, minutes(6))],
    ['when the last run of before is over, where that is sooner', addDuration(SETTLED, seconds(-1)), SETTLED],
    [
      'a minute later, where the last run of before is not over by then',
      addDuration(SETTLED, minutes(-2)),
      addDuration(SETTLED, minutes(-1)),
    ],
  ])('is looked at again %s', (_, now, until) => {
    expect(release({ now, objectsWithFinalizer: some('a') })).toMatchObject({ kind: 'wait', until });
  });
});
