/**
 * A naive model of Karpenter's repair, written from its rules alone, answers the same random
 * clusters. What differs on purpose is left out of them, and stands below, case by case.
 */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { NodeClaimView } from '../../../shared/domain/node-claim.ts';
import type { NodeView } from '../../../shared/domain/node.ts';
import { addDuration, minutes, toDurationMs, toTimestamp } from '../../../shared/domain/time.ts';
import { aCondition, aDecision, aPoolNode, claimOf, SICK, someRules, T } from '../../builders/repair.ts';

const POOL = 'karpenter.sh/nodepool';
const DEADLINE = 'karpenter.sh/nodeclaim-termination-timestamp';
const MINUTE = 60_000;
/** For an hour. */
const READY = aCondition('Ready', 'True', addDuration(T, minutes(-60)));

/** AWS's table. */
const POLICIES: readonly (readonly [string, string, number])[] = [
  ['Ready', 'False', 30],
  ['Ready', 'Unknown', 30],
  ['AcceleratedHardwareReady', 'False', 10],
  ['StorageReady', 'False', 30],
  ['NetworkingReady', 'False', 30],
  ['KernelReady', 'False', 30],
  ['ContainerRuntimeReady', 'False', 30],
];

/** The NodeClaims that Karpenter deletes or makes forceful at `now`. */
function karpenter(now: number, nodes: readonly NodeView[], claims: readonly NodeClaimView[]): readonly string[] {
  const acted: string[] = [];
  const matches = (node: NodeView): number[] => {
    const deadlines: number[] = [];
    for (const [type, status, toleration] of POLICIES) {
      for (const condition of node.conditions) {
        if (condition.type !== type || condition.status !== status) continue;
        deadlines.push((condition.lastTransitionTime ?? 0) + toleration * MINUTE);
      }
    }
    return deadlines;
  };
  for (const node of nodes) {
    const own = claims.filter(claim => claim.providerID === node.providerID);
    if (own.length !== 1) continue;
    const [claim] = own;
    const deadlines = matches(node);
    if (claim === undefined || deadlines.length === 0 || now < Math.min(...deadlines)) continue;
    const pool = claim.labels[POOL];
    const counted = (pool === undefined ? nodes : nodes.filter(({ labels }) => labels[POOL] === pool)).filter(other => {
      // On purpose: what is left over uses nothing up.
      const [one, ...more] = claims.filter(each => each.providerID === other.providerID);
      const isLeftOver = pool !== undefined && one === undefined && matches(other).length > 0;
      return !isLeftOver && (more.length > 0 || one?.deletionTime === undefined);
    });
    const unhealthy = counted.filter(other => matches(other).length > 0).length;
    if (unhealthy > Math.ceil(counted.length / 5)) continue;
    const set = Date.parse(claim.annotations[DEADLINE] ?? '');
    const isForced = !Number.isNaN(set) && set <= now;
    if (claim.deletionTime === undefined || !isForced) acted.push(claim.name);
  }
  return acted.toSorted();
}

/** As a pass lists them: the NodeClaim says whose pool it is. */
const poolOf = ({ providerID, labels }: NodeView, claims: readonly NodeClaimView[]): string | undefined => {
  const [claim, ...others] = claims.filter(each => each.providerID === providerID);
  return (claim === undefined || others.length > 0 ? labels : claim.labels)[POOL];
};

function curfew(nodes: readonly NodeView[], claims: readonly NodeClaimView[], block = {}): readonly string[] {
  const rules = someRules({ zoneOutage: 'Off', freeze: 'Off', ...block });
  return ['default', 'other', undefined]
    .flatMap(pool => {
      const own = nodes.filter(node => poolOf(node, claims) === pool);
      return aDecision(own, { now: T, pool, claims, rules, cluster: nodes }).granted;
    })
    .flatMap(({ attempt }) => attempt.claim?.name ?? [])
    .toSorted();
}

const conditions = fc.uniqueArray(
  fc
    .tuple(
      fc.constantFrom(...new Set(POLICIES.map(([type]) => type)), 'DiskPressure'),
      fc.constantFrom('True', 'True', 'False', 'Unknown'),
      fc.integer({ min: 0, max: 60 }),
    )
    // On purpose: one that has just come back counts for a while.
    .map(([type, status, since]) => {
      const isIll = POLICIES.some(([ill, means]) => ill === type && means === status);
      const ago = isIll ? since : Math.max(since, 5);
      return aCondition(type, status, addDuration(T, toDurationMs(-ago * MINUTE)));
    }),
  { selector: ({ type }) => type, maxLength: 2 },
);
const member = fc.record({
  pool: fc.constantFrom('default', 'default', 'default', 'other', undefined),
  conditions: fc.oneof({ weight: 4, arbitrary: fc.constant([READY]) }, { weight: 2, arbitrary: conditions }),
  claims: fc.constantFrom(1, 1, 1, 1, 0, 2),
  isDeleting: fc.boolean(),
  deadline: fc.constantFrom(undefined, undefined, -5, 5, 'not a time' as const),
});
const cluster = fc.array(member, { minLength: 1, maxLength: 14 }).map(members => {
  const nodes: NodeView[] = [];
  const claims: NodeClaimView[] = [];
  for (const [index, { pool, deadline, isDeleting, ...rest }] of members.entries()) {
    const labels: Readonly<Record<string, string>> = pool === undefined ? {} : { [POOL]: pool };
    const node = aPoolNode(`n${index}`, READY, { labels, conditions: rest.conditions });
    nodes.push(node);
    const text = typeof deadline === 'number' ? toTimestamp(addDuration(T, minutes(deadline))) : deadline;
    for (let copy = 0; copy < rest.claims; copy++) {
      const name = `claim-${index}-${copy}`;
      const annotations: Readonly<Record<string, string>> = text === undefined ? {} : { [DEADLINE]: text };
      claims.push(claimOf(node, { name, uid: name, annotations, deletionTime: isDeleting ? T : undefined }));
    }
  }
  return { nodes, claims };
});

describe("a naive model of Karpenter's rules", () => {
  it('repairs the same nodes of the same cluster', () => {
    let repaired = 0;
    fc.assert(
      fc.property(cluster, ({ nodes, claims }) => {
        const expected = karpenter(T, nodes, claims);
        repaired += expected.length;
        expect(curfew(nodes, claims)).toEqual(expected);
      }),
      { numRuns: 400 },
    );
    expect(repaired).toBeGreaterThan(20);
  });

  // What Curfew does otherwise: [what, nodes, NodeClaims, what Karpenter repairs, what Curfew repairs].
  const sick = aPoolNode('n1', SICK);
  const ill = aPoolNode('n1', aCondition('Ready', 'False', addDuration(T, minutes(-40))));
  const well = ['a', 'b', 'c', 'd'].map(name => aPoolNode(name, READY));
  it.each([
    [
      'NetworkUnavailable counts, as in the design',
      [aPoolNode('n1', aCondition('NetworkUnavailable', 'True', addDuration(T, minutes(-40)))), ...well],
      undefined,
      [],
      ['claim-n1'],
    ],
    [
      'a condition without a transition time is not known to last (I6)',
      [{ ...sick, conditions: [{ ...SICK, lastTransitionTime: undefined }] }, ...well],
      undefined,
      ['claim-n1'],
      [],
    ],
    [
      'a NodeClaim that names another Node is not that of this one',
      [ill, ...well],
      { nodeName: 'n2' },
      ['claim-n1'],
      [],
    ],
    [
      'of several conditions of one type the first counts',
      [{ ...ill, conditions: [READY, ...ill.conditions] }, ...well],
      undefined,
      ['claim-n1'],
      [],
    ],
    [
      'the NodeClaim says whose pool it is: the label of a node in it does not change the threshold',
      [ill, aPoolNode('n2', SICK, { labels: { [POOL]: 'elsewhere' } }), ...well.slice(1)],
      undefined,
      ['claim-n1'],
      [],
    ],
  ] as const)('differs: %s', (_, nodes, change, theirs, ours) => {
    const claims = nodes.map((node, index) =>
      claimOf(node, { labels: { [POOL]: 'default' }, ...(index === 0 && change !== undefined ? change : {}) }),
    );
    const now = T;
    expect(karpenter(now, nodes, claims)).toEqual(theirs);
    expect(curfew(nodes, claims)).toEqual(ours);
  });

  it('differs: those that are vetoed, stopped, going or left over use up nothing of the threshold', () => {
    const others = ['n2', 'n3', 'n4', 'n5'].map(name => aPoolNode(name, ill.conditions[0]));
    const [vetoed, stopped, going, left] = others;
    const nodes = [
      ill,
      { ...(vetoed ?? ill), annotations: { 'curfew.dev/do-not-repair': 'true' } },
      { ...(stopped ?? ill), taints: [{ key: 'node.cloudprovider.kubernetes.io/shutdown', value: '' }] },
      { ...(going ?? ill), deletionTime: T },
      left ?? ill,
      ...well,
    ];
    const claims = nodes.filter(({ name }) => name !== 'n5').map(node => claimOf(node));
    expect(curfew(nodes, claims)).toContain('claim-n1');
    const more = ['n6', 'n7'].map(name => aPoolNode(name, ill.conditions[0]));
    expect(curfew([...nodes, ...more], [...claims, ...more.map(node => claimOf(node))])).toEqual([]);
  });

  it('differs: outages of zones and of the cluster hold repairs, unless they are switched off', () => {
    const zone = { labels: { [POOL]: 'default', 'topology.kubernetes.io/zone': 'a' } };
    const nodes = ['1', '2', '3'].map(name => aPoolNode(name, ill.conditions[0], zone));
    const claims = nodes.map(node => claimOf(node));
    const all = { maxUnhealthy: '100%' };
    expect(curfew(nodes, claims, all)).toHaveLength(3);
    expect(curfew(nodes, claims, { ...all, zoneOutage: { minNodes: 3 } })).toEqual([]);
  });
});
