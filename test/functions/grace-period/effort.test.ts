/** How long a change of the Node waits that was refused, or that somebody keeps undoing. */
import { describe, expect, it } from 'vitest';
import type { Effort } from '../../../functions/grace-period/announced.ts';
import { effortAfter, retryTimeOf } from '../../../functions/grace-period/effort.ts';
import type { NodeChange } from '../../../functions/grace-period/node-change.ts';
import { addDuration, minutes, seconds, type EpochMs } from '../../../shared/domain/time.ts';
import { CREATED } from '../../builders/pods.ts';

const hold: NodeChange = { kind: 'hold', until: 'indefinite', reason: 'PodsProtected' };
const restore: NodeChange = { kind: 'hold', until: 'indefinite', reason: 'AnnotationRemoved' };
const release: NodeChange = { kind: 'release', reason: 'NothingProtected' };
const leave: NodeChange = { kind: 'leave' };
const inMinutes = (count: number): EpochMs => addDuration(CREATED, minutes(count));
const effort = (kind: Effort['kind'], times: number): Effort => ({ kind, times, lastTime: CREATED });

describe('a change', () => {
  it.each<[string, NodeChange, Effort | undefined, number | undefined]>([
    ['that was never tried is made at once', release, undefined, undefined],
    ['that is refused waits a minute', release, effort('refused', 1), 1],
    ['refused again, twice as long', hold, effort('refused', 2), 2],
    ['refused often, five minutes at most', release, effort('refused', 4), 5],
    ['that puts back what somebody removed is made at once, twice', restore, effort('restored', 2), undefined],
    ['from then on it waits', restore, effort('restored', 3), 1],
    ['twice as long each time', restore, effort('restored', 5), 4],
    ['an hour at most', restore, effort('restored', 20), 60],
    ['of another kind does not wait for a quarrel', release, effort('restored', 20), undefined],
    ['for other pods does not wait for it either', hold, effort('restored', 20), undefined],
    ['that is not wanted any more waits for nothing', leave, effort('refused', 4), undefined],
  ])('%s', (_, wanted, before, wait) => {
    const now = addDuration(CREATED, seconds(1));
    expect(retryTimeOf(wanted, before, now)).toBe(wait === undefined ? undefined : inMinutes(wait));
    if (wait !== undefined) expect(retryTimeOf(wanted, before, inMinutes(wait))).toBeUndefined();
  });
});

describe('what is remembered of it', () => {
  const ok = { kind: 'ok' } as const;
  const refused = { kind: 'refused', message: 'no' } as const;
  const after = (
    before: Effort | undefined,
    change: NodeChange,
    result: typeof ok | typeof refused,
    minute = 1,
  ): Effort | undefined => effortAfter(before, change, result, inMinutes(minute));

  it('is nothing while it goes well', () => {
    expect(after(undefined, hold, ok)).toBeUndefined();
    expect(after(effort('refused', 3), hold, ok)).toBeUndefined();
  });

  it('is how often it was refused in a row, and why', () => {
    expect(after(undefined, release, refused)).toEqual({
      kind: 'refused',
      times: 1,
      lastTime: inMinutes(1),
      message: 'no',
    });
    expect(after(effort('refused', 1), release, refused)).toMatchObject({ times: 2 });
    expect(after(effort('restored', 5), restore, refused)).toMatchObject({ kind: 'refused', times: 1 });
    expect(after(effort('refused', 4), release, refused, 120)).toMatchObject({ times: 1 });
  });

  it('is how often it was put back, until it has stayed for two hours, whatever else is changed', () => {
    expect(after(undefined, restore, ok)).toEqual({ kind: 'restored', times: 1, lastTime: inMinutes(1) });
    expect(after(effort('restored', 1), restore, ok, 119)).toMatchObject({ times: 2 });
    expect(after(effort('restored', 7), restore, ok, 120)).toMatchObject({ times: 1 });
    expect(after(effort('restored', 7), hold, ok, 119)).toEqual(effort('restored', 7));
    expect(after(effort('restored', 7), hold, ok, 120)).toBeUndefined();
  });
});
