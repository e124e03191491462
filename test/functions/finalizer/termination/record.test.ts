import { describe, expect, it } from 'vitest';
import {
  EMPTY_TERMINATION,
  hookOwnerUidOf,
  lastReportOf,
  TERMINATION_CODEC,
  type TerminationRecord,
  waitOf,
  withReport,
  withWait,
} from '../../../../functions/finalizer/termination/record.ts';
import { hasBegun } from '../../../../functions/finalizer/termination/rule/turn.ts';
import type { JsonObject } from '../../../../shared/domain/kubernetes-object.ts';
import { toEpochMs } from '../../../../shared/domain/time.ts';

const T = toEpochMs(1000);
const EMPTY: JsonObject = { finalizerNames: [], nodes: {}, hooks: {}, refusedEvictions: 0 };
const UNREADABLE = { kind: 'unreadable', message: 'x', reportedTime: T } as const;

describe('the record of a termination', () => {
  it.each<[string, JsonObject, Pick<TerminationRecord, 'waits' | 'reportState'>, boolean]>([
    ['nothing was said of', {}, { waits: [], reportState: { kind: 'unreported' } }, true],
    ['is under way', { reported: 'Drain p' }, { waits: [], reportState: reported('Drain p', false) }, true],
    ['is forced', { reported: 'forced Drain p' }, { waits: [], reportState: reported('Drain p', true) }, true],
    [
      'is only observed',
      { observed: true },
      { waits: [{ kind: 'observed' }], reportState: { kind: 'unreported' } },
      false,
    ],
    [
      'is refused',
      { refused: 'no' },
      { waits: [{ kind: 'refused', message: 'no' }], reportState: { kind: 'unreported' } },
      false,
    ],
    [
      'cannot be read, after it was observed',
      { observed: true, unreadable: { message: 'x', saidTime: T } },
      { waits: [{ kind: 'observed' }, UNREADABLE], reportState: { kind: 'unreported' } },
      false,
    ],
    [
      'notes that the hooks of its Node are called elsewhere',
      { hooksOf: 'uid-nc' },
      { waits: [], reportState: { kind: 'hookOwner', claimUid: 'uid-nc' } },
      false,
    ],
    [
      'goes on at a Node whose hooks were left to a NodeClaim',
      { hooksOf: 'uid-nc', reported: 'Drain p' },
      { waits: [], reportState: { ...reported('Drain p', false), hookOwnerUid: 'uid-nc' } },
      true,
    ],
  ])('of one that %s is read, and stored as it was', (_, stored, expected, begun) => {
    const value = TERMINATION_CODEC.parse({ ...EMPTY, ...stored });
    expect(value).toEqual({ ...EMPTY_TERMINATION, ...expected });
    expect(hasBegun(value)).toBe(begun);
    expect(TERMINATION_CODEC.toState(value)).toEqual({ ...EMPTY, ...stored });
  });

  it('stores the deadline that was reported as earlier versions read it', () => {
    const stored = { ...EMPTY, saidDeadline: '2024-11-01T15:00:00Z' };
    const value = TERMINATION_CODEC.parse(stored);
    expect(value).toMatchObject({ reportedDeadline: '2024-11-01T15:00:00Z' });
    expect(TERMINATION_CODEC.toState(value)).toEqual(stored);
  });

  it('has one wait of each kind, the last one', () => {
    const before = withWait(withWait(EMPTY_TERMINATION, UNREADABLE), { kind: 'observed' });
    const value = withWait(before, { ...UNREADABLE, message: 'y' });
    expect(value.waits.map(({ kind }) => kind)).toEqual(['observed', 'unreadable']);
    expect(waitOf(value, 'unreadable')).toMatchObject({ message: 'y' });
    expect(waitOf(value, 'refused')).toBeUndefined();
    expect(waitOf(undefined, 'observed')).toBeUndefined();
  });

  it('remembers, after an audit line, whose hooks it was about', () => {
    const noted: TerminationRecord = { ...EMPTY_TERMINATION, reportState: { kind: 'hookOwner', claimUid: 'uid-nc' } };
    const said = withReport(noted, { isForced: true, text: 'Drain p' });
    expect(hookOwnerUidOf(said)).toBe('uid-nc');
    expect(lastReportOf(said)).toEqual({ isForced: true, text: 'Drain p' });
    expect(lastReportOf(noted)).toBeUndefined();
    const own = withReport(EMPTY_TERMINATION, { isForced: false, text: 'Drain p' });
    expect(hookOwnerUidOf(own)).toBeUndefined();
    expect(hookOwnerUidOf(EMPTY_TERMINATION)).toBeUndefined();
  });
});

function reported(text: string, isForced: boolean) {
  return { kind: 'reported', last: { isForced, text } } as const;
}
