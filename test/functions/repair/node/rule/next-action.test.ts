/** Which action a due node gets, and what follows it: actions that were taken, refused, unfinished, or cannot be launched now. */
import { describe, expect, it } from 'vitest';
import {
  aFinding,
  anAttempt,
  aNodeClaim,
  aPoolNode,
  claimOf,
  type Look,
  someRepairInForce,
  someSettings,
  T,
} from '../../../../builders/repair.ts';
import type { Attempt } from '../../../../../functions/repair/node/attempt-record.ts';
import type { Act, NodeRecord } from '../../../../../functions/repair/node/record.ts';
import { answerOf, newNode } from '../../../../../functions/repair/node/rule/attempt.ts';
import { dueVerdictOf, type PresentNode, verdictOf } from '../../../../../functions/repair/node/rule/finding.ts';
import {
  allActionsOf,
  isBeforeReboot,
  keyOf,
  ladderOf,
  possibleActions,
  terminationOfReplaced,
} from '../../../../../functions/repair/node/rule/ladder.ts';
import { actionsTakenBefore, nextAction, refusedUntil } from '../../../../../functions/repair/node/rule/next-action.ts';
import type { LadderAction } from '../../../../../functions/repair/node/rule/verdict.ts';
import type { JsonObject } from '../../../../../shared/domain/kubernetes-object.ts';
import type { NodeClaimView } from '../../../../../shared/domain/node-claim.ts';
import type { Refusal } from '../../../../../shared/domain/refusal.ts';
import { addDuration, type EpochMs, minutes, toDurationMs } from '../../../../../shared/domain/time.ts';

const NOW = addDuration(T, minutes(30));
/** Minutes from now; negative: before. */
const at = (minute: number): EpochMs => addDuration(NOW, toDurationMs(minute * 60_000));
const NODE = aPoolNode('n1');
const REBOOT = 'Reboot||600000';
const FIX = 'CustomResource|fix.yaml|300000';
const REPLACE = 'Replace||900000';
const TERMINATE = 'Terminate||3600000';
const KINDS: Readonly<Record<string, JsonObject>> = {
  reboot: { type: 'Reboot', timeout: '10m' },
  fix: { type: 'CustomResource', template: 'fix.yaml', timeout: '5m' },
  replace: { type: 'ReplaceThenTerminate', timeout: '15m' },
  terminate: { type: 'Terminate', timeout: '1h' },
  drain: { type: 'DrainThenTerminate', timeout: '1h' },
};
const listOf = (text: string): readonly JsonObject[] => text.split(' ').map(name => KINDS[name] ?? {});
const ladder = (text: string): readonly LadderAction[] => ladderOf(someSettings({ actions: listOf(text) }));
const refused = (cause: Refusal['cause'], first: number, last = first, count = 1): Refusal => ({
  cause,
  message: `no by ${cause}`,
  basis: '',
  count,
  firstTime: at(first),
  lastTime: at(last),
});
const acts = (key: string, ...times: readonly number[]): readonly Act[] =>
  times.map(time => ({ key, action: 'Reboot', time: at(time) }));

/** The node is due, with these actions. */
function look(actions: string, more: Partial<NodeRecord> = {}, given: Look = {}): PresentNode {
  const onsets = { 'Ready=False': { start: T, stated: T } };
  return aFinding(NODE, {
    repair: someRepairInForce({ actions: listOf(actions) }),
    record: { ...newNode('n1', 'default'), onsets, ...more },
    ...given,
  });
}
const taken = (...keys: readonly string[]): Partial<NodeRecord> => ({ incident: { type: 'Ready', taken: keys } });

describe('a due node gets', () => {
  it.each<[string, string, Partial<NodeRecord>, Look, string, readonly string[]]>([
    ['the first action, and the others follow', 'reboot fix terminate', {}, {}, REBOOT, [FIX, TERMINATE]],
    ['what follows the one that was taken', 'reboot fix terminate', taken(REBOOT), {}, FIX, [TERMINATE]],
    ['an earlier one, and what was taken does not follow', 'reboot fix terminate', taken(FIX), {}, REBOOT, [TERMINATE]],
    ['the last action, and nothing follows', 'reboot terminate', taken(REBOOT), {}, TERMINATE, []],
    [
      'what follows the one that was refused',
      'reboot fix terminate',
      { refusals: { [REBOOT]: refused('request', 0) } },
      {},
      FIX,
      [TERMINATE],
    ],
    [
      'what was refused under another basis',
      'reboot terminate',
      { refusals: { [REBOOT]: refused('request', 0) } },
      { basisOf: claim => `${claim?.uid}` },
      REBOOT,
      [TERMINATE],
    ],
    ['a replacement', 'replace terminate', {}, {}, REPLACE, [TERMINATE]],
    [
      'no replacement that did not become ready where something follows',
      'replace terminate',
      { incident: { type: 'Ready', taken: [], skippedLaunches: [REPLACE] } },
      {},
      TERMINATE,
      [],
    ],
    [
      'no replacement while the pool launches none',
      'replace terminate',
      {},
      { launchPause: { failures: 1, until: at(1) } },
      TERMINATE,
      [],
    ],
    [
      'a replacement once the pool launches again',
      'replace terminate',
      {},
      { launchPause: { failures: 1, until: at(0) } },
      REPLACE,
      [TERMINATE],
    ],
    [
      'a replacement again where nothing follows it',
      'replace',
      { incident: { type: 'Ready', taken: [], skippedLaunches: [REPLACE] } },
      {},
      REPLACE,
      [],
    ],
    [
      'no replacement where its NodeClaim is of no NodePool, nor does one follow',
      'reboot replace terminate',
      {},
      { claims: [claimOf(NODE, { labels: {} })] },
      REBOOT,
      [TERMINATE],
    ],
    [
      'in place what is in place while the pool launches none',
      'reboot',
      {},
      { launchPause: { failures: 1, until: at(1) } },
      REBOOT,
      [],
    ],
  ])('%s', (_, actions, record, given, action, rest) => {
    const finding = look(actions, record, given);
    const due = dueVerdictOf(finding);
    expect(due && keyOf(due.action)).toBe(action);
    expect(due?.laterActions.map(keyOf)).toEqual(rest);
    expect(finding.record?.incident).toMatchObject({ type: 'Ready', taken: record.incident?.taken ?? [] });
    expect(verdictOf(finding)).toBeUndefined();
    expect(finding.nextLookTime).toBeUndefined();
  });

  it('in another incident what it had last in the one before, and that place is remembered', () => {
    const lastIncident = { type: 'Ready', key: FIX, time: at(-60) };
    const finding = look('reboot fix terminate', { lastIncident, acts: acts(FIX, -60) });
    expect(dueVerdictOf(finding)?.action).toMatchObject({ type: 'CustomResource' });
    expect(finding.record?.incident).toEqual({ type: 'Ready', taken: [REBOOT] });
  });

  it('the attempt that another run did not carry out, if that is what it gets', () => {
    const time = at(-10);
    const terminate = anAttempt('n1', { phase: 'intended', time });
    const unfinished = (actions: string): Attempt | undefined =>
      dueVerdictOf(look(actions, { attempt: terminate, number: 1 }))?.unfinished;
    const claims = { claim: { name: 'claim-n1', uid: 'uid-claim-n1' } };
    expect(unfinished('terminate')).toMatchObject({ number: 1, phase: 'intended', time, ...claims });
    expect(unfinished('reboot terminate')).toBeUndefined();
  });
});

describe('a due node whose run ended before it could say what became of its request', () => {
  it.each([
    ['goes on with the drain, although the reboot before it may be tried again', 'Drain', 'Drain||3600000', 'Drain'],
    ['goes on with the custom resource', 'CustomResource', FIX, 'CustomResource'],
    ['is rebooted where its termination was not carried out', 'Terminate', TERMINATE, 'Reboot'],
  ] as const)('%s', (_, action, key, next) => {
    const attempt = anAttempt('n1', { action, phase: 'intended', time: at(-10), key, requestId: 'r1' } as never);
    const refusals = { [REBOOT]: refused('request', -5) };
    const due = dueVerdictOf(look('reboot fix drain', { attempt, number: 1, refusals }));
    expect(due?.action.type).toBe(next);
    expect(due?.unfinished?.key).toBe(next === 'Reboot' ? undefined : key);
  });
});

describe('a due node waits', () => {
  it.each<[string, string, Partial<NodeRecord>, Look, number, object]>([
    [
      'for what was refused, where nothing else is left',
      'terminate',
      { refusals: { [TERMINATE]: refused('request', 0) } },
      {},
      1,
      {
        kind: 'retry',
        message: expect.stringContaining('refused: no by request; it is tried again at 2024-11-01T15:33:48Z'),
      },
    ],
    [
      'for the first of several that were refused',
      'reboot fix terminate',
      {
        refusals: {
          [REBOOT]: refused('request', 0, 0, 3),
          [FIX]: refused('request', 0, 0, 2),
          [TERMINATE]: refused('request', 0, 0, 4),
        },
      },
      {},
      2,
      { kind: 'retry', message: expect.stringContaining('no by request') },
    ],
    [
      'for what was refused, although the pool launches replacements again before',
      'replace terminate',
      { refusals: { [TERMINATE]: refused('request', 0, 0, 3) } },
      { launchPause: { failures: 1, until: at(1) } },
      4,
      { kind: 'retry' },
    ],
    [
      'until the pool launches replacements again',
      'replace',
      {},
      { launchPause: { failures: 1, until: at(3) } },
      3,
      {
        kind: 'blockedByNode',
        reason: 'ReplacementUnavailable',
        message: expect.stringContaining('no replacement can be launched: it is tried again at 2024-11-01T15:35:48Z'),
        dueCondition: { conditionType: 'Ready' },
      },
    ],
    [
      'in vain where all was taken',
      'reboot terminate',
      taken(REBOOT, TERMINATE),
      {},
      5,
      {
        kind: 'exhausted',
        message:
          'every action of repair.actions (Reboot 10m0s, Terminate 1h0m0s) was taken or has no attempt left, no further action is set',
      },
    ],
    [
      'in vain where there is nothing to replace',
      'replace',
      {},
      { claims: [claimOf(NODE, { labels: {} })] },
      5,
      { kind: 'exhausted', message: 'without a NodeClaim of a NodePool there is nothing to replace' },
    ],
    [
      'for an allowance',
      'reboot',
      { acts: acts(REBOOT, -1438, -60) },
      {},
      2,
      {
        kind: 'exhausted',
        message: expect.stringContaining('no further action is set; an allowance returns at 2024-11-01T15:34:48Z'),
      },
    ],
    [
      'for the allowance of an action that goes on from an earlier incident',
      'reboot',
      { lastIncident: { type: 'Ready', key: REBOOT, time: at(-50) }, acts: acts(REBOOT, -1438, -60) },
      {},
      2,
      {
        kind: 'exhausted',
        message: expect.stringContaining('no further action is set; an allowance returns at 2024-11-01T15:34:48Z'),
      },
    ],
    [
      'five minutes at most for an allowance',
      'reboot',
      { acts: acts(REBOOT, -600, -60) },
      {},
      5,
      { kind: 'exhausted' },
    ],
  ])('%s', (_, actions, record, given, minute, verdict) => {
    const finding = look(actions, record, given);
    expect(finding.verdict).toMatchObject({ ...verdict, node: { name: 'n1', uid: 'uid-n1' } });
    expect(finding.nextLookTime).toBe(at(minute));
    expect(finding.record).toMatchObject(record);
    expect(finding.state).toBe('idle');
  });
});

describe('the turn', () => {
  const turn = (
    actions: readonly LadderAction[],
    refusals: Readonly<Record<string, Refusal>>,
    done: readonly Act[] = [],
  ) => nextAction({ ladder: actions, taken: [], acts: done, refusals, basis: '' }, NOW);

  it('waits for a custom resource that cannot be made as long as its action has, each half minute', () => {
    const slow = ladderOf(someSettings({ actions: [{ ...KINDS['fix'], timeout: '10m' }, { type: 'Terminate' }] }));
    const [fix = '', end = ''] = slow.map(keyOf);
    expect(turn(slow, { [fix]: refused('passing', -6, 0) })).toMatchObject({ kind: 'refused', until: at(0.5) });
    expect(turn(slow, { [fix]: refused('passing', -9.75, 0) })).toMatchObject({ kind: 'refused', until: at(0.25) });
    expect(turn(slow, { [fix]: refused('passing', -10, 0) })).toMatchObject({ action: { type: 'Terminate' } });
    expect(end).toBe(TERMINATE);
  });

  it('is tried at the end of the five minutes in which a refusal may pass, not after it', () => {
    const refusals = { [REBOOT]: refused('passing', -4.75, 0, 6) };
    expect(turn(ladder('reboot terminate'), refusals)).toMatchObject({ kind: 'refused', until: at(0.25) });
  });

  it('says of what may pass why it was refused', () => {
    const refusals = { [REBOOT]: refused('passing', 0) };
    expect(turn(ladder('reboot'), refusals)).toMatchObject({ kind: 'refused', message: 'no by passing' });
    expect(turn(ladder('reboot'), { [REBOOT]: refused('request', 0) })).toMatchObject({ message: 'no by request' });
  });

  it('is no replacement where there is no NodeClaim of a NodePool to replace', () => {
    const next = (claim?: NodeClaimView) => {
      const possible = possibleActions(ladder('replace terminate'), claim);
      return nextAction({ ladder: possible, taken: [], acts: [], refusals: undefined, basis: '' }, NOW);
    };
    expect(next()).toMatchObject({ kind: 'next', action: { type: 'Terminate' } });
    expect(next(aNodeClaim({ labels: {} }))).toMatchObject({ kind: 'next', action: { type: 'Terminate' } });
    expect(next(aNodeClaim())).toMatchObject({
      kind: 'next',
      action: { type: 'Replace', launch: { pool: 'default' } },
    });
  });

  it('comes back when fewer acts count than it may have, in whatever order they stand', () => {
    expect(turn(ladder('reboot'), {}, acts(REBOOT, -60, -600))).toEqual({ kind: 'exhausted', until: at(840) });
    const three = acts(REBOOT, -10, -30, -20);
    expect(turn(ladder('reboot'), {}, three)).toEqual({ kind: 'exhausted', until: at(1420) });
  });

  it('of a drain before a reboot comes back when drain and reboot have an attempt left', () => {
    const own = ladderOf(someSettings({ terminationGracePeriod: '10m', actions: listOf('reboot') }));
    const drain = 'Drain before Reboot||600000';
    const until = (drains: readonly number[], reboots: readonly number[]) =>
      turn(own, {}, [...acts(drain, ...drains), ...acts(REBOOT, ...reboots)]);
    expect(until([-60, -50], [-40, -30])).toEqual({ kind: 'exhausted', until: at(1400) });
    expect(until([-40, -30], [-60, -50])).toEqual({ kind: 'exhausted', until: at(1400) });
  });

  it('begins with nothing taken where the incident before left nothing that the list has', () => {
    const own = ladder('reboot terminate');
    const of = (type: string, key: string | undefined, time: number) =>
      actionsTakenBefore(
        { lastIncident: { type, ...(key !== undefined && { key }), time: at(time) } },
        'Ready',
        own,
        NOW,
      );
    expect(of('Disk', TERMINATE, -1)).toEqual([]);
    expect(of('Ready', undefined, -1)).toEqual([]);
    expect(of('Ready', FIX, -1)).toEqual([]);
    expect(of('Ready', TERMINATE, -1)).toEqual([REBOOT]);
    expect(of('Ready', TERMINATE, -1440)).toEqual([]);
  });
});

describe('the actions', () => {
  it('are known in records by type, template and timeout; a drain before a reboot by the time of the reboot', () => {
    const keys = (block: JsonObject): readonly string[] => ladderOf(someSettings(block)).map(keyOf);
    expect(keys({ actions: listOf('reboot fix replace terminate') })).toEqual([REBOOT, FIX, REPLACE, TERMINATE]);
    expect(keys({ actions: [{ type: 'DrainThenTerminate', timeout: '20m' }] })).toEqual([
      'Drain||1200000',
      'Terminate||3600000',
    ]);
    expect(keys({ terminationGracePeriod: '5m', actions: listOf('reboot') })).toEqual([
      'Drain before Reboot||600000',
      REBOOT,
    ]);
    expect(keys({})).toEqual([TERMINATE]);
  });

  it('of all entries are those of the block and of each of its entries', () => {
    const entry = { conditionType: 'Ready', toleration: '1m', actions: listOf('fix') };
    const settings = someSettings({ actions: listOf('reboot'), policies: [entry] });
    const all = allActionsOf({ settings }).map(keyOf);
    expect(all).toEqual(expect.arrayContaining([REBOOT, FIX]));
  });

  it('that begin a reboot are told from drains of their own', () => {
    expect(['Drain before Reboot||600000', 'Drain||600000', REBOOT].map(key => isBeforeReboot({ key }))).toEqual([
      true,
      false,
      false,
    ]);
  });

  it('end with the termination once a replacement is ready, under the key of the replacement', () => {
    expect(terminationOfReplaced(REPLACE)).toMatchObject({
      type: 'Terminate',
      timeout: 3_600_000,
      after: { type: 'Replace', key: REPLACE },
    });
  });

  it('that were refused wait with their basis, and only until they are tried again', () => {
    const [action] = ladder('terminate');
    if (action === undefined) throw new Error('no action');
    const until = (refusals: Readonly<Record<string, Refusal>> | undefined, basis = '', now = NOW) =>
      refusedUntil({ refusals, basis }, action, now)?.until;
    const refusals = { [TERMINATE]: refused('request', 0) };
    expect(until(refusals)).toBe(at(1));
    expect(until(refusals, 'another')).toBeUndefined();
    expect(until(refusals, '', at(1))).toBeUndefined();
    expect(until({ [REBOOT]: refused('request', 0) })).toBeUndefined();
    expect(until(undefined)).toBeUndefined();
  });

  it('are answered by what was asked for: a drain or a custom resource', () => {
    const answer = { kind: 'failed', message: 'told' } as const;
    for (const action of ['Drain', 'CustomResource'] as const)
      expect(answerOf(anAttempt('n1', { action, answer }))).toEqual(answer);
    expect(answerOf(anAttempt('n1'))).toBeUndefined();
  });
});
