/** Which ends of drains stay whole where a hundred later ones need their room. */
import { describe, expect, it } from 'vitest';
import { NO_DRAINS, type DrainRecord } from '../../../../functions/drain/record.ts';
import type { AnsweredRequest, FinishedDrain } from '../../../../functions/drain/request-record.ts';
import { endOf, forget, remember, REMEMBERED_FOR } from '../../../../functions/drain/rule/history.ts';
import type { DrainedNode } from '../../../../functions/drain/rule/observation.ts';
import { addDuration, minutes } from '../../../../shared/domain/time.ts';
import { finished, NOW, observation } from '../observations.ts';

type NodeMarks = Partial<Pick<DrainedNode, 'quarantine' | 'requestedId' | 'cordonMark' | 'unschedulable'>>;

const nodeOf = (marks: NodeMarks): DrainedNode => ({ ...observation().node, ...marks });
const fault = (checkName: string, entities: readonly string[] = []): FinishedDrain['fault'] => ({
  agent: 'a',
  componentClass: 'c',
  checkName,
  entities,
});
const LATER = Array.from({ length: 100 }, (_, index) => finished(`later-${index}`, { fault: fault('later') }));

/** What is left of older ends: the whole ones, then the ids. */
function leftOf(older: readonly FinishedDrain[], marks: NodeMarks, answered: readonly AnsweredRequest[] = []) {
  const record = remember({ ...NO_DRAINS, finished: older, answered }, LATER, nodeOf(marks));
  const whole = record.finished.slice(0, record.finished.length - LATER.length);
  const noted = marks.quarantine === undefined ? {} : { quarantined: true };
  expect(record.finished.slice(whole.length)).toEqual(LATER.map(later => ({ ...later, ...noted })));
  return { whole, ids: (record.answered ?? []).map(({ id }) => id) };
}
const idsOf = (ends: readonly FinishedDrain[]): readonly string[] => ends.map(({ id }) => id);

const OURS = { cordonMark: 'x', unschedulable: true };

describe('an end that a hundred others follow', () => {
  it.each<[string, Partial<FinishedDrain>, NodeMarks, 'whole' | 'id' | 'gone']>([
    ['that nothing refers to', {}, {}, 'id'],
    ['that a person asks for', {}, { requestedId: 'a' }, 'whole'],
    ['whose cordon the Node carries', {}, { cordonMark: 'a' }, 'whole'],
    ['whose cordon the Node carries, though its fault is over', { recovered: true }, { cordonMark: 'a' }, 'whole'],
    ['that the quarantine lists', {}, { quarantine: ['a'] }, 'whole'],
    ['that the quarantine lists, and that failed', { status: 'Failed' }, { quarantine: ['a'] }, 'id'],
    ['of a quarantine that lists others', {}, { quarantine: ['b'] }, 'id'],
    ['of a quarantine that nobody can read', {}, { quarantine: 'unreadable' }, 'whole'],
    ['that keeps the node cordoned', {}, OURS, 'whole'],
    ['that keeps the node cordoned, covered by another', { status: 'Cancelled', reason: 'Covered' }, OURS, 'whole'],
    ['that was cancelled', { status: 'Cancelled', reason: 'Recovered' }, OURS, 'id'],
    ['whose fault is over', { recovered: true }, OURS, 'id'],
    ['on a node that is open', {}, { cordonMark: 'x' }, 'id'],
    ['on a node that somebody else has cordoned', {}, { unschedulable: true }, 'id'],
    ['that asked for nothing', { status: 'AlreadyDrained', reason: 'Skipped' }, OURS, 'gone'],
    ['that was over at once', { status: 'AlreadyDrained', reason: 'Recovered' }, {}, 'gone'],
    ['that an earlier drain covers', { status: 'AlreadyDrained', reason: 'Covered' }, OURS, 'whole'],
    ['that failed, whatever it is called', { status: 'Failed', reason: 'Skipped' }, {}, 'id'],
  ])('%s', (_, end, marks, expected) => {
    const { whole, ids } = leftOf([finished('a', end)], marks);
    expect([idsOf(whole), ids]).toEqual([expected === 'whole' ? ['a'] : [], expected === 'id' ? ['a'] : []]);
  });

  it('is kept for its fault where it was said last', () => {
    const at = (minute: number) => ({ said: { sentTime: addDuration(NOW, minutes(minute)) } });
    const of = (id: string, given: Partial<FinishedDrain> = {}) => finished(id, { fault: fault('gpu'), ...given });
    expect(idsOf(leftOf([of('a'), of('b'), finished('c')], OURS).whole)).toEqual(['b', 'c']);
    expect(idsOf(leftOf([of('a', at(2)), of('b', at(1))], OURS).whole)).toEqual(['a']);
    expect(idsOf(leftOf([of('a', at(1)), of('b', at(1))], OURS).whole)).toEqual(['b']);
    // One that no longer keeps the node does not stand for one that does.
    expect(idsOf(leftOf([of('a'), of('b', { recovered: true })], OURS).whole)).toEqual(['a']);
    // Nor does an older one beside one of the last hundred.
    expect(leftOf([finished('a', { fault: fault('later') })], OURS)).toEqual({ whole: [], ids: ['a'] });
    expect(leftOf([finished('a', { fault: fault('later') })], { ...OURS, quarantine: ['a'] }).ids).toEqual([]);
  });

  it('loses the names of its pods', () => {
    expect(leftOf([finished('a', { left: ['ml/a'] }), finished('b')], { requestedId: 'a' }).whole).toEqual([
      finished('a'),
    ]);
  });

  it('makes one of two faults of a check where there is no room, and keeps those of other checks', () => {
    const entity = (index: number): string => `GPU/${index}-${'x'.repeat(1_000)}`;
    const ofGpus = Array.from({ length: 60 }, (_, index) => finished(`g${index}`, { fault: fault('gpu', [entity(index)]) })); // prettier-ignore
    const { whole, ids } = leftOf([finished('nic', { fault: fault('nic') }), ...ofGpus], OURS);
    const [nic, widest, ...others] = whole;
    expect([nic?.id, widest?.fault]).toEqual(['nic', { ...fault('gpu'), codes: [] }]);
    expect(others).toEqual(ofGpus.slice(60 - others.length));
    expect(others.length).toBeGreaterThan(30);
    expect(Buffer.byteLength(JSON.stringify(whole))).toBeLessThanOrEqual(49_152);
    expect(ids).toEqual(idsOf(ofGpus.slice(0, 59 - others.length)));
  });

  it('goes as the oldest where none can be widened', () => {
    const wide = Array.from({ length: 60 }, (_, index) => finished(`c${index}`, { fault: fault(`${index}-${'x'.repeat(1_000)}`) })); // prettier-ignore
    const { whole, ids } = leftOf(wide, OURS);
    expect(whole).toEqual(wide.slice(60 - whole.length));
    expect(whole.length).toBeGreaterThan(30);
    expect(ids).toEqual(idsOf(wide.slice(0, 60 - whole.length)));
  });
});

describe('ids of earlier ends', () => {
  const answer = (id: string): AnsweredRequest => ({ id, status: 'Succeeded', endTime: NOW });
  const long = (name: string): string => `${name}-${'x'.repeat(1_000)}`;
  const many = Array.from({ length: 80 }, (_, index) => answer(long(`i${index}`)));

  it.each<[string, NodeMarks, boolean]>([
    ['goes before later ones', {}, false],
    ['stays where a person asks for it', { requestedId: long('i0') }, true],
    ['stays where the quarantine lists it', { quarantine: [long('i0')] }, true],
    ['goes where nobody can read the quarantine', { quarantine: 'unreadable' }, false],
  ])('in want of room the first one %s', (_, marks, isKept) => {
    const { ids } = leftOf([finished('a', { status: 'Failed' })], marks, many);
    expect(ids.includes(long('i0'))).toBe(isKept);
    expect(ids.slice(isKept ? 1 : 0)).toEqual([...many.slice(80 - ids.length + (isKept ? 2 : 1)).map(({ id }) => id), 'a']); // prettier-ignore
    expect(ids.length).toBeGreaterThan(50);
  });

  it('say of an end only that there was one', () => {
    const record: DrainRecord = { ...NO_DRAINS, answered: [answer('a'), { ...answer('b'), status: 'Failed' }] };
    expect(endOf(record, 'b')).toMatchObject({ id: 'b', status: 'Failed', reason: 'AnsweredBefore' });
    expect([endOf(record, 'c'), endOf(NO_DRAINS, 'a')]).toEqual([undefined, undefined]);
  });

  it('go when no message about them can come any more, unless the Node names them', () => {
    const late = addDuration(NOW, REMEMBERED_FOR);
    const fresh = { ...answer('fresh'), endTime: addDuration(NOW, minutes(1)) };
    const record: DrainRecord = { ...NO_DRAINS, answered: [answer('old'), fresh] };
    expect(forget(record, nodeOf({}), late)).toEqual({
      record: { ...NO_DRAINS, answered: [fresh] },
      until: addDuration(late, minutes(1)),
    });
    const named = forget(record, nodeOf({ requestedId: 'old' }), late);
    expect(named).toEqual({ record, until: addDuration(late, minutes(1)) });
    expect(named.record).toBe(record);
    expect(forget(record, nodeOf({}), addDuration(late, minutes(1)))).toEqual({ record: NO_DRAINS, until: undefined });
    // Looked at again a whole time later: what the Node refers to may have changed by then.
    expect(forget({ ...record, answered: [answer('old')] }, nodeOf({ requestedId: 'old' }), late).until).toEqual(
      addDuration(late, REMEMBERED_FOR),
    );
  });
});
