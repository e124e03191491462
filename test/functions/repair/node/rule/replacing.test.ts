/** What becomes of `ReplaceThenTerminate` while its replacement is launched, and once that is ready. */
import { describe, expect, it } from 'vitest';
import { dueVerdictOf, type PresentNode } from '../../../../../functions/repair/node/rule/finding.ts';
import type { AttemptOf, Replacement } from '../../../../../functions/repair/node/attempt-record.ts';
import type { NodeRecord } from '../../../../../functions/repair/node/record.ts';
import type { RepairInForce } from '../../../../../functions/repair/node/rule/settings-in-force.ts';
import type { NodeClaimView } from '../../../../../shared/domain/node-claim.ts';
import type { NodeView } from '../../../../../shared/domain/node.ts';
import type { Refusal } from '../../../../../shared/domain/refusal.ts';
import { nextOf } from '../../../../builders/attempt-look.ts';
import { at, NOW, remembered } from '../../../../builders/pool.ts';
import {
  aCondition,
  aFinding,
  anAttempt,
  aPoolNode,
  claimOf,
  type Look,
  READY,
  someRepairInForce,
} from '../../../../builders/repair.ts';
import { toTimestamp } from '../../../../../shared/domain/time.ts';

const NODE = aPoolNode('n1');
const WELL = aPoolNode('n1', aCondition('Ready', 'True', at(1)));
const VETOED: NodeView = { ...NODE, annotations: { 'curfew.dev/do-not-repair': 'true' } };
const NAME = 'default-curfew-uid-clai';
const KEY = 'Replace||900000';
const TERMINATE = 'Terminate||3600000';
const MADE: Replacement = { name: NAME, uid: 'uid-new' };
const ACTIONS = { actions: [{ type: 'ReplaceThenTerminate', timeout: '15m' }, { type: 'Terminate' }] };
const RULES = someRepairInForce(ACTIONS);

const attempt = (more: Partial<AttemptOf<'Replace'>> = {}): AttemptOf<'Replace'> => ({
  ...(anAttempt('n1', { action: 'Replace', key: KEY, time: NOW, until: at(15) }) as AttemptOf<'Replace'>),
  replacement: MADE,
  ...more,
});
/** What is remembered of the node while its replacement is launched, for which there is a quarter of an hour. */
const launching = (more: Partial<NodeRecord> = {}): NodeRecord =>
  remembered({
    number: 1,
    attempt: attempt(),
    incident: { type: 'Ready', taken: [] },
    leftovers: { replacement: MADE },
    ...more,
  });

const newNodeView = (taints: NodeView['taints'] = [], ready = READY): NodeView => ({
  ...aPoolNode('new', ready),
  ...(taints && { taints }),
});
const newClaim = (more: Partial<NodeClaimView> = {}): NodeClaimView =>
  claimOf(newNodeView(), { name: NAME, uid: 'uid-new', conditions: [aCondition('Initialized', 'True')], ...more });
const RESERVED = [{ key: 'curfew.dev/reserved', value: '' }];

const GONE: Look = { claims: [claimOf(NODE)] };
const LAUNCHING: Look = { claims: [claimOf(NODE), newClaim({ nodeName: undefined })] };
const UNREADY: Look = { claims: [claimOf(NODE), newClaim({ conditions: [] })], others: [newNodeView(RESERVED)] };
const READY_RESERVED: Look = { claims: [claimOf(NODE), newClaim()], others: [newNodeView(RESERVED)] };
const RELEASED: Look = { claims: [claimOf(NODE), newClaim()], others: [newNodeView()] };
const RELEASED_UNREADY: Look = { claims: [claimOf(NODE), newClaim({ conditions: [] })], others: [newNodeView()] };

const look = (given: Look, minute = 5, node = NODE): PresentNode =>
  aFinding(node, { repair: RULES, record: launching(), now: at(minute), ...given });

describe('while it is launched, the repair', () => {
  it.each<[string, Look]>([
    ['waits for its Node', LAUNCHING],
    ['waits for its Node to be ready', UNREADY],
    ['waits for its Node to be ready, although somebody took its taint off', RELEASED_UNREADY],
  ])('%s, and looks twice a minute', (_, given) => {
    expect(look(given)).toMatchObject({
      verdict: {
        kind: 'underWay',
        node: { name: 'n1' },
        message: `NodeClaim ${NAME} is being launched, since 2024-11-01T15:32:48Z, until 2024-11-01T15:47:48Z`,
      },
      state: 'inFlight',
      nextLookTime: at(5.5),
      needsCleanUp: false,
      unreported: [],
      record: { attempt: { action: 'Replace' }, leftovers: { replacement: MADE } },
    });
    expect(look(given, 14.75).nextLookTime).toBe(at(15));
  });

  it.each<[string, Look, number, string]>([
    [
      'its NodeClaim is gone',
      GONE,
      5,
      `NodeClaim ${NAME} is gone: Karpenter has no capacity for it, or it was deleted`,
    ],
    [
      'its NodeClaim is being deleted',
      { claims: [claimOf(NODE), newClaim({ deletionTime: at(4) })] },
      5,
      `NodeClaim ${NAME} is gone: Karpenter has no capacity for it, or it was deleted`,
    ],
    ['its time is over without a Node', LAUNCHING, 15, `NodeClaim ${NAME} is not ready after 15m0s`],
    ['its time is over and its Node not ready', UNREADY, 15, `NodeClaim ${NAME} is not ready after 15m0s`],
  ])('has failed where %s: not taken, and the next action follows at once', (_, given, minute, why) => {
    const finding = look(given, minute);
    expect(finding).toMatchObject({
      needsCleanUp: true,
      state: 'followed',
      unreported: [{ kind: 'failedLaunch', attempt: { number: 1 }, why }],
      record: { incident: { type: 'Ready', taken: [], skippedLaunches: [KEY] } },
    });
    expect(finding.record?.attempt).toBeUndefined();
    expect(nextOf(finding)).toBe(TERMINATE);
  });

  it('that has failed launches nothing for a while where nothing follows', () => {
    const repair = someRepairInForce({ actions: ACTIONS.actions.slice(0, 1) });
    expect(look({ ...GONE, repair })).toMatchObject({
      verdict: {
        kind: 'blockedByNode',
        reason: 'ReplacementUnavailable',
        message: expect.stringContaining(`it is tried again at ${toTimestamp(at(10))}`),
      },
      nextLookTime: at(10),
      state: 'followed',
    });
  });

  it('that has failed twice is skipped once, and one without an incident leaves none', () => {
    const incident = { type: 'Ready', taken: [], skippedLaunches: ['Replace||1', KEY] };
    const again = look({ ...GONE, record: launching({ incident }) });
    expect(again.record?.incident?.skippedLaunches).toEqual(['Replace||1', KEY]);
    const { incident: _, ...none } = launching();
    expect(look({ ...GONE, record: none }).record?.incident?.skippedLaunches).toBeUndefined();
  });

  it('terminates after its time where somebody took its taint off: past the point of no return nothing is given up', () => {
    expect(look(RELEASED_UNREADY, 20)).toMatchObject({ verdict: { kind: 'due' }, attemptState: 'ended' });
    expect(look(RELEASED, 20)).toMatchObject({ verdict: { kind: 'due' } });
  });

  it('terminates at once where we took its taint off, whatever has become of its Node since', () => {
    const opened = { ...MADE, node: 'n2', releasedTime: at(4) };
    const record = launching({ leftovers: { replacement: opened } });
    expect(look({ ...RELEASED_UNREADY, record })).toMatchObject({ verdict: { kind: 'due' }, attemptState: 'ended' });
    const vetoed = look({ ...RELEASED_UNREADY, record }, 5, VETOED);
    expect(vetoed).toMatchObject({ verdict: { kind: 'vetoed' }, attemptState: 'ended' });
  });
});

describe('once its replacement is open, the repair', () => {
  /** As its attempt was stored: before the replacement was made. */
  const record = launching({ attempt: attempt({ replacement: { name: NAME } }) });
  const opened = look({ ...RELEASED, record }).record;
  const unmarked = { ...opened, leftovers: undefined } as NodeRecord;

  it('still knows it when its marks are gone, and terminates the node', () => {
    expect(opened?.attempt).toMatchObject({ replacement: { ...MADE, releasedTime: at(5) } });
    const finding = look({ ...RELEASED, record: unmarked }, 66);
    expect(finding.unreported).toEqual([]);
    expect(dueVerdictOf(finding)).toMatchObject({
      action: { type: 'Terminate', replacement: { ...MADE, node: 'new' } },
    });
  });

  it('does not blame its capacity where somebody has deleted it since', () => {
    expect(look({ ...GONE, record: unmarked }, 66).unreported).toMatchObject([
      { kind: 'failedLaunch', why: `NodeClaim ${NAME} is gone: it was deleted` },
    ]);
  });
});

describe('once it is ready, the repair', () => {
  it.each<[string, Look]>([
    ['reserved', READY_RESERVED],
    ['open', RELEASED],
  ])('terminates the node, whether the replacement is %s', (_, given) => {
    const finding = look(given);
    expect(dueVerdictOf(finding)).toMatchObject({
      action: {
        type: 'Terminate',
        timeout: 3_600_000,
        after: { type: 'Replace', key: KEY },
        replacement: { ...MADE, node: 'new' },
      },
      laterActions: [],
    });
    expect(dueVerdictOf(finding)?.unfinished).toBeUndefined();
    expect(finding).toMatchObject({
      attemptState: 'ended',
      state: 'followed',
      nextLookTime: at(5.5),
      needsCleanUp: false,
      record: { attempt: { action: 'Replace' } },
    });
  });

  it.each<[string, Look, object]>([
    [
      'a veto',
      {
        ...READY_RESERVED,
        claims: [claimOf(NODE, { annotations: { 'curfew.dev/do-not-repair': 'true' } }), newClaim()],
      },
      { verdict: { kind: 'vetoed' }, nextLookTime: at(10) },
    ],
    [
      'somebody else at work',
      { ...READY_RESERVED, externalRequests: new Map([['n1', 'a Lease']]) },
      { verdict: { kind: 'blockedByNode', reason: 'BeingDisrupted' }, nextLookTime: at(6) },
    ],
    [
      'a stopped instance',
      { ...READY_RESERVED },
      { verdict: { kind: 'ignore', reason: 'InstanceStopped' }, nextLookTime: at(10) },
    ],
  ])('keeps the replacement during %s', (what, given, expected) => {
    const stopped = [{ key: 'node.cloudprovider.kubernetes.io/shutdown', value: '' }];
    const node = what === 'a stopped instance' ? { ...NODE, taints: stopped } : NODE;
    const finding = look(given, 5, node);
    expect(finding.verdict?.message).toContain(`; its replacement, NodeClaim ${NAME}, is ready and kept until that`);
    expect(finding).toMatchObject({
      ...expected,
      attemptState: 'ended',
      needsCleanUp: false,
      unreported: [],
      record: { attempt: { action: 'Replace' }, leftovers: { replacement: MADE } },
    });
  });

  it('gives the replacement up where the list has no such action any more', () => {
    const finding = look({ ...READY_RESERVED, repair: someRepairInForce({ actions: [{ type: 'Terminate' }] }) });
    expect(finding).toMatchObject({
      needsCleanUp: true,
      unreported: [{ kind: 'failedLaunch', why: 'its list has no such action any more' }],
    });
    expect(nextOf(finding)).toBe(TERMINATE);
  });

  it('keeps it where only its timeout was edited, and once it is open whatever the list says', () => {
    const edited = someRepairInForce({ actions: [{ type: 'ReplaceThenTerminate', timeout: '30m' }] });
    expect(nextOf(look({ ...READY_RESERVED, repair: edited }))).toBe(KEY);
    const other = someRepairInForce({ actions: [{ type: 'Reboot' }] });
    for (const given of [RELEASED, RELEASED_UNREADY]) expect(nextOf(look({ ...given, repair: other }, 20))).toBe(KEY);
  });

  it('waits where the termination was refused, and tries it when that is over or rests on something else', () => {
    const refusal: Refusal = {
      cause: 'request',
      message: 'no',
      basis: 'b@uid-claim-n1',
      count: 1,
      firstTime: at(5),
      lastTime: at(5),
    };
    const basisOf = (claim: NodeClaimView | undefined) => `b@${claim?.uid ?? ''}`;
    const record = launching({ refusals: { [KEY]: refusal } });
    expect(look({ ...READY_RESERVED, record, basisOf })).toMatchObject({
      verdict: {
        kind: 'retry',
        node: { name: 'n1' },
        message: expect.stringContaining('; the termination was refused: it is tried again at 2024-11-01T15:38:48Z'),
      },
      nextLookTime: at(6),
      state: 'followed',
      needsCleanUp: false,
      record: { attempt: { action: 'Replace' } },
    });
    // Others may have had its slot: it takes one again.
    const again = look({ ...READY_RESERVED, record, basisOf }, 6);
    expect(nextOf(again)).toBe(KEY);
    expect(again.state).toBe('followed');
    expect(nextOf(look({ ...READY_RESERVED, record }))).toBe(KEY);
  });
});

describe('a node whose earlier replacement is in use', () => {
  const spent = remembered({
    leftovers: { replacement: MADE },
    acts: [{ key: KEY, action: 'Replace', time: at(-1) }],
  });
  const once = someRepairInForce({ actions: [{ type: 'ReplaceThenTerminate', timeout: '15m', attempts: 1 }] });
  const pause = { failures: 1, until: at(30) };

  it('goes for it without an attempt that is left, and while the pool launches nothing', () => {
    expect(nextOf(look({ ...RELEASED, repair: once, record: spent }))).toBe(KEY);
    expect(nextOf(look({ ...RELEASED, repair: once, record: { ...spent, acts: [] }, launchPause: pause }))).toBe(KEY);
    expect(look({ ...RELEASED_UNREADY, repair: once, record: spent }).verdict).toMatchObject({
      kind: 'blockedByNode',
      message: expect.stringContaining('is in use and not ready'),
    });
  });

  it('is at the end of its list where the replacement is not in use, and in Observe', () => {
    expect(look({ ...READY_RESERVED, repair: once, record: spent }).verdict).toMatchObject({ kind: 'exhausted' });
    const observed = { ...once, mode: 'Observe' } as const;
    expect(look({ ...RELEASED, repair: observed, record: spent }).verdict).toMatchObject({ kind: 'exhausted' });
  });

  it('has its other actions first', () => {
    const first = someRepairInForce({
      actions: [{ type: 'Reboot' }, { type: 'ReplaceThenTerminate', timeout: '15m' }],
    });
    expect(nextOf(look({ ...RELEASED, repair: first, record: spent }))).toBe('Reboot||600000');
  });
});

describe('a node that gets well meanwhile', () => {
  it.each<[string, Look, string]>([
    ['needs no replacement that is still reserved', READY_RESERVED, 'its replacement is not needed'],
    ['needs none that is launched', LAUNCHING, 'its replacement is not needed'],
    ['stays beside one that is open already', RELEASED, `NodeClaim ${NAME} stays beside it`],
  ])('%s', (_, given, words) => {
    const finding = look(given, 5, WELL);
    expect(finding).toMatchObject({
      verdict: {
        kind: 'recovered',
        node: { name: 'n1' },
        attempt: { number: 1 },
        message: `the node is well again while it was being replaced: ${words}`,
      },
      needsCleanUp: true,
      unreported: [],
    });
    expect(finding.record?.attempt).toBeUndefined();
    // It uses an attempt: a node that comes and goes launches no more than that (I11).
    expect(finding.record?.acts.map(({ key, action }) => [key, action])).toEqual([[KEY, 'Replace']]);
  });
});

describe('its replacement is known', () => {
  it.each<[string, Partial<NodeRecord>]>([
    ['by what is ours, where its attempt names another one', { attempt: attempt({ replacement: { name: 'before' } }) }],
    ['by its attempt, where nothing of ours is noted', { leftovers: undefined }],
  ])('%s', (_name, more) => {
    const record = launching(more);
    expect(look({ ...RELEASED, record }, 5, WELL).verdict).toMatchObject({
      message: expect.stringContaining(`NodeClaim ${NAME} stays beside it`),
    });
    expect(look({ ...LAUNCHING, record }).verdict).toMatchObject({ kind: 'underWay' });
  });
});

describe('I7 the replacement is taken back where', () => {
  it.each<[string, RepairInForce]>([
    ['mode is Observe', someRepairInForce(ACTIONS, { mode: 'Observe' })],
    ['the gate is closed', someRepairInForce(ACTIONS, { gateOpen: false })],
    ['no block applies any more', someRepairInForce({}, { settings: undefined })],
  ])('%s', (_, repair) => {
    const finding = look({ ...READY_RESERVED, repair });
    expect(finding.needsCleanUp).toBe(true);
    expect(finding.record?.attempt).toBeUndefined();
    expect(finding.unreported).toEqual([]);
  });

  it('not where the block cannot be read: a mistake stops nothing that was begun', () => {
    const repair = someRepairInForce({}, { settings: { invalid: 'a typo' } });
    expect(look({ ...READY_RESERVED, repair })).toMatchObject({
      verdict: { kind: 'refuse' },
      attemptState: 'ended',
      state: 'followed',
    });
    expect(look({ ...READY_RESERVED, repair }).record?.attempt).toMatchObject({ action: 'Replace' });
  });
});

describe('a launch of which no run said how it ended', () => {
  const ASKED = attempt({ phase: 'intended', replacement: { name: NAME } });

  it('I4 was carried out where its NodeClaim is there, known by its name and our mark', () => {
    const claim = newClaim({ nodeName: undefined, annotations: { 'curfew.dev/replaces': 'uid-n1' } });
    const record = launching({ attempt: ASKED, leftovers: { replacement: { name: NAME } } });
    const finding = look({ claims: [claimOf(NODE), claim], record });
    expect(finding).toMatchObject({
      unreported: [{ kind: 'carriedOut', attempt: { action: 'Replace' } }],
      verdict: { kind: 'underWay' },
      record: { attempt: { phase: 'accepted' }, leftovers: { replacement: { name: NAME, uid: 'uid-new' } } },
    });
  });

  it('I4 was not where its NodeClaim is not there, and is taken over', () => {
    const record = launching({ attempt: ASKED, leftovers: {} });
    const finding = look({ ...GONE, record });
    expect(finding.unreported).toEqual([]);
    expect(dueVerdictOf(finding)).toMatchObject({ action: { type: 'Replace' }, unfinished: { number: 1 } });
  });

  it('goes on with its replacement where the termination that follows was not carried out', () => {
    const terminate = anAttempt('n1', { phase: 'intended', key: KEY, time: NOW, replacement: MADE });
    const finding = look({ ...READY_RESERVED, record: launching({ attempt: terminate }) });
    expect(dueVerdictOf(finding)).toMatchObject({
      action: { after: { type: 'Replace', key: KEY }, replacement: { name: NAME } },
    });
    expect(finding.record?.attempt).toMatchObject({ action: 'Replace', phase: 'accepted' });
    expect(look({ ...GONE, record: launching({ attempt: terminate }) }).unreported).toMatchObject([
      { kind: 'failedLaunch' },
    ]);
  });
});
