/** How many nodes of a NodePool a budget lets be disrupted at once, and what is said where it lets no more. */
import { describe, expect, it } from 'vitest';
import { disruptionBudgetOf } from '../../../../functions/repair/rule/disruption-budget.ts';
import type { NodeFinding } from '../../../../functions/repair/node/rule/finding.ts';
import type { KubernetesObject } from '../../../../shared/domain/kubernetes-object.ts';
import type { NodeClaimView } from '../../../../shared/domain/node-claim.ts';
import type { NodeView } from '../../../../shared/domain/node.ts';
import { addDuration, hours, minutes } from '../../../../shared/domain/time.ts';
import { aCondition, aNodeClaim, aPoolNode, READY, T } from '../../../builders/repair.ts';

const INITIALIZED = { conditions: [aCondition('Initialized', 'True')] };
const NAMES = ['n1', 'n2', 'n3', 'n4'];
const node = (name: string, given: Partial<NodeView> = {}): NodeView => aPoolNode(name, READY, given);
const poolOf = (budgets: unknown): KubernetesObject =>
  ({ metadata: { name: 'a' }, spec: { disruption: { budgets } } }) as unknown as KubernetesObject;

interface World {
  readonly nodes?: readonly NodeView[];
  readonly claims?: Readonly<Record<string, Partial<NodeClaimView> | undefined>>;
  readonly findings?: readonly object[];
  readonly which?: 'All' | 'Explicit';
  readonly isActive?: boolean;
}

function budgetOf(budgets: unknown, { nodes, claims = {}, findings = [], which = 'All', isActive = true }: World = {}) {
  const budget = disruptionBudgetOf({
    pool: poolOf(budgets),
    budgetChoice: which,
    nodes: nodes ?? NAMES.map(name => node(name)),
    claimOf: ({ name }) => (name in claims && claims[name] === undefined ? undefined : aNodeClaim({ ...INITIALIZED, ...claims[name] })), // prettier-ignore
    findings: findings as readonly NodeFinding[],
    inFlight: new Set((findings as readonly NodeFinding[]).flatMap(each => (each.state === 'inFlight' ? each.node.uid : []))), // prettier-ignore
    activity: schedule => (schedule === 'never' ? undefined : { isActive, changes: addDuration(T, hours(schedule === 'soon' ? 0 : 2)) }), // prettier-ignore
    now: T,
  });
  if (budget === undefined) throw new Error('no budget applies');
  return budget;
}
const uidOf = (name: string): string => node(name).uid;
const uids = (...names: readonly string[]): ReadonlySet<string> => new Set(names.map(uidOf));
const allows = (budgets: unknown, count: number, world: World = {}): boolean =>
  budgetOf(budgets, world).blockerOf(uidOf('n4'), uids(...NAMES.slice(0, count))) === undefined;

describe('a budget', () => {
  it('says what it counts and allows', () => {
    const budget = budgetOf([{ nodes: '100%' }, { nodes: 2 }, { nodes: '2' }, { nodes: '75%' }]);
    expect(budget.blockerOf(uidOf('n4'), uids('n1', 'n2', 'n4'))).toEqual({
      kind: 'budget',
      reason: 'DisruptionBudget',
      message: '2 nodes of NodePool a are being disrupted, spec.disruption.budgets[1] allows 2 of 4',
      setting: { source: 'NodePool a', field: 'spec.disruption.budgets[1]', numbers: { disrupted: 2, allowed: 2, of: 4 } }, // prettier-ignore
      until: addDuration(T, minutes(5)),
    });
    expect(budgetOf([{ nodes: 1 }]).blockerOf(uidOf('n4'), uids('n1'))?.message).toBe(
      '1 node of NodePool a is being disrupted, spec.disruption.budgets[0] allows 1 of 4',
    );
  });

  it.each<[string, unknown, number]>([
    ['is a tenth where the NodePool names none', undefined, 1],
    ['is a tenth where the NodePool has null', null, 1],
    ['is one that is no list', { nodes: '3' }, 3],
    ['is a number', [{ nodes: 2 }], 2],
    ['is a number of two digits', [{ nodes: '12' }], 4],
    ['allows none where its number is a list', [{ nodes: ['2'] }], 0],
    ['is a share of the nodes, rounded up', [{ nodes: '30%' }], 2],
    ['is the smallest', [{ nodes: 3 }, { nodes: 1 }, { nodes: 2 }], 1],
    ['allows none where it cannot be read', [{ nodes: '1x' }], 0],
    ['allows none where its number has no end', [{ nodes: 'x1' }], 0],
    ['allows none where it has no number', [{}], 0],
    ['allows none above all', [{ nodes: '101%' }], 0],
    ['is in force by its schedule', [{ nodes: 1, schedule: '@daily', duration: '1h' }], 1],
    ['allows none by a schedule without a duration', [{ nodes: 2, schedule: '@daily' }], 0],
    ['allows none by a duration without a schedule', [{ nodes: 2, duration: '1h' }], 0],
    ['allows none by a duration that cannot be read', [{ nodes: 2, schedule: '@daily', duration: 'x' }], 0],
    ['allows none by a schedule that cannot be read', [{ nodes: 2, schedule: 'never', duration: '1h' }], 0],
  ])('%s', (_, budgets, allowed) => {
    expect([0, 1, 2, 3].filter(count => allows(budgets, count)).length).toBe(allowed);
  });

  it('that is not in force allows all, until it is', () => {
    const budgets = [{ nodes: 0, schedule: '@daily', duration: '1h' }];
    expect(allows(budgets, 3, { isActive: false })).toBe(true);
    expect(budgetOf(budgets).blockerOf(uidOf('n4'), uids())).toMatchObject({
      message: '0 nodes of NodePool a are being disrupted, spec.disruption.budgets[0] allows 0 of 4 (schedule "@daily", for 1h)', // prettier-ignore
      until: addDuration(T, minutes(5)),
    });
    const soon = [...budgets, { nodes: 0, schedule: 'soon', duration: '1h' }];
    expect(budgetOf(soon).blockerOf(uidOf('n4'), uids())).toMatchObject({ until: T });
  });

  it('of other reasons is none', () => {
    expect(allows([{ nodes: 0, reasons: ['Drifted'] }, { nodes: 2 }], 1)).toBe(true);
    expect(allows([{ nodes: 0, reasons: ['Drifted', 'Unhealthy'] }, { nodes: 2 }], 1)).toBe(false);
    expect(allows([{ nodes: 0 }, { nodes: 2, reasons: ['Unhealthy'] }], 1, { which: 'Explicit' })).toBe(true);
  });
});

describe('of the nodes', () => {
  const HALF = [{ nodes: '50%' }];

  it.each<[string, World, number]>([
    ['all count that were initialized', {}, 2],
    ['one without a NodeClaim does not', { claims: { n1: undefined, n2: undefined } }, 1],
    ['one whose instance is being ended does not', { claims: { n1: { conditions: [...INITIALIZED.conditions, aCondition('InstanceTerminating', 'True')] }, n2: undefined } }, 1], // prettier-ignore
    ['one that never was initialized does not', { claims: { n1: { conditions: [] }, n2: { conditions: [] } } }, 1],
    ['one that says so itself does', { nodes: [...NAMES.slice(1).map(name => node(name)), node('n1', { labels: { 'karpenter.sh/initialized': 'true' } })], claims: { n1: { conditions: [] }, n2: { conditions: [] } } }, 2], // prettier-ignore
    ['one that is rebooted does', { claims: { n1: { conditions: [aCondition('Rebooting', 'True')] }, n2: { conditions: [] } } }, 2], // prettier-ignore
  ])('%s', (_, world, allowed) => {
    const budget = budgetOf(HALF, world);
    const others = uids('n3', 'n4');
    expect([uids(), uids('n3'), others].filter(all => budget.blockerOf('none', all) === undefined)).toHaveLength(3);
    const blocker = budget.blockerOf(uidOf('n4'), new Set([...others, ...uids('n1', 'n2')]));
    expect(blocker).toMatchObject({ setting: { numbers: { allowed } } });
  });

  it.each<[string, World, boolean]>([
    ['healthy', {}, false],
    ['that is deleted', { nodes: [node('n1', { deletionTime: T })] }, true],
    ['whose NodeClaim is deleted', { claims: { n1: { deletionTime: T } } }, true],
    ['that is marked for it', { claims: { n1: { conditions: [...INITIALIZED.conditions, aCondition('DisruptionReason', 'True')] } } }, true], // prettier-ignore
    ['that is rebooted', { claims: { n1: { conditions: [...INITIALIZED.conditions, aCondition('Rebooting', 'True')] } } }, true], // prettier-ignore
    ['that a repair is at', { findings: [{ node: node('n1'), state: 'inFlight', record: { attempt: { action: 'Terminate' } } }] }, true], // prettier-ignore
    ['that a repair is at which leaves it in place', { findings: [{ node: node('n1'), state: 'inFlight', record: { attempt: { action: 'CustomResource' } } }] }, false], // prettier-ignore
    [
      'that somebody else is at, of which nothing is recorded',
      { findings: [{ node: node('n1'), state: 'inFlight' }] },
      false,
    ],
    ['of which a repair is over', { findings: [{ node: node('n1'), state: 'healthy', record: { attempt: { action: 'Terminate' } } }] }, false], // prettier-ignore
    ['that is stuck', { nodes: [node('n1', { deletionTime: T })], findings: [{ node: node('n1'), verdict: { kind: 'stuck' } }] }, false], // prettier-ignore
  ])('one is disrupted %s', (_, world, isDisrupted) => {
    expect([...budgetOf(HALF, { nodes: [node('n1')], ...world }).disrupted]).toEqual(isDisrupted ? [uidOf('n1')] : []);
  });
});
