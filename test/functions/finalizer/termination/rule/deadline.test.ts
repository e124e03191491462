/** Until when a termination may take, and who says so. */
import { describe, expect, it } from 'vitest';
import {
  type DeadlineObservation,
  resolveDeadline,
} from '../../../../../functions/finalizer/termination/rule/deadline.ts';
import type { SettingsOfPool } from '../../../../../functions/finalizer/termination/rule/settings-in-force.ts';
import { addDuration, minutes, toTimestamp } from '../../../../../shared/domain/time.ts';
import { at } from '../../../../builders/repair.ts';

const DELETED = at('2024-11-01T15:00:00Z');
const NONE: SettingsOfPool = { kind: 'none' };
const OF_POOL: SettingsOfPool = {
  kind: 'invalid',
  message: '',
  gracePeriod: { period: minutes(30), source: 'NodePool default' },
};
const claim = (given: Partial<DeadlineObservation['claim']> = {}): DeadlineObservation['claim'] => ({
  deletionTime: DELETED,
  gracePeriod: undefined,
  terminationTimestamp: undefined,
  ...given,
});
const OWN = claim({ gracePeriod: minutes(10) });
const ANNOTATED = claim({ gracePeriod: minutes(10), terminationTimestamp: '2024-11-01T15:05:00Z' });
const stored = (minute: number, source: string) => ({ time: addDuration(DELETED, minutes(minute)), source });

describe('the deadline of a termination', () => {
  it.each<[string, Partial<DeadlineObservation>, string | undefined]>([
    ['is set by nobody', { claim: claim() }, undefined],
    ["is the annotation's", { claim: ANNOTATED, settings: OF_POOL }, '15:05 annotation'],
    ["is else the NodeClaim's", { claim: OWN, settings: OF_POOL }, '15:10 NodeClaim'],
    ['is else that of NodePool or policy', { claim: claim(), settings: OF_POOL }, '15:30 NodePool default'],
    ['counts from the first Node that goes', { claim: undefined, settings: OF_POOL }, '14:30 NodePool default'],
    [
      'is none before a deletion',
      { claim: claim({ deletionTime: undefined }), nodes: [], settings: OF_POOL },
      undefined,
    ],
    [
      'stays when nobody sets it any more',
      { claim: claim(), storedDeadline: stored(20, 'NodePool default') },
      '15:20 NodePool default',
    ],
    [
      'goes when it is taken back',
      { claim: claim(), storedDeadline: stored(20, 'NodePool default'), isDeadlineTakenBack: true },
      undefined,
    ],
    ['goes with its annotation', { claim: OWN, storedDeadline: stored(5, 'annotation') }, '15:10 NodeClaim'],
    [
      'outlives the NodeClaim with its annotation',
      { claim: undefined, storedDeadline: stored(5, 'annotation') },
      '15:05 annotation',
    ],
  ])('%s', (_, given, expected) => {
    const { deadline } = resolveDeadline({
      claim: undefined,
      nodes: [{ deletionTime: DELETED }, { deletionTime: addDuration(DELETED, minutes(-60)) }],
      settings: NONE,
      storedDeadline: undefined,
      isDeadlineTakenBack: false,
      ...given,
    });
    expect(deadline && `${toTimestamp(deadline.time).slice(11, 16)} ${deadline.source}`).toBe(expected);
  });

  it('ignores an annotation that cannot be read, and names it', () => {
    const nodes = [{ deletionTime: DELETED }];
    const unreadable = claim({ gracePeriod: minutes(10), terminationTimestamp: 'soon' });
    const storedDeadline = stored(5, 'annotation');
    expect(
      resolveDeadline({
        claim: unreadable,
        nodes,
        settings: NONE,
        storedDeadline: undefined,
        isDeadlineTakenBack: false,
      }),
    ).toEqual({
      deadline: { time: addDuration(DELETED, minutes(10)), source: 'NodeClaim' },
      badTimestamp: 'soon',
    });
    expect(
      resolveDeadline({ claim: unreadable, nodes, settings: NONE, storedDeadline, isDeadlineTakenBack: false })
        .deadline,
    ).toEqual(storedDeadline);
  });
});
