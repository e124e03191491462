import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { aCondition, aNode, aNodeClaim, at, SICK, someRepairInForce, T } from '../../../builders/repair.ts';
import { decideNode, type NodeObservation } from '../../../../functions/repair/node/decide.ts';
import { judgeHealth } from '../../../../functions/repair/node/rule/health.ts';
import { onsetsOf } from '../../../../functions/repair/node/rule/onset.ts';
import type { JsonObject } from '../../../../shared/domain/kubernetes-object.ts';
import { hasDeadlineBy } from '../../../../shared/domain/node-claim.ts';
import type { NodeCondition, NodeView } from '../../../../shared/domain/node.ts';
import {
  type DurationMs,
  type EpochMs,
  hours,
  latest,
  minutes,
  toEpochMs,
  toTimestamp,
} from '../../../../shared/domain/time.ts';

const after = (duration: DurationMs): EpochMs => toEpochMs(T + duration);
const ANNOTATION = 'karpenter.sh/nodeclaim-termination-timestamp';

/** What becomes of a node that was never looked at before. */
function decide(given: Partial<NodeObservation>): ReturnType<typeof decideNode> {
  const { node = aNode([SICK]), repair = someRepairInForce(), now = after(minutes(30)) } = given;
  return decideNode({
    owner: { kind: 'claim', claim: aNodeClaim() },
    health: judgeHealth(node, { now, repair, record: undefined, episodes: [] }),
    ...given,
    node,
    repair,
    now,
  });
}

/** The design's pool: default 30m, Ready 45m, NetworkUnavailable 10m. */
const design: JsonObject = {
  defaultTolerationDuration: '30m',
  policies: [
    { conditionType: 'Ready', toleration: '45m' },
    { conditionType: 'NetworkUnavailable', toleration: '10m' },
  ],
};

/** When a node that was looked at as it became unhealthy is due: the rule is asked just before, and at, the expected instant. */
function check(block: JsonObject, conditions: readonly NodeCondition[], expected: EpochMs | 'never'): void {
  const repair = someRepairInForce(block);
  const node = aNode(conditions);
  const first = conditions.flatMap(({ lastTransitionTime }) => lastTransitionTime ?? []).reduce(latest, T);
  const onsets = onsetsOf(judgeHealth(node, { now: first, repair, record: undefined, episodes: [] }).unhealthy);
  const ask = (now: EpochMs): string =>
    decide({
      node,
      repair,
      now,
      health: judgeHealth(node, { now, repair, record: { onsets }, episodes: [] }),
    }).kind;
  if (expected === 'never') {
    expect(ask(after(hours(1000)))).toBe('ignore');
    return;
  }
  expect(ask(toEpochMs(expected - 1))).toBe('tolerate');
  expect(ask(expected)).toBe('due');
}

describe('resolution order and earliest due time', () => {
  const ready = (since = T): NodeCondition => aCondition('Ready', 'False', since);
  const network = (since = T): NodeCondition => aCondition('NetworkUnavailable', 'True', since);
  const cases: [string, JsonObject, NodeCondition[], EpochMs | 'never'][] = [
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
      { policies: [{ conditionType: 'Ready', toleration: '45m' }] },
      [aCondition('AcceleratedHardwareReady', 'False')],
      after(minutes(10)),
    ],
    ['R6 an empty block', {}, [ready()], after(minutes(30))],
    [
      'R8 a type that the provider does not watch',
      { policies: [{ conditionType: 'MyCondition', toleration: '1m' }] },
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
    ['R12 a toleration of zero', { policies: [{ conditionType: 'Ready', toleration: '0s' }] }, [ready()], T],
    [
      'R16 two defaults of the provider',
      {},
      [ready(), aCondition('AcceleratedHardwareReady', 'False', after(minutes(25)))],
      after(minutes(30)),
    ],
    [
      'R17 a new status starts the clock again',
      {},
      [aCondition('Ready', 'False', after(minutes(10)))],
      after(minutes(40)),
    ],
    ['NetworkUnavailable without an override', {}, [network()], after(minutes(30))],
    ['H18 an absent condition', {}, [], 'never'],
    ['H3 a healthy status', {}, [aCondition('Ready', 'True')], 'never'],
  ];
  it.each(cases)('%s', (_, block, conditions, expected) => check(block, conditions, expected));
});

describe('conditions of the user', () => {
  const block: JsonObject = { conditions: [{ type: 'DiskSlow', status: 'True', reason: '^Ssd', toleration: '20m' }] };
  const disk = (reason: string, status = 'True'): NodeCondition => ({ ...aCondition('DiskSlow', status), reason });

  it('count with their own toleration, where the reason matches', () => {
    check(block, [disk('SsdWornOut')], after(minutes(20)));
    check(block, [disk('FirmwareOfSsd')], 'never');
    check(block, [disk('SsdWornOut', 'Unknown')], 'never');
  });

  it('are tolerated neither by a default nor by an override for their type', () => {
    const policies = [{ conditionType: 'DiskSlow', toleration: '1m' }];
    check({ ...block, defaultTolerationDuration: '5m', policies }, [disk('Ssd')], after(minutes(20)));
  });
});

describe('of several conditions of one type', () => {
  it('the first counts', () => {
    check({}, [aCondition('Ready', 'True'), aCondition('Ready', 'False')], 'never');
    check({}, [aCondition('Ready', 'False'), aCondition('Ready', 'True')], after(minutes(30)));
    const later = aCondition('Ready', 'Unknown', after(minutes(-30)));
    check({}, [aCondition('Ready', 'False'), later], after(minutes(30)));
  });
});

describe('guards', () => {
  it('R7 leaves a pool without a repair block alone', () => {
    const repair = someRepairInForce({}, { settings: undefined });
    expect(decide({ repair })).toMatchObject({ kind: 'ignore', reason: 'NotConfigured' });
  });

  it('H26 does nothing while the feature gate is off', () => {
    const repair = someRepairInForce({}, { gateOpen: false });
    expect(decide({ repair })).toMatchObject({ kind: 'ignore', reason: 'GateOff' });
  });

  it('refuses to guess when the repair block is not valid', () => {
    const repair = someRepairInForce({}, { settings: { invalid: 'NodePool default: bad' } });
    expect(decide({ repair })).toEqual({ kind: 'refuse', message: 'NodePool default: bad' });
  });

  it('I6 never repairs on a condition without a transition time, and says why', () => {
    const node = aNode([{ ...aCondition('Ready', 'False'), lastTransitionTime: undefined }]);
    expect(decide({ node, now: after(hours(1000)) })).toEqual({
      kind: 'ignore',
      reason: 'NoTransitionTime',
      message: expect.stringContaining('Ready=False'),
    });
  });

  it('ignores a node that has no NodeClaim', () => {
    const owner = { kind: 'none', message: 'none' } as const;
    expect(decide({ owner })).toMatchObject({ kind: 'unclaimed', message: 'none' });
  });

  it('I6 holds when it is not certain whose NodeClaim it is', () => {
    const owner = { kind: 'ambiguous', message: 'nc1, nc2' } as const;
    const expected = { kind: 'blockedByNode', reason: 'AmbiguousNodeClaim', message: 'nc1, nc2' };
    expect(decide({ owner })).toMatchObject(expected);
  });

  it('waits for the node to go once the NodeClaim is terminated forcefully', () => {
    const claim = aNodeClaim({ deletionTime: T, annotations: { [ANNOTATION]: '2024-11-01T15:02:48Z' } });
    expect(decide({ owner: { kind: 'claim', claim } })).toMatchObject({ kind: 'finishing' });
  });

  it('H23 makes a graceful termination forceful', () => {
    const claim = aNodeClaim({ deletionTime: T, annotations: { [ANNOTATION]: '2024-11-02T15:02:48Z' } });
    expect(decide({ owner: { kind: 'claim', claim } })).toMatchObject({ kind: 'due' });
  });

  it.each([
    ['H6 one in the future', '2024-11-01T16:32:48Z', false],
    ['H7 one in the past', '2024-11-01T14:00:00Z', true],
    ['one that does not parse', 'soon', false],
    ['none', undefined, false],
  ])('a deadline has passed: %s', (_, value, expected) => {
    const claim = aNodeClaim({ annotations: value === undefined ? {} : { [ANNOTATION]: value } });
    expect(hasDeadlineBy(claim, after(minutes(30)))).toBe(expected);
  });
});

describe('a node without a NodeClaim', () => {
  const owner = { kind: 'none', message: 'none' } as const;
  const covered: JsonObject = { nodesWithoutNodeClaim: 'TerminateInAutoScalingGroup' };
  const unmanaged: Partial<NodeView> = { providerID: 'aws:///us-west-2a/i-1', labels: {}, ownerClaim: undefined };

  it.each<[string, JsonObject, Partial<NodeView>, string]>([
    ['is due where the block covers those', covered, {}, 'due'],
    ['is left alone where it does not', {}, {}, 'unclaimed'],
    ['is left alone without an instance', covered, { providerID: undefined }, 'unclaimed'],
    [
      'may wait for its NodeClaim: it has the label',
      covered,
      { labels: { 'karpenter.sh/nodepool': 'p' } },
      'unclaimed',
    ],
    ['may wait for its NodeClaim: it names it as its owner', covered, { ownerClaim: 'c' }, 'unclaimed'],
  ])('%s', (_, block, overrides, kind) => {
    const node = aNode([aCondition('Ready', 'False')], { ...unmanaged, ...overrides });
    expect(decide({ owner, repair: someRepairInForce(block), node }).kind).toBe(kind);
  });
});

describe('a veto', () => {
  const VETO = 'curfew.dev/do-not-repair';
  const now = after(minutes(30));
  const until = (minute: number): string => toTimestamp(after(minutes(minute)));
  const decided = (values: { node?: string; claim?: string; pool?: string }) => {
    const annotations = (value: string | undefined) => (value === undefined ? {} : { [VETO]: value });
    const node = aNode([aCondition('Ready', 'False')], { annotations: annotations(values.node) });
    const claim = aNodeClaim({ annotations: annotations(values.claim) });
    const poolVeto = { kind: 'NodePool', name: 'default', uid: 'uid-p', value: values.pool } as const;
    return decide({ now, node, owner: { kind: 'claim', claim }, repair: someRepairInForce({}, { poolVeto }) });
  };

  it.each(['Node', 'NodeClaim'])("of Karpenter's own annotation holds on the %s, and for no other value", kind => {
    const of = (value: string) => {
      const annotations = { 'karpenter.sh/do-not-repair': value };
      const node = aNode([SICK], { annotations: kind === 'Node' ? annotations : {} });
      const claim = aNodeClaim({ annotations: kind === 'NodeClaim' ? annotations : {} });
      return decide({ node, owner: { kind: 'claim', claim } });
    };
    expect(of('true')).toMatchObject({ kind: 'vetoed', veto: { until: undefined, invalid: false, by: { kind } } });
    expect(of('false').kind).toBe('due');
  });

  it.each([
    ['on the node', { node: 'true' }, 'Node'],
    ['on its NodeClaim', { claim: 'true' }, 'NodeClaim'],
    ['on its NodePool', { pool: 'true' }, 'NodePool'],
  ] as const)('holds %s', (_, values, kind) => {
    expect(decided(values)).toMatchObject({ kind: 'vetoed', veto: { until: undefined, by: { kind } } });
  });

  it('holds until its instant, and not at it', () => {
    expect(decided({ node: until(31) })).toMatchObject({ kind: 'vetoed', veto: { until: after(minutes(31)) } });
    expect(decided({ node: until(30) }).kind).toBe('due');
  });

  it('holds without end where its value cannot be read (I6)', () => {
    expect(decided({ node: 'false' })).toMatchObject({ kind: 'vetoed', veto: { until: undefined, invalid: true } });
    expect(decided({ node: '' })).toMatchObject({ kind: 'vetoed', veto: { until: undefined, invalid: true } });
  });

  it('of several the one that holds longest', () => {
    const kindOf = (values: Parameters<typeof decided>[0]): unknown => {
      const decision = decided(values);
      return decision.kind === 'vetoed' && decision.veto.by.kind;
    };
    expect(kindOf({ node: until(31), claim: until(33), pool: until(32) })).toBe('NodeClaim');
    expect(kindOf({ node: until(31), claim: until(33), pool: 'true' })).toBe('NodePool');
    expect(kindOf({ node: until(33), claim: until(32), pool: until(20) })).toBe('Node');
  });
});

describe('somebody else at work', () => {
  const now = after(minutes(30));
  const seen = (node: Partial<NodeView>, claim = {}, externalRequest?: string) =>
    decide({ now, node: aNode([SICK], node), owner: { kind: 'claim', claim: aNodeClaim(claim) }, externalRequest });
  const tainted = (key: string, value = ''): Partial<NodeView> => ({ taints: [{ key, value }] });
  const removal = (ago: number): string => String((now - minutes(ago)) / 1000);

  it.each<[string, Partial<NodeView>, object, string | undefined, string]>([
    ['a taint of a reboot', tainted('karpenter.sh/rebooting'), {}, undefined, 'taint karpenter.sh/rebooting'],
    ['a taint of a disruption', tainted('karpenter.sh/disrupted'), {}, undefined, 'taint karpenter.sh/disrupted'],
    [
      'a NodeClaim that is rebooting',
      {},
      { conditions: [aCondition('Rebooting', 'True')] },
      undefined,
      'condition Rebooting of the NodeClaim',
    ],
    [
      'a NodeClaim that is to be disrupted',
      {},
      { conditions: [aCondition('DisruptionReason', 'True')] },
      undefined,
      'condition DisruptionReason of the NodeClaim',
    ],
    [
      'Cluster Autoscaler for less than 15 minutes',
      tainted('ToBeDeletedByClusterAutoscaler', removal(14)),
      {},
      undefined,
      'taint ToBeDeletedByClusterAutoscaler',
    ],
    [
      'maintenance',
      { conditions: [SICK, aCondition('MaintenanceInProgress', 'True')] },
      {},
      undefined,
      'condition MaintenanceInProgress',
    ],
    ['a request elsewhere', {}, {}, 'Lease node-n1 of medik8s', 'Lease node-n1 of medik8s'],
  ])('holds: %s', (_, node, claim, externalRequest, what) => {
    expect(seen(node, claim, externalRequest)).toMatchObject({
      kind: 'blockedByNode',
      reason: 'BeingDisrupted',
      message: expect.stringContaining(what),
    });
  });

  it.each<[string, Partial<NodeView>, object]>([
    ['Cluster Autoscaler gave up', tainted('ToBeDeletedByClusterAutoscaler', removal(15)), {}],
    ['a value of that taint that is no time', tainted('ToBeDeletedByClusterAutoscaler', 'soon'), {}],
    [
      'the maintenance is ours',
      { conditions: [SICK, { ...aCondition('MaintenanceInProgress', 'True'), reason: 'CurfewReboot' }] },
      {},
    ],
    ['the condition is over', {}, { conditions: [aCondition('Rebooting', 'False')] }],
    ['it is being terminated, which set the taint', tainted('karpenter.sh/disrupted'), { deletionTime: T }],
  ])('does not hold: %s', (_, node, claim) => {
    expect(seen(node, claim).kind).toBe('due');
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
  const ask = (list: readonly NodeCondition[], now: number): string =>
    decide({ node: aNode(list), now: toEpochMs(now) }).kind;

  it('I3 is monotone: with nothing else changed, a later look never goes back to tolerating', () => {
    fc.assert(
      fc.property(conditions, instants, instants, (list, a, b) => {
        if (ask(list, Math.min(a, b)) === 'due') expect(ask(list, Math.max(a, b))).toBe('due');
      }),
    );
  });

  it('I3 is never due before any condition has outlasted its toleration', () => {
    fc.assert(
      fc.property(conditions, instants, (list, now) => {
        if (ask(list, now) !== 'due') return;
        const shortest = Math.min(...list.map(condition => condition.lastTransitionTime ?? Infinity)) + minutes(10);
        expect(now).toBeGreaterThanOrEqual(shortest);
      }),
    );
  });
});
