/** How long it waits to put back what somebody keeps removing. */
import { describe, expect, it } from 'vitest';
import { effortAfter, type NodeChange, retryTimeOf } from '../../../../functions/grace-period/rule/node-change.ts';
import type { Effort } from '../../../../shared/domain/effort.ts';
import { addDuration, minutes, seconds, type EpochMs } from '../../../../shared/domain/time.ts';
import { CREATED } from '../../../builders/pods.ts';

const hold: NodeChange = { kind: 'hold', until: 'indefinite', reason: 'PodsProtected' };
const restore: NodeChange = { kind: 'hold', until: 'indefinite', reason: 'AnnotationRemoved' };
const release: NodeChange = { kind: 'release', reason: 'NothingProtected' };
const inMinutes = (count: number): EpochMs => addDuration(CREATED, minutes(count));
const effort = (times: number): Effort => ({ times, lastTime: CREATED });

describe('a change', () => {
  it.each<[string, NodeChange, Effort | undefined, number | undefined]>([
    ['that was never tried is made at once', restore, undefined, undefined],
    ['that puts back what somebody removed is made at once, twice', restore, effort(2), undefined],
    ['from then on it waits', restore, effort(3), 1],
    ['twice as long each time', restore, effort(5), 4],
    ['five minutes at most', restore, effort(20), 5],
    ['of another kind does not wait for a quarrel', release, effort(20), undefined],
    ['for other pods does not wait for it either', hold, effort(20), undefined],
  ])('%s', (_, wanted, before, wait) => {
    const now = addDuration(CREATED, seconds(1));
    expect(retryTimeOf(wanted, before, now)).toBe(wait === undefined ? undefined : inMinutes(wait));
    if (wait !== undefined) expect(retryTimeOf(wanted, before, inMinutes(wait))).toBeUndefined();
  });
});

describe('what is remembered of it', () => {
  const after = (before: Effort | undefined, change: NodeChange, minute = 1): Effort | undefined =>
    effortAfter(before, change, inMinutes(minute));

  it('is nothing while it goes well', () => {
    expect(after(undefined, hold)).toBeUndefined();
  });

  it('is how often it was put back, until it has stayed for ten minutes, whatever else is changed', () => {
    expect(after(undefined, restore)).toEqual({ times: 1, lastTime: inMinutes(1) });
    expect(after(effort(1), restore, 9)).toMatchObject({ times: 2 });
    expect(after(effort(7), restore, 10)).toMatchObject({ times: 1 });
    expect(after(effort(7), hold, 9)).toEqual(effort(7));
    expect(after(effort(7), hold, 10)).toBeUndefined();
  });
});
