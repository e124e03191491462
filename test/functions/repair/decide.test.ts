import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decide, type RepairObservation } from '../../../functions/repair/decide.ts';
import type { NodeCondition } from '../../../shared/domain/node.ts';
import type { RepairSettings } from '../../../shared/domain/repair-policy.ts';
import type { RepairAttempt, RepairRecord } from '../../../shared/domain/repair-record.ts';
import { hours, minutes, seconds, toEpochMs, type DurationMs, type EpochMs } from '../../../shared/domain/time.ts';
import { aCondition, aNode, aNodeClaim, anObservation, at, someSettings, T } from '../../builders/repair.ts';

const after = (duration: DurationMs): EpochMs => toEpochMs(T + duration);
const ANNOTATION = 'karpenter.sh/nodeclaim-termination-timestamp';

/** The design's pool: default 30m, Ready 45m, NetworkUnavailable 10m. */
const design = someSettings(
  { Ready: minutes(45), NetworkUnavailable: minutes(10) },
  { defaultToleration: minutes(30) },
);

/** When the rule repairs, found by asking it at each instant of interest: just before, and at, the expected one. */
function check(settings: RepairSettings, conditions: readonly NodeCondition[], expected: EpochMs | 'never'): void {
  const node = aNode(conditions);
  const ask = (now: EpochMs): string =>
    decide(
      anObservation({
        node,
        settings,
        now,
        surroundings: { nodeClaims: [aNodeClaim()], poolNodes: [node], scope: 'p' },
      }),
    ).kind;
  if (expected === 'never') {
    expect(ask(after(hours(1000)))).toBe('ignore');
    return;
  }
  expect(ask(toEpochMs(expected - 1))).toBe('tolerate');
  expect(ask(expected)).toBe('repair');
}

describe('resolution order and earliest due time', () => {
  const ready = (since = T): NodeCondition => aCondition('Ready', 'False', since);
  const network = (since = T): NodeCondition => aCondition('NetworkUnavailable', 'True', since);
  const cases: [string, RepairSettings, NodeCondition[], EpochMs | 'never'][] = [
    ['R1 the toleration of the condition type', design, [network()], at('2024-11-01T15:12:48Z')],
    ['R2 the toleration of Ready', design, [ready()], at('2024-11-01T15:47:48Z')],
    ['R3 an override is per type, whatever the status', design, [aCondition('Ready', 'Unknown')], after(minutes(45))],
    [
      'R4 the default of the block, which may lengthen',
      design,
      [aCondition('AcceleratedHardwareReady', 'False')],
      after(minutes(30)),
    ],
    [
      'R5 the default of the provider',
      someSettings({ Ready: minutes(45) }),
      [aCondition('AcceleratedHardwareReady', 'False')],
      after(minutes(10)),
    ],
    ['R6 an empty block', someSettings(), [ready()], after(minutes(30))],
    [
      'R8 a type that the provider does not watch',
      someSettings({ MyCondition: minutes(1) }),
      [aCondition('MyCondition', 'False')],
      'never',
    ],
    ['R9 another status', design, [aCondition('NetworkUnavailable', 'False')], 'never'],
    [
      'R10 the earliest due time, not the shortest toleration',
      design,
      [ready(), network(after(minutes(40)))],
      after(minutes(45)),
    ],
    ['R11 the earliest due time of the other', design, [ready(after(minutes(-40))), network()], after(minutes(5))],
    ['R12 a toleration of zero', someSettings({ Ready: minutes(0) }), [ready()], T],
    [
      'R16 two defaults of the provider',
      someSettings(),
      [ready(), aCondition('AcceleratedHardwareReady', 'False', after(minutes(25)))],
      after(minutes(30)),
    ],
    [
      'R17 a new status starts the clock again',
      someSettings(),
      [aCondition('Ready', 'False', after(minutes(10)))],
      after(minutes(40)),
    ],
    ['NetworkUnavailable without an override', someSettings(), [network()], after(minutes(30))],
    ['H18 an absent condition', someSettings(), [], 'never'],
    ['H3 a healthy status', someSettings(), [aCondition('Ready', 'True')], 'never'],
  ];
  it.each(cases)('%s', (_, settings, conditions, expected) => check(settings, conditions, expected));
});

describe('guards', () => {
  it('R7 leaves a pool without a repair block alone', () => {
    expect(decide(anObservation({ settings: undefined }))).toMatchObject({ kind: 'ignore', reason: 'NotConfigured' });
  });

  it('H26 does nothing while the feature gate is off', () => {
    expect(decide(anObservation({ gateOpen: false }))).toMatchObject({ kind: 'ignore', reason: 'GateOff' });
  });

  it('refuses to guess when the repair block is not valid', () => {
    expect(decide(anObservation({ settings: { invalid: 'NodePool default: bad' } }))).toEqual({
      kind: 'refuse',
      message: 'NodePool default: bad',
    });
  });

  it('I6 never repairs on a condition without a transition time, and says why', () => {
    const node = aNode([{ ...aCondition('Ready', 'False'), lastTransitionTime: undefined }]);
    expect(decide(anObservation({ node, now: after(hours(1000)) }))).toEqual({
      kind: 'ignore',
      reason: 'NoTransitionTime',
      message: expect.stringContaining('Ready=False'),
    });
  });

  it('I6 holds when the surroundings were not looked at', () => {
    expect(decide(anObservation({ surroundings: undefined }))).toMatchObject({
      kind: 'blocked',
      reason: 'NotObserved',
    });
  });

  it('ignores a node that has no NodeClaim', () => {
    const node = aNode([aCondition('Ready', 'False')]);
    const surroundings = { nodeClaims: [], poolNodes: [node], scope: 'p' };
    expect(decide(anObservation({ node, surroundings }))).toMatchObject({ kind: 'ignore', reason: 'NoNodeClaim' });
  });

  it('holds when two NodeClaims share the providerID', () => {
    const node = aNode([aCondition('Ready', 'False')]);
    const nodeClaims = [aNodeClaim(), aNodeClaim({ name: 'nc2', uid: 'uid-nc2' })];
    const decision = decide(anObservation({ node, surroundings: { nodeClaims, poolNodes: [node], scope: 'p' } }));
    expect(decision).toMatchObject({
      kind: 'blocked',
      reason: 'AmbiguousNodeClaim',
      message: expect.stringContaining('nc1, nc2'),
    });
  });
});

describe('unhealthy threshold of 20 %, rounded up', () => {
  // Karpenter's table (reference §5.5): pool size → most unhealthy nodes that still repair.
  const table: [number, number][] = [
    [1, 1],
    [2, 1],
    [3, 1],
    [4, 1],
    [5, 1],
    [6, 2],
    [7, 2],
    [8, 2],
    [9, 2],
    [10, 2],
    [11, 3],
    [15, 3],
    [16, 4],
    [20, 4],
    [21, 5],
    [25, 5],
    [26, 6],
    [100, 20],
    [101, 21],
  ];
  const pool = (size: number, unhealthy: number): RepairObservation => {
    const sick = aNode([aCondition('Ready', 'False')]);
    const poolNodes = Array.from({ length: size }, (_, index) =>
      index < unhealthy ? sick : aNode([aCondition('Ready', 'True')]),
    );
    return anObservation({
      node: sick,
      surroundings: { nodeClaims: [aNodeClaim()], poolNodes, scope: 'NodePool default' },
    });
  };
  it.each(table)('in a pool of %i repairs up to %i', (size, allowed) => {
    expect(decide(pool(size, allowed)).kind).toBe('repair');
    if (allowed < size) {
      expect(decide(pool(size, allowed + 1))).toMatchObject({
        kind: 'blocked',
        reason: 'UnhealthyThreshold',
        retryTime: after(minutes(35)),
        message: `${allowed + 1} of ${size} nodes of NodePool default are unhealthy, repair stops above ${allowed}`,
      });
    }
  });

  it('counts a node inside its toleration', () => {
    const fresh = aNode([aCondition('Ready', 'Unknown', after(minutes(29)))], { uid: 'uid-n2' });
    const sick = aNode([aCondition('Ready', 'False')]);
    const poolNodes = [sick, fresh, aNode([]), aNode([])];
    const decision = decide(
      anObservation({ node: sick, surroundings: { nodeClaims: [aNodeClaim()], poolNodes, scope: 'p' } }),
    );
    expect(decision).toMatchObject({ kind: 'blocked', reason: 'UnhealthyThreshold' });
  });

  it.each([
    [{ count: 0 }, 1, 'blocked'],
    [{ count: 3 }, 3, 'repair'],
    [{ count: 3 }, 4, 'blocked'],
    [{ percent: 0 }, 1, 'blocked'],
    [{ percent: 50 }, 5, 'repair'],
    [{ percent: 50 }, 6, 'blocked'],
  ] as const)('obeys maxUnhealthy %j with %i of 10 unhealthy: %s', (maxUnhealthy, unhealthy, kind) => {
    expect(decide({ ...pool(10, unhealthy), settings: someSettings({}, { maxUnhealthy }) }).kind).toBe(kind);
  });
});

describe('the forceful repair', () => {
  const surroundings = (claim: Parameters<typeof aNodeClaim>[0]): RepairObservation['surroundings'] => ({
    nodeClaims: [aNodeClaim(claim)],
    poolNodes: [aNode([aCondition('Ready', 'False')])],
    scope: 'p',
  });

  it('annotates with now and deletes, as attempt 1', () => {
    expect(decide(anObservation())).toMatchObject({
      kind: 'repair',
      annotate: true,
      deleteNodeClaim: true,
      attempt: { number: 1, nodeClaimUid: 'uid-nc1', phase: 'intended', terminationTimestamp: '2024-11-01T15:32:48Z' },
    });
  });

  it.each([
    ['H6 replaces a deadline in the future', '2024-11-01T16:32:48Z', true],
    ['H7 keeps a deadline in the past', '2024-11-01T14:00:00Z', false],
    ['replaces a deadline that does not parse', 'soon', true],
  ])('%s', (_, value, annotate) => {
    const decision = decide(anObservation({ surroundings: surroundings({ annotations: { [ANNOTATION]: value } }) }));
    expect(decision).toMatchObject({ kind: 'repair', annotate, deleteNodeClaim: true });
  });

  it('H23 turns a graceful termination into a forceful one without a second delete', () => {
    const claim = { deletionTime: T, annotations: { [ANNOTATION]: '2024-11-02T15:02:48Z' } };
    expect(decide(anObservation({ surroundings: surroundings(claim) }))).toMatchObject({
      kind: 'repair',
      annotate: true,
      deleteNodeClaim: false,
    });
  });

  it('waits for the node to go once the NodeClaim is terminated forcefully', () => {
    const claim = { deletionTime: T, annotations: { [ANNOTATION]: '2024-11-01T15:02:48Z' } };
    expect(decide(anObservation({ surroundings: surroundings(claim) }))).toMatchObject({ kind: 'finishing' });
  });
});

describe('attempts of other runs', () => {
  const incident = {
    conditionType: 'Ready',
    conditionStatus: 'False',
    lastTransitionTime: T,
    dueTime: after(minutes(30)),
  };
  const attempt: RepairAttempt = {
    number: 1,
    nodeClaimName: 'nc1',
    nodeClaimUid: 'uid-nc1',
    phase: 'intended',
    intendedTime: after(minutes(30)),
    terminationTimestamp: '2024-11-01T15:32:48Z',
  };
  const record: RepairRecord = { incident, attempt };

  it('I4 waits until a call of the other run must have had its outcome', () => {
    const now = toEpochMs(after(minutes(30)) + seconds(59));
    expect(decide(anObservation({ record, now }))).toMatchObject({
      kind: 'settle',
      until: toEpochMs(after(minutes(30)) + seconds(60)),
    });
  });

  it('I4 begins a new attempt after looking, when the NodeClaim is untouched', () => {
    const now = toEpochMs(after(minutes(30)) + seconds(60));
    expect(decide(anObservation({ record, now }))).toMatchObject({
      kind: 'repair',
      attempt: { number: 2, intendedTime: now },
    });
  });

  // The attempt before may have set its annotation and no more; with a timestamp of its own the new one would not know it as ours,
  // and leave it on the NodeClaim when the node recovers: the next graceful deletion would be a forceful one.
  it('I7 keeps the timestamp of the attempt before, for the same NodeClaim alone', () => {
    const now = toEpochMs(after(minutes(30)) + seconds(60));
    expect(decide(anObservation({ now, record }))).toMatchObject({
      attempt: { number: 2, terminationTimestamp: attempt.terminationTimestamp },
    });
    const another = { ...attempt, nodeClaimUid: 'uid-of-another' };
    expect(decide(anObservation({ now, record: { incident, attempt: another } }))).toMatchObject({
      attempt: { number: 2, terminationTimestamp: '2024-11-01T15:33:48Z' },
    });
  });

  it('goes on with the attempt that this run reserved', () => {
    expect(decide(anObservation({ record, ownsAttempt: true }))).toMatchObject({ kind: 'repair', attempt });
  });

  it('a recovered node is left alone, whatever was intended', () => {
    const node = aNode([aCondition('Ready', 'True', after(minutes(30)))]);
    expect(decide(anObservation({ node, record, ownsAttempt: true }))).toMatchObject({
      kind: 'ignore',
      reason: 'Healthy',
    });
  });
});

describe('mode Observe', () => {
  it('reports once per incident and never repairs', () => {
    const first = decide(anObservation({ observeOnly: true }));
    expect(first).toMatchObject({ kind: 'wouldRepair', alreadyReported: false });
    if (first.kind !== 'wouldRepair') throw new Error('unreachable');
    const record: RepairRecord = { incident: first.incident, reported: true };
    expect(decide(anObservation({ observeOnly: true, record }))).toMatchObject({
      kind: 'wouldRepair',
      alreadyReported: true,
    });
  });
});

describe('properties', () => {
  const conditions = fc.array(
    fc.record({
      type: fc.constantFrom('Ready', 'NetworkUnavailable', 'StorageReady', 'AcceleratedHardwareReady', 'Other'),
      status: fc.constantFrom('True', 'False', 'Unknown', ''),
      reason: fc.string(),
      message: fc.string(),
      lastTransitionTime: fc.option(fc.integer({ min: 0, max: 10_000_000 }).map(toEpochMs), { nil: undefined }),
    }),
    { maxLength: 6 },
  );
  const instants = fc.integer({ min: 0, max: 20_000_000 });

  it('I3 is monotone: with nothing else changed, a later look never goes back to tolerating', () => {
    fc.assert(
      fc.property(conditions, instants, instants, (list, a, b) => {
        const node = aNode(list);
        const surroundings = { nodeClaims: [aNodeClaim()], poolNodes: [node], scope: 'p' };
        const ask = (now: number): string => decide(anObservation({ node, surroundings, now: toEpochMs(now) })).kind;
        if (ask(Math.min(a, b)) === 'repair') expect(ask(Math.max(a, b))).toBe('repair');
      }),
    );
  });

  it('I3 never repairs before any condition has outlasted its toleration', () => {
    fc.assert(
      fc.property(conditions, instants, (list, now) => {
        const node = aNode(list);
        const surroundings = { nodeClaims: [aNodeClaim()], poolNodes: [node], scope: 'p' };
        const decision = decide(anObservation({ node, surroundings, now: toEpochMs(now) }));
        if (decision.kind !== 'repair') return;
        const shortest = Math.min(...list.map(condition => condition.lastTransitionTime ?? Infinity)) + minutes(10);
        expect(now).toBeGreaterThanOrEqual(shortest);
      }),
    );
  });
});
