/** What is done in place: what is said of it, when it has helped, and what follows it. */
import { describe, expect, it } from 'vitest';
import { dueVerdictOf } from '../../../../../functions/repair/node/rule/finding.ts';
import type { ActionAnswer, Attempt } from '../../../../../functions/repair/node/attempt-record.ts';
import type { NodeRecord } from '../../../../../functions/repair/node/record.ts';
import type { RepairInForce } from '../../../../../functions/repair/node/rule/settings-in-force.ts';
import type { NodeView } from '../../../../../shared/domain/node.ts';
import { ACTED, look, nextOf, refused, VETOED, WELL } from '../../../../builders/attempt-look.ts';
import { at } from '../../../../builders/pool.ts';
import { anAttempt, someRepairInForce } from '../../../../builders/repair.ts';

describe('a request of which no run said whether it was made', () => {
  it.each([
    ['Drain', { actions: [{ type: 'DrainThenTerminate', timeout: '20m' }] }, 'Drain||1200000'],
    [
      'CustomResource',
      { actions: [{ type: 'CustomResource', template: 'fix.yaml', timeout: '20m' }, { type: 'Terminate' }] },
      'CustomResource|fix.yaml|1200000',
    ],
  ] as const)('%s is made again: it has an id of its own', (action, block, key) => {
    const attempt = anAttempt('n1', { action, key, phase: 'intended', requestId: 'r1', time: ACTED });
    const repair = someRepairInForce(JSON.parse(JSON.stringify(block)) as never);
    const finding = look(attempt, { repair, more: refused(key, 3, 'another') });
    expect(finding.unreported).toEqual([]);
    expect(dueVerdictOf(finding)).toMatchObject({ action: { type: action }, unfinished: { requestId: 'r1' } });
  });

  it('I7 has what it may have made taken back where it was refused since', () => {
    const actions = [{ type: 'DrainThenTerminate', timeout: '20m' }];
    const key = 'Drain||1200000';
    const attempt = anAttempt('n1', { action: 'Drain', key, phase: 'intended', requestId: 'r1', time: ACTED });
    const finding = look(attempt, { repair: someRepairInForce({ actions }), more: refused(key, 3) });
    expect(finding).toMatchObject({ needsCleanUp: true, state: 'followed', record: { leftovers: { drain: 'r1' } } });
    expect(finding.record?.attempt).toBeUndefined();
  });

  it('I4 counts as made where it was a reboot, and is remembered although the block cannot be read', () => {
    const reboot = { action: 'Reboot', key: 'Reboot||600000', phase: 'intended', bootID: 'boot-1' } as const;
    const repair = someRepairInForce({}, { settings: { invalid: 'a typo' } });
    expect(look(anAttempt('n1', { ...reboot, time: ACTED }), { repair })).toMatchObject({
      unreported: [{ kind: 'carriedOut' }],
      record: { acts: [{ key: 'Reboot||600000', action: 'Reboot', time: ACTED, bootID: 'boot-1' }] },
    });
  });
});

describe('what is done in place', () => {
  const list = [{ type: 'Reboot', timeout: '10m' }, { type: 'Terminate' }];
  const rebooting: RepairInForce = someRepairInForce({ actions: list });
  const until = at(10);
  const REBOOT = anAttempt('n1', { action: 'Reboot', key: 'Reboot||600000', bootID: 'boot-1', time: ACTED, until });
  const NO_BOOT = anAttempt('n1', { action: 'Reboot', key: 'Reboot||600000', time: ACTED, until });
  const fixing = someRepairInForce({ actions: [{ type: 'CustomResource', template: 'a', timeout: '10m' }, ...list] });
  const FIX = anAttempt('n1', { action: 'CustomResource', key: 'CustomResource|a|600000', time: ACTED, until });
  const draining = someRepairInForce({ actions: [{ type: 'DrainThenTerminate', timeout: '20m' }] });
  const DRAIN = anAttempt('n1', {
    action: 'Drain',
    key: 'Drain||1200000',
    requestId: 'r1',
    time: ACTED,
    until: at(20),
  });

  it.each<[string, Attempt, typeof list]>([
    ['a reboot', REBOOT, list],
    ['a drain', DRAIN, [{ type: 'DrainThenTerminate', timeout: '20m' }]],
  ])('%s has not helped where the condition still stands, and nothing counts it any more', (_, attempt, actions) => {
    const repair = someRepairInForce({
      actions: [...actions],
      policies: [{ conditionType: 'Ready', toleration: 'Never' }],
    });
    const finding = look(attempt, { repair }, 12);
    expect(finding).toMatchObject({
      verdict: { kind: 'ignore', message: 'no condition of the node counts as unhealthy' },
      needsCleanUp: true,
    });
    expect(finding.record?.attempt).toBeUndefined();
  });

  it('is under way until its time is over, and looked at every five minutes', () => {
    expect(look(REBOOT, { repair: rebooting }, 2)).toMatchObject({
      verdict: { kind: 'underWay', node: { name: 'n1' }, message: expect.stringContaining('Reboot is under way') },
      nextLookTime: at(7),
      state: 'inFlight',
    });
    expect(look(REBOOT, { repair: rebooting }).nextLookTime).toBe(until);
  });

  it.each<[string, Attempt, NodeView, string, boolean]>([
    ['by another boot ID', REBOOT, { ...WELL, bootID: 'boot-2' }, 'after Reboot (boot ID boot-2)', true],
    ['by no boot ID', REBOOT, { ...WELL, bootID: undefined }, 'after Reboot (boot ID none)', true],
    ['with none known before', NO_BOOT, { ...WELL, bootID: 'boot-2' }, 'after Reboot', true],
    ['with none known at all', NO_BOOT, { ...WELL, bootID: undefined }, 'after Reboot', false],
    ['during a drain', DRAIN, WELL, 'during Drain', false],
    ['during a custom resource', FIX, WELL, 'during CustomResource', false],
  ])('has helped %s: it is said, taken back, and a reboot ends the incident', (_, attempt, node, words, isOver) => {
    const finding = look(attempt, { repair: rebooting, node });
    expect(finding).toMatchObject({
      verdict: {
        kind: 'recovered',
        node: { name: 'n1' },
        attempt: { action: attempt.action },
        message: `the node is well again ${words}`,
      },
      needsCleanUp: true,
      // What has mended a node is known for as long as its recovery may settle others.
      state: isOver ? 'idle' : 'followed',
    });
    expect(finding.record?.attempt).toBeUndefined();
    expect(finding.record?.incident === undefined).toBe(isOver);
  });

  it.each<[string, Attempt, string | undefined, string | undefined]>([
    // Its node has pods again.
    ['a drain', DRAIN, DRAIN.key, DRAIN.key],
    ['a custom resource', FIX, FIX.key, undefined],
    ['a reboot', NO_BOOT, undefined, undefined],
  ])('%s counts as interrupted where the node was well before its use', (_, attempt, early, late) => {
    expect(look(attempt, { repair: rebooting, node: WELL }).record?.incident?.interrupted).toBe(early);
    expect(look(attempt, { repair: rebooting, node: WELL }, 30).record?.incident?.interrupted).toBe(late);
  });

  it('has an end where the machine never reboots and the node is well', () => {
    const finding = look(REBOOT, { repair: rebooting, node: WELL }, 10);
    expect(finding.verdict).toMatchObject({
      kind: 'recovered',
      message: 'the node is well again after Reboot, although its boot ID is the same as before',
    });
    expect(finding.record?.incident).toMatchObject({ taken: [REBOOT.key] });
    expect(look(REBOOT, { repair: rebooting, node: WELL }, 9).verdict).toBeUndefined();
  });

  it('is followed by the next action once its time is over, and blocks nobody by itself', () => {
    const finding = look(REBOOT, { repair: rebooting }, 10);
    expect(nextOf(finding)).toBe('Terminate||3600000');
    expect(finding).toMatchObject({
      attemptState: 'ended',
      state: 'followed',
      needsCleanUp: false,
      record: { attempt: { action: 'Reboot' } },
    });
  });

  it.each<[string, Partial<NodeRecord>, RepairInForce, object]>([
    [
      'its successor was refused',
      refused('Terminate||3600000', 9),
      rebooting,
      { verdict: { kind: 'retry' }, state: 'followed' },
    ],
    [
      'nothing follows it',
      {},
      someRepairInForce({ actions: list.slice(0, 1) }),
      { verdict: { kind: 'exhausted' }, state: 'followed' },
    ],
  ])('blocks nobody where %s', (_, more, repair, expected) => {
    expect(look(REBOOT, { repair, more }, 10)).toMatchObject(expected);
  });

  it('blocks nobody while a person forbids what follows', () => {
    expect(look(REBOOT, { repair: rebooting, node: VETOED }, 10)).toMatchObject({
      verdict: { kind: 'vetoed' },
      state: 'followed',
    });
  });

  it('I7 opens the node again once it is over, where it had closed it', () => {
    for (const [leftovers, expected] of [
      [{ maintenance: true }, true],
      [{ drain: 'r1' }, false],
      [undefined, false],
    ] as const) {
      const more = { ...(leftovers && { leftovers }) };
      expect(look(REBOOT, { repair: rebooting, more }, 10).needsCleanUp).toBe(expected);
      const closed = someRepairInForce({ actions: list }, { gateOpen: false });
      expect(look(REBOOT, { repair: closed, more }, 10).needsCleanUp).toBe(expected);
    }
  });

  it('waits after its time while the gate is closed', () => {
    const closed = someRepairInForce({ actions: list }, { gateOpen: false });
    const finding = look(REBOOT, { repair: closed }, 10);
    expect(finding).toMatchObject({
      state: 'followed',
      nextLookTime: at(15),
      record: { attempt: { action: 'Reboot' } },
    });
    expect(finding.verdict).toBeUndefined();
  });

  it('by a custom resource goes on in mode Observe, and so does a drain whose time is over', () => {
    const observed = { mode: 'Observe' } as const;
    expect(look(FIX, { repair: { ...fixing, ...observed } })).toMatchObject({ state: 'inFlight', needsCleanUp: false });
    const over = look(DRAIN, { repair: { ...draining, ...observed } }, 20);
    expect(nextOf(over)).toBe('Terminate||3600000');
    const called = look(DRAIN, { repair: { ...draining, ...observed } }, 19);
    expect(called).toMatchObject({
      needsCleanUp: true,
      record: { incident: { taken: [] }, leftovers: { drain: 'r1' } },
    });
  });

  describe('by a drain', () => {
    const end = (requestId: string, kind: ActionAnswer['kind'] = 'succeeded') => ({
      drainEnds: new Map([['uid-n1', { requestId, answer: { kind, message: 'told' } }]]),
    });

    it('is over when its own request has ended, and not when another one has', () => {
      const own = look(DRAIN, { repair: draining, ...end('r1') });
      expect(nextOf(own)).toBe('Terminate||3600000');
      expect(own.record?.attempt).toMatchObject({ answer: { kind: 'succeeded', message: 'told' } });
      expect(look(DRAIN, { repair: draining, ...end('r2') }).verdict).toMatchObject({ kind: 'underWay' });
    });

    it('is not answered by the end of a drain where something else is under way', () => {
      const custom = { ...FIX, requestId: 'r1' } as Attempt;
      expect(look(custom, { repair: fixing, ...end('r1') }).verdict).toMatchObject({ kind: 'underWay' });
    });

    it('that a person has stopped is followed by nothing', () => {
      expect(look(DRAIN, { repair: draining, ...end('r1', 'stopped') })).toMatchObject({
        verdict: {
          kind: 'exhausted',
          node: { name: 'n1' },
          message: 'Drain is over: told; the node is left alone until it is well again',
        },
        nextLookTime: at(10),
        state: 'followed',
        needsCleanUp: false,
      });
    });
  });

  describe('by the drain before a reboot', () => {
    const own = someRepairInForce({ terminationGracePeriod: '5m', actions: list });
    const BEFORE = anAttempt('n1', {
      action: 'Drain',
      key: 'Drain before Reboot||600000',
      requestId: 'r1',
      time: ACTED,
      until: at(5),
    });

    it('leads to the reboot', () => {
      const finding = look(BEFORE, { repair: own });
      expect(nextOf(finding)).toBe('Reboot||600000');
      expect(finding).toMatchObject({
        attemptState: 'ended',
        needsCleanUp: false,
        record: { attempt: { action: 'Drain' } },
      });
    });

    it('is over, with its cordon, where something else follows', () => {
      const repair = someRepairInForce({ terminationGracePeriod: '5m', actions: list.slice(1) });
      const more = { leftovers: { maintenance: true } as const };
      const finding = look(BEFORE, { repair, more });
      expect(nextOf(finding)).toBe('Terminate||3600000');
      expect(finding).toMatchObject({
        attemptState: 'ended',
        needsCleanUp: true,
        record: { leftovers: { drain: 'r1' } },
      });
      expect(finding.record?.attempt).toBeUndefined();
    });

    it('is called off where nothing may follow, and begins anew when it may', () => {
      const finding = look(BEFORE, { repair: own, node: VETOED });
      expect(finding).toMatchObject({
        verdict: { kind: 'vetoed' },
        needsCleanUp: true,
        record: { incident: { taken: [] }, leftovers: { drain: 'r1' } },
      });
      expect(finding.record?.attempt).toBeUndefined();
    });

    it('waits for a reboot that was refused', () => {
      const actions = list.slice(0, 1);
      const repair = someRepairInForce({ terminationGracePeriod: '5m', actions });
      const finding = look(BEFORE, { repair, more: refused('Reboot||600000', 4) });
      expect(finding).toMatchObject({ verdict: { kind: 'retry' }, state: 'followed' });
      expect(finding.record?.attempt).toMatchObject({ action: 'Drain' });
    });

    it('is called off also after its time where repair does not act any more: the node stays cordoned for no reboot', () => {
      const repair = { ...own, mode: 'Observe' } as const;
      expect(look(BEFORE, { repair }, 5)).toMatchObject({ needsCleanUp: true, record: { leftovers: { drain: 'r1' } } });
    });
  });
});
