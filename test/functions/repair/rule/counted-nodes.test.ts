/** Who counts in threshold, zone and freeze. */
import { describe, expect, it } from 'vitest';
import { at, NOW } from '../../../builders/pool.ts';
import { anAttempt, aPoolNode, claimOf } from '../../../builders/repair.ts';
import {
  countsInOutage,
  countsInThreshold,
  instanceEndTimeOf,
  type KnownNode,
} from '../../../../functions/repair/rule/guard-inputs.ts';
import { DO_NOT_REPAIR_ANNOTATION, type NodeView } from '../../../../shared/domain/node.ts';

const NODE = aPoolNode('n1');
const PLAIN: KnownNode = {
  claim: claimOf(NODE),
  isLeftOver: false,
  instanceEndTime: undefined,
  poolVeto: undefined,
};
const VETO = { [DO_NOT_REPAIR_ANNOTATION]: 'true' };
const taint = (key: string): Partial<NodeView> => ({ taints: [{ key, value: '' }] });
const going = (minute: number): Partial<KnownNode> => ({ claim: claimOf(NODE, { deletionTime: at(minute) }) });

interface Counts {
  readonly threshold: boolean;
  readonly outage: boolean;
}
const BOTH: Counts = { threshold: true, outage: true };
const OUTAGE: Counts = { threshold: false, outage: true };
const NEITHER: Counts = { threshold: false, outage: false };

describe('counts', () => {
  it.each<[string, Counts, Partial<KnownNode>, Partial<NodeView>]>([
    ['any other node', BOTH, {}, {}],
    ['a node without a NodeClaim that Karpenter has nothing to do with', BOTH, { claim: undefined }, {}],
    ['one that is stopped', NEITHER, {}, taint('node.cloudprovider.kubernetes.io/shutdown')],
    ['a replacement that is not in use', OUTAGE, {}, taint('curfew.dev/reserved')],
    ['one whose NodeClaim is gone', OUTAGE, { claim: undefined, isLeftOver: true }, {}],
    ['one with a veto on its Node', OUTAGE, {}, { annotations: VETO }],
    ['one with a veto on its NodeClaim', OUTAGE, { claim: claimOf(NODE, { annotations: VETO }) }, {}],
    [
      'one with a veto on its NodePool',
      OUTAGE,
      { poolVeto: { kind: 'NodePool', name: 'web', uid: 'uid-p', value: 'true' } },
      {},
    ],
    [
      'one whose NodePool has no veto',
      BOTH,
      { poolVeto: { kind: 'NodePool', name: 'web', uid: 'uid-p', value: undefined } },
      {},
    ],
    ['a Node that is going', OUTAGE, {}, { deletionTime: at(-59) }],
    ['a Node that has been going for an hour', NEITHER, {}, { deletionTime: at(-60) }],
    ['one whose NodeClaim is going', OUTAGE, going(-59), {}],
    ['one whose NodeClaim has been going for an hour', NEITHER, going(-60), {}],
    ['one whose NodeClaim went before its Node', NEITHER, going(-60), { deletionTime: at(-1) }],
    ['one whose instance is being ended', OUTAGE, { instanceEndTime: at(-59) }, {}],
    ['one whose instance was ended an hour ago', NEITHER, { instanceEndTime: at(-60) }, {}],
  ])('%s: %o', (_, { threshold, outage }, known, node) => {
    const counted: [NodeView, KnownNode, typeof NOW] = [{ ...NODE, ...node }, { ...PLAIN, ...known }, NOW];
    expect(countsInThreshold(...counted)).toBe(threshold);
    expect(countsInOutage(...counted)).toBe(outage);
  });
});

it('a termination without a NodeClaim ends the instance once it is accepted', () => {
  const ofInstance = anAttempt('n1', { claim: undefined });
  expect(instanceEndTimeOf(ofInstance)).toBe(ofInstance.time);
  expect(instanceEndTimeOf({ ...ofInstance, phase: 'intended' })).toBeUndefined();
  expect(instanceEndTimeOf(anAttempt('n1'))).toBeUndefined();
  expect(instanceEndTimeOf({ ...ofInstance, action: 'Reboot' })).toBeUndefined();
  expect(instanceEndTimeOf(undefined)).toBeUndefined();
});
