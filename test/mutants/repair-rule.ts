/** Mistakes in when a node is repaired. */
import type { NodeCondition, NodeView } from '../../shared/domain/node.ts';
import { addDuration, parseTimestamp, seconds, toDurationMs } from '../../shared/domain/time.ts';
import { withObjects, withSpecs, type Mutant } from './mutant.ts';
import { seeing, withSettings } from './repair-seeing.ts';

const OPEN_GATE = '[featureGates]\nnodeRepair = true\n';

const VETO = 'curfew.dev/do-not-repair';

/** Every transition a second before it was. */
const withEarlierTransitions = (node: NodeView): NodeView => ({
  ...node,
  conditions: node.conditions.map((condition): NodeCondition => ({
    ...condition,
    lastTransitionTime: condition.lastTransitionTime && addDuration(condition.lastTransitionTime, seconds(-1)),
  })),
});

function without(annotations: Readonly<Record<string, string>>, key: string): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(annotations).filter(([name]) => name !== key));
}

export const REPAIR_RULE_MUTANTS: readonly Mutant[] = [
  {
    name: 'repair-a-second-early',
    mistake: 'counts the toleration from a second before the transition',
    breaks: ['I3'],
    scenario: 'repair-again.yaml#repair-again-when-an-allowance-returns',
    mutation: seeing({ node: withEarlierTransitions }),
  },
  {
    name: 'repair-after-the-due-instant',
    mistake: 'compares with < instead of <=: at the due instant it is not due yet',
    breaks: ['I5', 'I8'],
    scenario: 'repair-zero-toleration-is-at-once.yaml#repair-zero-toleration-is-at-once',
    mutation: seeing({ now: now => addDuration(now, toDurationMs(-1)) }),
  },
  {
    name: 'repair-in-observe-mode',
    mistake: 'acts in a pool whose mode is Observe',
    breaks: ['I3'],
    scenario: 'repair-follows-its-policies.yaml#repair-policy-begins-to-enforce',
    mutation: seeing({ repair: repair => ({ ...repair, mode: 'Enforce' }) }),
  },
  {
    name: 'repair-against-a-veto',
    mistake: 'does not read the veto of Nodes and NodeClaims',
    breaks: ['I3'],
    seed: 100065,
    scenario: 'repair-obeys-a-veto.yaml#repair-vetoed-until-removed',
    mutation: seeing({
      node: node => ({ ...node, annotations: without(node.annotations, VETO) }),
      claim: claim => ({ ...claim, annotations: without(claim.annotations, VETO) }),
    }),
  },
  {
    name: 'repair-against-the-veto-of-a-pool',
    mistake: 'reads the veto of Nodes and NodeClaims, not that of the NodePool',
    breaks: ['I3'],
    seed: 11,
    mutation: seeing({ repair: repair => ({ ...repair, poolVeto: undefined }) }),
  },
  {
    name: 'repair-vetoed-until-it-can-be-read',
    mistake: 'takes a veto that it cannot read for none',
    breaks: ['I3'],
    scenario: 'repair-obeys-a-veto.yaml#repair-veto-that-cannot-be-read',
    mutation: seeing({
      node: node =>
        isReadable(node.annotations[VETO]) ? node : { ...node, annotations: without(node.annotations, VETO) },
    }),
  },
  {
    name: 'repair-vetoed-for-ever',
    mistake: 'does not see that a veto has ended',
    breaks: ['I5'],
    scenario: 'repair-obeys-a-veto.yaml#repair-vetoed-until-an-instant',
    mutation: seeing({
      node: node =>
        node.annotations[VETO] === undefined ? node : { ...node, annotations: { ...node.annotations, [VETO]: 'true' } },
    }),
  },
  {
    name: 'repair-for-any-reason',
    mistake: 'does not match the reason of a condition of the user',
    breaks: ['I3'],
    scenario: 'repair-watches-conditions-of-the-user.yaml#repair-user-conditions',
    mutation: withSpecs('repair', text => text.replaceAll(/"reason":"[^"]*",/g, '')),
  },
  {
    name: 'repair-by-the-last-condition',
    mistake: 'goes by the last condition of a type instead of the first',
    breaks: ['I3', 'I5'],
    scenario: 'repair-knows-whose-node-claim-it-is.yaml#repair-first-condition-of-a-type',
    mutation: seeing({ node: node => ({ ...node, conditions: node.conditions.toReversed() }) }),
  },
  {
    name: 'repair-without-gate',
    mistake: 'does not ask whether the feature gate is on',
    breaks: ['I3'],
    scenario: 'repair-follows-the-gate.yaml#repair-gate-closed-while-tolerating',
    mutation: withObjects('repair', 'ConfigMap', object => ({ ...object, data: { 'config.toml': OPEN_GATE } })),
  },
  {
    name: 'repair-ends-any-instance',
    mistake: 'ends instances of Auto Scaling groups without having been asked to',
    breaks: ['I3'],
    scenario: 'repair-replaces-nodes-of-auto-scaling-groups.yaml#repair-leaves-auto-scaling-groups-alone',
    seed: 3,
    mutation: seeing({
      repair: repair => withSettings(repair, () => ({ nodesWithoutNodeClaim: 'TerminateInAutoScalingGroup' })),
    }),
  },
  {
    name: 'repair-leaves-groups-alone',
    mistake: 'never replaces an instance of an Auto Scaling group, although it was asked to',
    breaks: ['I5'],
    scenario: 'repair-replaces-nodes-of-auto-scaling-groups.yaml#repair-in-an-auto-scaling-group',
    seed: 27,
    mutation: seeing({ repair: repair => withSettings(repair, () => ({ nodesWithoutNodeClaim: 'Ignore' })) }),
  },
];

const isReadable = (veto: string | undefined): boolean =>
  veto === undefined || veto === 'true' || parseTimestamp(veto) !== undefined;
