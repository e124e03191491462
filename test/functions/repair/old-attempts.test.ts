/** What earlier versions stored goes on as it would have: nothing is repeated, and nothing is forgotten. */
import { describe, expect, it } from 'vitest';
import { newNode } from '../../../functions/repair/node/rule/attempt.ts';
import { mergeOldAttempt, isNothingLeft } from '../../../functions/repair/old-attempts.ts';
import { keyOf, ladderOf } from '../../../functions/repair/node/rule/ladder.ts';
import { nextAction } from '../../../functions/repair/node/rule/next-action.ts';
import { NODE_CODEC, POOL_CODEC } from '../../../functions/repair/record.ts';
import type { OldAttempt } from '../../../functions/repair/stored-versions.ts';
import type { JsonObject } from '../../../shared/domain/kubernetes-object.ts';
import { addDuration, hours, minutes } from '../../../shared/domain/time.ts';
import { anAttempt, someSettings, T } from '../../builders/repair.ts';
import { RECORD_TYPES, storedState } from '../../fixtures/items/record-types.ts';

const RUNGS = ladderOf(
  someSettings({
    actions: [
      { type: 'Reboot', timeout: '10m' },
      { type: 'DrainThenTerminate', timeout: '20m' },
    ],
  }),
);
const [REBOOT, DRAIN, TERMINATE] = RUNGS.map(keyOf) as [string, string, string];

const old = (overrides: Partial<OldAttempt>): OldAttempt => ({
  number: 3,
  phase: 'accepted',
  intendedTime: T,
  node: { name: 'n1', uid: 'uid-n1' },
  claim: { name: 'c1', uid: 'uid-c1' },
  incident: { conditionType: 'Ready', conditionStatus: 'False', lastTransitionTime: T, dueTime: T },
  rung: 0,
  action: 'Reboot',
  until: addDuration(T, minutes(10)),
  ...overrides,
});
const move = (overrides: Partial<OldAttempt>, ladder = RUNGS) =>
  mergeOldAttempt(newNode('n1', 'default'), old(overrides), ladder);

/** Whose turn it is once what is under way is over. */
const next = (overrides: Partial<OldAttempt>, ladder = RUNGS): string => {
  const { incident, acts, refusals } = move(overrides, ladder);
  const turn = nextAction(
    { ladder, taken: incident?.taken ?? [], acts, refusals, basis: '' },
    addDuration(T, hours(1)),
  );
  return turn.kind === 'next' ? keyOf(turn.action) : turn.kind;
};

describe('an attempt of before', () => {
  it.each<[string, Partial<OldAttempt>, string]>([
    ['accepted at the first action: the second follows', { rung: 0 }, DRAIN],
    ['accepted at the second: the third follows', { rung: 1, action: 'Drain' }, TERMINATE],
    ['accepted at the last: none follows', { rung: 2, action: 'Terminate' }, 'exhausted'],
    [
      'intended: its own turn comes again, once looking shows that it was not carried out',
      { phase: 'intended' },
      REBOOT,
    ],
    ['intended at the second: not the first again', { phase: 'intended', rung: 1, action: 'Drain' }, DRAIN],
    ['refused: its own turn comes again', { phase: 'refused', rung: 1, action: 'Drain' }, DRAIN],
    ['called off: its own turn comes again', { rung: 1, action: 'Drain', notTaken: true }, DRAIN],
    ['observed after a reboot that was carried out: what follows that', { phase: 'observed', rung: 2, action: 'Terminate', carriedOut: { rung: 0, action: 'Reboot' } }, DRAIN], // prettier-ignore
    ['observed alone: the first', { phase: 'observed', rung: 1, action: 'Drain' }, REBOOT],
  ])('%s', (_, overrides, expected) => {
    expect(next(overrides)).toBe(expected);
  });

  it('at an action that is not in the list any more leaves the list to begin', () => {
    const other = ladderOf(someSettings({ actions: [{ type: 'Terminate', timeout: '1h' }] }));
    expect(next({ rung: 0, action: 'Reboot' }, other)).toBe('Terminate||3600000');
    expect(move({ rung: 0, action: 'Reboot' }, other).attempt).toMatchObject({ action: 'Reboot', phase: 'accepted' });
  });

  it('under way goes on with its times, number and what it is known by', () => {
    const answer = { kind: 'failed', message: 'no' } as const;
    expect(move({ rung: 1, action: 'Drain', requestId: 'r1', answer }).attempt).toMatchObject({
      requestId: 'r1',
      answer,
    });
    expect(move({ bootID: 'boot-1' })).toMatchObject({
      number: 3,
      attempt: {
        number: 3,
        phase: 'accepted',
        time: T,
        until: addDuration(T, minutes(10)),
        key: REBOOT,
        bootID: 'boot-1',
      },
      acts: [{ key: REBOOT, action: 'Reboot', time: T, bootID: 'boot-1' }],
    });
    const intended = move({ phase: 'intended', rung: 1, action: 'Drain', requestId: 'r1' });
    expect(intended).toMatchObject({
      attempt: { phase: 'intended', requestId: 'r1' },
      leftovers: { drain: 'r1' },
      acts: [],
    });
  });

  it.each<[string, Partial<OldAttempt>]>([
    ['observed', { phase: 'observed' }],
    ['refused', { phase: 'refused' }],
    ['called off', { notTaken: true }],
    ['left', { isLeft: true }],
  ])('that was %s is none any more', (_, overrides) => {
    expect(move(overrides).attempt).toBeUndefined();
    expect(move(overrides).acts).toEqual([]);
  });

  it('I7: what it has made or set is still known as ours', () => {
    const resources = [{ group: 'g', version: 'v1', resource: 'fixes', name: 'n1', uid: 'uid-f' }];
    const mayHaveMade = [{ group: 'g', version: 'v1', resource: 'fixes', name: 'n2' }];
    expect(move({ isLeft: true, action: 'CustomResource', resources, mayHaveMade }).leftovers).toEqual({
      resources,
      mayHaveMade,
    });
    const set = { action: 'Terminate', rung: 2, terminationTimestamp: '2024-11-01T15:00:00Z' } as const;
    expect(move({ ...set, phase: 'refused', previousTimestamp: 'x' }).leftovers?.annotation).toEqual({
      claim: { name: 'c1', uid: 'uid-c1' },
      set: '2024-11-01T15:00:00Z',
      previous: 'x',
    });
    expect(move(set).attempt).toMatchObject({
      pods: { kind: 'none', annotation: { set: '2024-11-01T15:00:00Z' } },
    });
  });

  it('of a node that is gone is over, unless something of it is left', () => {
    expect(isNothingLeft(old({}), new Set())).toBe(true);
    expect(isNothingLeft(old({}), new Set(['uid-n1']))).toBe(false);
    expect(isNothingLeft(old({ mayHaveMade: [] }), new Set())).toBe(false);
  });
});

describe('a stored record of any version', () => {
  const versions = (name: string) =>
    [1, 2, 3, 4].flatMap(version => {
      const file = `${name}-v${version}.json`;
      try {
        return [[file, storedState(file)] as const];
      } catch {
        return [];
      }
    });

  it.each(versions('repair-pool'))(
    '%s: each attempt is in flight or over, and the guards keep their memory',
    (_, state) => {
      const pool = POOL_CODEC.parse(state);
      const attempts = Array.isArray(state['attempts']) ? state['attempts'].length : 0;
      const left = Array.isArray(state['left']) ? state['left'].length : 0;
      expect(pool.oldAttempts).toHaveLength(attempts + left);
      expect(pool).toMatchObject({
        blockingGuards: state['outages'],
        terminations: state['repairs'],
        ramp: state['ramp'],
      });
      const under = pool.oldAttempts?.filter(({ phase, isLeft }) => phase !== 'observed' && isLeft !== true) ?? [];
      expect(Object.keys(pool.inFlight).toSorted()).toEqual(under.map(({ node }) => node.uid).toSorted());
      // What is not carried over yet is stored again as it is.
      expect(POOL_CODEC.parse(POOL_CODEC.toState(pool))).toEqual(pool);
    },
  );

  it.each(versions('repair-node'))('%s: the clock of its condition runs on', (_, state) => {
    const node = NODE_CODEC.parse(state);
    const condition = state['incident'] as {
      conditionType: string;
      conditionStatus: string;
      lastTransitionTime: number;
    };
    if (state['clocks'] === undefined) {
      expect(node.onsets).toEqual({
        [`${condition.conditionType}=${condition.conditionStatus}`]: {
          start: condition.lastTransitionTime,
          stated: condition.lastTransitionTime,
        },
      });
      expect(node.episodes).toEqual(state['episodes'] ?? []);
    }
    expect(NODE_CODEC.parse(NODE_CODEC.toState(node))).toEqual(node);
  });

  it('keeps the names of the store', () => {
    const incident = { type: 'Ready', taken: [], healthySince: T };
    const dueCondition = { conditionType: 'Ready', conditionStatus: 'False', lastTransitionTime: T, dueTime: T };
    const node = { ...newNode('n1', 'default'), incident, attempt: anAttempt('n1', { dueCondition }) };
    expect(NODE_CODEC.toState(node)).toMatchObject({
      illness: { type: 'Ready', wellTime: T },
      attempt: { incident: { conditionType: 'Ready' } },
    });
    expect(NODE_CODEC.parse(NODE_CODEC.toState(node))).toEqual(node);
  });

  it.each([{ set: '2024-11-01T15:32:48Z' }, { set: '2024-11-01T15:32:48Z', previous: '2024-11-01T18:00:00Z' }])(
    'keeps the annotation of an attempt as two fields beside each other: %j',
    annotation => {
      const pods = { kind: 'until', time: T, annotation } as const;
      const node = { ...newNode('n1', 'default'), attempt: anAttempt('n1', { pods }) };
      const stored = NODE_CODEC.toState(node)['attempt'];
      expect(stored).toMatchObject({ terminationTimestamp: annotation.set, podsUntil: T });
      expect(stored).not.toHaveProperty('pods');
      expect((stored as Record<string, unknown>)['previousTimestamp']).toBe(annotation.previous);
      expect(NODE_CODEC.parse(NODE_CODEC.toState(node))).toEqual(node);
    },
  );

  const { attempt: STORED = {}, ...without } = NODE_CODEC.toState({
    ...newNode('n1', 'default'),
    attempt: anAttempt('n1', { pods: { kind: 'unbounded' } }),
  });
  const read = (more: JsonObject) => {
    const node = NODE_CODEC.parse({ ...without, attempt: { ...(STORED as JsonObject), ...more } });
    expect(NODE_CODEC.parse(NODE_CODEC.toState(node))).toEqual(node);
    return node.attempt;
  };
  const SET = { terminationTimestamp: '2024-11-01T15:32:48Z' };
  const annotation = { set: '2024-11-01T15:32:48Z' };

  it.each<[string, JsonObject, object]>([
    ['neither: they are waited for', {}, { kind: 'unbounded' }],
    ['an annotation alone: they go at once', SET, { kind: 'none', annotation }],
    ['a time alone', { podsUntil: T }, { kind: 'until', time: T }],
    ['both', { ...SET, podsUntil: T }, { kind: 'until', time: T, annotation }],
  ])('reads the time of the pods of a termination by what stands there: %s', (_, stored, pods) => {
    expect(read(stored)).toMatchObject({ action: 'Terminate', claim: { name: 'claim-n1' } });
    expect(read(stored)).toHaveProperty('pods', pods);
  });

  it('tells the end of an instance by its lack of a NodeClaim, and takes none that cannot be read for it', () => {
    const { claim: _, ...instance } = STORED as JsonObject;
    const node = NODE_CODEC.parse({ ...without, attempt: { ...instance, askTime: T } });
    expect(node.attempt).toMatchObject({ action: 'Terminate', askTime: T });
    expect(NODE_CODEC.toState(node)['attempt']).toEqual({ ...instance, askTime: T });
    expect(() => read({ claim: { name: 'claim-n1' } })).toThrow('Invalid input');
  });

  it('takes a launch of which an earlier version noted nothing for none: it launched nothing', () => {
    expect(read({ action: 'Replace' })).toBeUndefined();
    expect(read({ action: 'Replace', replacement: { name: 'r' } })).toMatchObject({ replacement: { name: 'r' } });
  });

  it('has samples of each', () => {
    const names = RECORD_TYPES.filter(({ codec }) => codec.owner === 'repair').map(({ name }) => name);
    expect(names).toEqual(expect.arrayContaining(['repair-node', 'repair-pool', 'concurrent-repairs']));
    expect(versions('repair-pool')).toHaveLength(4);
    expect(versions('repair-node')).toHaveLength(3);
  });
});
