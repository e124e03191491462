/** What a reboot leaves on its Node, so that it outlives the table, and which of it is ours. */
import { describe, expect, it } from 'vitest';
import {
  actsOf,
  isJustRebooted,
  isMaintained,
  isMarked,
  LAST_REBOOT_ANNOTATION,
  lastRebootText,
  firstNodeRecord,
  withMarks,
  withShownReboots,
} from '../../../../../functions/repair/node/rule/reboot-marks.ts';
import { newNode } from '../../../../../functions/repair/node/rule/attempt.ts';
import type { Act, NodeRecord } from '../../../../../functions/repair/node/record.ts';
import type { Refusal } from '../../../../../shared/domain/refusal.ts';
import type { Owner } from '../../../../../shared/domain/node-owner.ts';
import { at, NOW } from '../../../../builders/pool.ts';
import { aCondition, anAttempt, aNodeClaim, aPoolNode } from '../../../../builders/repair.ts';

const NO_CLAIM: Owner = { kind: 'none', message: '' };
const TIME = '2024-11-01T15:32:48.000Z';
const act = (action: Act['action']): Act => ({ key: '', action, time: NOW });
const shown = (value: string | undefined) =>
  aPoolNode('n1', undefined, value === undefined ? {} : { annotations: { [LAST_REBOOT_ANNOTATION]: value } });

describe('the annotation of a reboot', () => {
  it('has its time, the boot ID before it, and how many reboots count', () => {
    expect(JSON.parse(lastRebootText([act('Reboot'), act('Terminate'), act('Reboot')], NOW, 'boot-1'))).toEqual({
      time: TIME,
      bootID: 'boot-1',
      count: 3,
    });
    expect(JSON.parse(lastRebootText([], NOW, undefined))).toEqual({ time: TIME, count: 1 });
  });

  it('stands for its reboots at a Node that has no record', () => {
    const reboot = { key: 'Reboot||0', action: 'Reboot', time: NOW, bootID: 'boot-1' };
    const node = shown(lastRebootText([act('Reboot')], NOW, 'boot-1'));
    expect(actsOf(node)).toEqual([reboot, reboot]);
    expect(firstNodeRecord(node, 'default', NO_CLAIM)).toMatchObject({
      name: 'n1',
      pool: 'default',
      acts: [reboot, reboot],
    });
  });

  it('stands on the NodeClaim for a Node that was made anew, and on the Node before that', () => {
    const [once, thrice] = [1, 3].map(count => shown(JSON.stringify({ time: TIME, count })));
    const claim = (annotations = {}): Owner => ({ kind: 'claim', claim: aNodeClaim({ annotations }) });
    const countOf = (node: ReturnType<typeof shown>, owner: Owner): number =>
      firstNodeRecord(node, 'default', owner).acts.length;
    expect(countOf(shown(undefined), claim(thrice?.annotations))).toBe(3);
    expect(countOf(once ?? shown(undefined), claim(thrice?.annotations))).toBe(1);
    expect(countOf(shown(undefined), claim())).toBe(0);
  });

  it('stands for a record without acts, too, but not while a reboot is tried or under way', () => {
    const shownOnce = shown(JSON.stringify({ time: TIME, count: 1 }));
    const known = newNode('n1', 'default');
    const countIn = (more: Partial<NodeRecord>): number =>
      withShownReboots({ ...known, ...more }, shownOnce, NO_CLAIM).acts.length;
    const refusal: Refusal = { cause: 'passing', message: '', basis: '', count: 1, firstTime: NOW, lastTime: NOW };
    expect(countIn({})).toBe(1);
    expect(countIn({ attempt: anAttempt('n1', { action: 'Reboot', key: 'Reboot||600000' }) })).toBe(0);
    expect(countIn({ refusals: { 'Reboot||600000': refusal } })).toBe(0);
    expect(countIn({ acts: [act('Reboot'), act('Reboot')] })).toBe(2);
  });

  it.each<[string, unknown, number]>([
    ['as many as it says', { time: TIME, count: 3 }, 3],
    ['20 at most', { time: TIME, count: 21 }, 20],
    ['one at least', { time: TIME, count: 0 }, 1],
    ['one where no number is told', { time: TIME }, 1],
    ['one where the number is no whole one', { time: TIME, count: 2.5 }, 1],
    ['one where the number is a text', { time: TIME, count: '3' }, 1],
    ['none without a time', { count: 3 }, 0],
    ['none where the time cannot be read', { time: 'soon', count: 3 }, 0],
    ['none where the time is no text', { time: 1, count: 3 }, 0],
    ['none where it is something else', 'true', 0],
    ['none where there is none', undefined, 0],
  ])('that anybody may have changed counts %s', (_, value, count) => {
    expect(actsOf(shown(value === undefined ? undefined : JSON.stringify(value)))).toHaveLength(count);
  });

  it('that is no JSON counts none, and a boot ID that is no text is none', () => {
    expect(actsOf(shown('{'))).toEqual([]);
    const [reboot] = actsOf(shown(JSON.stringify({ time: TIME, bootID: 7 })));
    expect(reboot).not.toHaveProperty('bootID');
  });

  it('says for an hour that the node was just rebooted', () => {
    const node = shown(lastRebootText([], NOW, undefined));
    expect([0, 59, 60].map(minute => isJustRebooted(node, at(minute)))).toEqual([true, true, false]);
    expect(isJustRebooted(shown(undefined), NOW)).toBe(false);
  });
});

describe('I7 the marks of a reboot', () => {
  const condition = (type: string, status: string, reason: string) => ({ ...aCondition(type, status), reason });
  const OURS = condition('MaintenanceInProgress', 'True', 'CurfewReboot');

  it.each([
    ['are ours by the reason of the condition', OURS, true],
    ["are another's by theirs", condition('MaintenanceInProgress', 'True', 'Vendor'), false],
    ['are none once the condition is over', condition('MaintenanceInProgress', 'False', 'CurfewReboot'), false],
    ['are none of another condition of ours', condition('Drained', 'True', 'CurfewDrained'), false],
  ])('%s', (_, each, expected) => {
    const node = { annotations: {}, conditions: [aCondition('Ready', 'True'), each] };
    expect(isMaintained(node.conditions)).toBe(expected);
    expect(isMarked(node)).toBe(expected);
    expect(withMarks({ leftovers: { drain: 'r1' } }, node)).toEqual({
      drain: 'r1',
      ...(expected && { maintenance: true }),
    });
  });

  it('are also a cordon of ours, which a record from before the reboot does not know of', () => {
    const node = { annotations: { 'curfew.dev/cordoned-by-repair': 'true' }, conditions: [] };
    expect(isMarked(node)).toBe(true);
    expect(withMarks({}, node)).toEqual({ maintenance: true });
    expect(withMarks({}, { annotations: {}, conditions: [] })).toBeUndefined();
  });
});
