/** What is remembered of an act, and who is next if it was not carried out. */
import { describe, expect, it } from 'vitest';
import type { Attempt } from '../../../../../functions/repair/node/attempt-record.ts';
import type { LaunchPause } from '../../../../../functions/repair/pool-record.ts';
import type { NodeRecord } from '../../../../../functions/repair/node/record.ts';
import { newNode } from '../../../../../functions/repair/node/rule/attempt.ts';
import { withPastTense } from '../../../../../functions/repair/node/rule/next-action.ts';
import { keyOf } from '../../../../../functions/repair/node/rule/ladder.ts';
import {
  afterAct,
  afterRefusedAct,
  noteRefusedAct,
  type RefusedAct,
} from '../../../../../functions/repair/node/record-changes/after-act.ts';
import type { LadderAction } from '../../../../../functions/repair/node/rule/verdict.ts';
import { addDuration, type EpochMs, hours, minutes, seconds, toDurationMs } from '../../../../../shared/domain/time.ts';
import { at, NOW } from '../../../../builders/pool.ts';
import { anAttempt } from '../../../../builders/repair.ts';

const NEW = newNode('n1', 'default');
const BEFORE: NodeRecord = { ...NEW, incident: { type: 'Ready', taken: [] } };
const REPLACE: LadderAction = { type: 'Replace', timeout: hours(1), attempts: 3, within: hours(24) };
const TERMINATE: LadderAction = { ...REPLACE, type: 'Terminate' };
const REBOOT: LadderAction = { ...REPLACE, type: 'Reboot' };

const attemptOf = (action: LadderAction, overrides: Partial<Attempt> = {}): Attempt =>
  anAttempt('n1', {
    action: action.type,
    key: keyOf(action),
    phase: 'intended',
    time: NOW,
    ...(action.type === 'Replace' && { replacement: { name: 'new' } }),
    ...overrides,
  } as Partial<Attempt>);

const refusedAct = (action: LadderAction, overrides: Partial<RefusedAct> = {}): RefusedAct => ({
  now: NOW,
  attempt: attemptOf(action),
  action,
  laterActions: [],
  before: BEFORE,
  isCertain: true,
  cause: 'request',
  message: 'denied',
  basis: 'a',
  ...overrides,
});

const noted = (action: LadderAction, since: EpochMs): NodeRecord => ({
  ...BEFORE,
  refusals: {
    [keyOf(action)]: { cause: 'passing', message: 'denied', basis: 'a', count: 1, firstTime: since, lastTime: since },
  },
});

describe('a refusal', () => {
  it.each<readonly [string, RefusedAct, object]>([
    [
      'is said, and gives the turn away',
      refusedAct(TERMINATE),
      {
        reportKind: 'news',
        keepsTurn: false,
        isSkipped: false,
        text: 'denied; it is tried again ever less often, after one minute to one hour',
      },
    ],
    [
      'that may pass keeps the turn',
      refusedAct(TERMINATE, { cause: 'passing' }),
      { reportKind: 'news', keepsTurn: true, isSkipped: false },
    ],
    [
      'that may pass, and may have taken effect, is not said',
      refusedAct(TERMINATE, { cause: 'passing', isCertain: false }),
      { reportKind: undefined, keepsTurn: true },
    ],
    [
      'that may pass keeps its turn after another attempt, too',
      refusedAct(TERMINATE, { cause: 'passing', before: { ...BEFORE, attempt: attemptOf(REBOOT) } }),
      { keepsTurn: true },
    ],
    [
      'that did not pass within five minutes keeps no turn',
      refusedAct(TERMINATE, {
        cause: 'passing',
        before: noted(TERMINATE, addDuration(NOW, minutes(-4))),
        now: addDuration(NOW, minutes(1)),
      }),
      { keepsTurn: false },
    ],
    [
      'is followed by the next action, and is not tried again',
      refusedAct(REBOOT, { laterActions: [TERMINATE] }),
      { keepsTurn: false, text: 'denied; Terminate follows' },
    ],
    [
      'that may pass is followed by the next action after five minutes',
      refusedAct(REBOOT, { cause: 'passing', laterActions: [TERMINATE] }),
      { keepsTurn: true, text: 'denied; it is tried again for 5m0s, then Terminate follows' },
    ],
    [
      'of an act that may have taken effect is not followed yet',
      refusedAct(REBOOT, {
        cause: 'passing',
        isCertain: false,
        laterActions: [TERMINATE],
        before: noted(REBOOT, addDuration(NOW, minutes(-9))),
      }),
      { text: 'denied; it is tried again every five minutes' },
    ],
    ['of a launch is skipped', refusedAct(REPLACE), { keepsTurn: false, isSkipped: true, text: 'denied' }],
    [
      'of a launch that may pass keeps the turn',
      refusedAct(REPLACE, { cause: 'passing' }),
      { keepsTurn: true, isSkipped: false },
    ],
  ])('%s', (_, refused, expected) => {
    expect(noteRefusedAct(refused)).toMatchObject(expected);
  });

  it('is remembered beside others', () => {
    const before = noted(REBOOT, NOW);
    const { refusals } = noteRefusedAct(refusedAct(TERMINATE, { before }));
    expect(refusals).toMatchObject({
      ...before.refusals,
      [keyOf(TERMINATE)]: { cause: 'request', message: 'denied', basis: 'a', count: 1, lastTime: NOW },
    });
  });
});

interface Given {
  readonly refused: RefusedAct;
  readonly ladder: readonly LadderAction[];
  readonly intent?: Partial<NodeRecord>;
  readonly pause?: LaunchPause;
}

const after = ({ refused, ladder, intent = {}, pause }: Given) => {
  const record = { ...refused.before, number: 1, attempt: refused.attempt, ...intent };
  return afterRefusedAct(refused, noteRefusedAct(refused), { record, ladder, pause });
};

describe('the node of a refused act', () => {
  const soon = addDuration(NOW, seconds(1));
  const pause = { failures: 1, until: addDuration(NOW, minutes(5)) };
  const running = { ...BEFORE, attempt: attemptOf(REBOOT, { phase: 'accepted' }) };

  it.each<readonly [string, Given, string, EpochMs]>([
    ['whose next action has its turn', { refused: refusedAct(REBOOT), ladder: [REBOOT, TERMINATE] }, 'failed', soon],
    ['of which nothing else is left', { refused: refusedAct(TERMINATE), ladder: [TERMINATE] }, 'failed', soon],
    ['that waits for a launch', { refused: refusedAct(REPLACE), ladder: [REPLACE], pause }, 'failed', soon],
    [
      'that waits for a launch within the second',
      {
        refused: refusedAct(REPLACE),
        ladder: [REPLACE],
        pause: { failures: 1, until: addDuration(NOW, toDurationMs(500)) },
      },
      'failed',
      addDuration(NOW, toDurationMs(500)),
    ],
    [
      'with an attempt before it, and a next action',
      { refused: refusedAct(TERMINATE, { before: running }), ladder: [TERMINATE, REPLACE] },
      'hasTime',
      soon,
    ],
    [
      'with an attempt before it, and no next action',
      { refused: refusedAct(TERMINATE, { before: running }), ladder: [TERMINATE] },
      'failed',
      soon,
    ],
  ])('%s', (_, given, attemptState, nextLookTime) => {
    expect(after(given)).toMatchObject({ attemptState, nextLookTime });
  });

  it('remembers the refusal, the number of the attempt and what it was to make', () => {
    const refused = refusedAct(TERMINATE);
    const { record } = after({
      refused,
      ladder: [TERMINATE],
      intent: { launched: 2, leftovers: { drain: 'a drain' } },
    });
    expect(record).toMatchObject({ number: 1, launched: 2, attempt: undefined, incident: BEFORE.incident });
    expect(Object.keys(record.leftovers ?? {}).toSorted()).toEqual(['annotation', 'drain']);
    expect(record.refusals).toEqual(noteRefusedAct(refused).refusals);
  });

  it('keeps the attempt before it', () => {
    const { record } = after({ refused: refusedAct(TERMINATE, { before: running }), ladder: [TERMINATE] });
    expect(record.attempt).toEqual(running.attempt);
  });

  it('skips a launch in its incident, and remembers the refusal: the next one within an hour is not reported', () => {
    const { record } = after({ refused: refusedAct(REPLACE), ladder: [REPLACE, TERMINATE] });
    expect(record.incident?.skippedLaunches).toEqual([keyOf(REPLACE)]);
    expect(record.refusals).toMatchObject({ [keyOf(REPLACE)]: { count: 1 } });
    const again = refusedAct(REPLACE, { before: { ...BEFORE, ...record } });
    expect(noteRefusedAct(again).reportKind).toBeUndefined();
    expect(after({ refused: again, ladder: [REPLACE] }).record.incident?.skippedLaunches).toEqual([keyOf(REPLACE)]);
  });
});

describe('the node of an act that was not refused', () => {
  const before: NodeRecord = { ...BEFORE, number: 4, leftovers: { drain: 'd1' } };
  const attempt = attemptOf(REBOOT, { until: at(10) });
  const record: NodeRecord = { ...before, number: 5, attempt, leftovers: { drain: 'd1', maintenance: true } };
  const made = { resources: [] };
  const mayHaveMade = { ...record, leftovers: { ...record.leftovers, ...made } };
  type Unrefused = Parameters<typeof afterAct>[0];
  const after = (outcome: Unrefused, given: Partial<Parameters<typeof afterAct>[1]> = {}) =>
    afterAct(
      outcome,
      { granted: { attempt, finding: { record: before, verdict: { unfinished: undefined } } }, record, made, ...given },
      NOW,
    );

  it.each<[string, Unrefused, object, EpochMs]>([
    [
      'has what it made, and an attempt that was accepted',
      { kind: 'accepted', attempt, ladder: [REBOOT] },
      {
        record: {
          number: 5,
          attempt: { phase: 'accepted' },
          leftovers: { drain: 'd1', maintenance: true, resources: [] },
        },
      },
      at(5),
    ],
    [
      'has no attempt of ours if somebody else acted',
      { kind: 'overtaken' },
      { record: { ...before, attempt: undefined } },
      at(5),
    ],
    [
      'has the intent if the outcome is unknown, until its run is over',
      { kind: 'unknown' },
      { record: mayHaveMade },
      at(1),
    ],
    [
      'remembers that the unknown outcome is one more refusal',
      { kind: 'unknown', refusals: noted(REBOOT, NOW).refusals ?? {} },
      { record: { ...mayHaveMade, refusals: noted(REBOOT, NOW).refusals } },
      at(1),
    ],
  ])('%s', (_, outcome, change, nextLookTime) => {
    expect(after(outcome)).toMatchObject({ change, nextLookTime });
  });

  it('is as before if the act was called off, but for the number', () => {
    expect(after({ kind: 'calledOff' })).toEqual({
      change: { record: { ...before, number: 5 }, verdict: undefined, attemptState: 'failed' },
      nextLookTime: addDuration(NOW, seconds(1)),
    });
  });

  it('is followed every half minute after a launch', () => {
    const launch = attemptOf(REPLACE);
    const granted = { attempt: launch, finding: { record: before, verdict: { unfinished: undefined } } };
    expect(after({ kind: 'accepted', attempt: launch, ladder: [REPLACE] }, { granted }).nextLookTime).toBe(at(0.5));
  });

  it('keeps the annotation of a termination that was called off as ours (I7)', () => {
    const termination = attemptOf(TERMINATE);
    const granted = { attempt: termination, finding: { record: before, verdict: { unfinished: undefined } } };
    const { change } = after({ kind: 'calledOff' }, { granted, record: { ...record, attempt: termination } });
    expect(Object.keys(change.record?.leftovers ?? {}).toSorted()).toEqual(['annotation', 'drain']);
  });

  it('keeps what the record has if the act was to finish another one, and has time with an attempt before', () => {
    const running = { ...before, attempt };
    const granted = { attempt, finding: { record: running, verdict: { unfinished: attempt } } };
    const { change } = after({ kind: 'calledOff' }, { granted });
    expect(change).toMatchObject({ attemptState: 'hasTime', record: { attempt, leftovers: record.leftovers } });
  });
});

describe('a message about a next try', () => {
  const said = 'it was refused; it is tried again at 2024-11-01T15:32:48Z';

  it('says that it was to come once its time is over: later tries are not told', () => {
    expect(withPastTense(said, at(-1))).toBe(said);
    expect(withPastTense(said, NOW)).toBe('it was refused; it was to be tried again at 2024-11-01T15:32:48Z');
  });

  it.each([`${said}, or so`, 'it was refused; it is tried again at noon', 'it was refused'])(
    'is left as it is where it ends otherwise: %s',
    message => {
      expect(withPastTense(message, at(60))).toBe(message);
    },
  );
});
