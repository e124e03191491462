/** What is deleted with a NodeClaim or Node, in which order. */
import { describe, expect, it } from 'vitest';
import {
  nextDeletion,
  type DeletionObservation,
  type NextDeletion,
} from '../../../../../functions/finalizer/termination/rule/deletion.ts';
import type { TerminatedClaim, TerminatedObject } from '../../../../../functions/finalizer/termination/rule/objects.ts';
import { at } from '../../../../builders/repair.ts';

const NOW = at('2024-11-01T15:00:00Z');
const OURS = 'example.com/custom';
const object = (kind: 'NodeClaim' | 'Node', fields: Partial<TerminatedObject> = {}): TerminatedObject => ({
  kind,
  name: kind === 'Node' ? 'n1' : 'nc1',
  uid: `uid-${kind}`,
  finalizers: [],
  finalizerMark: undefined,
  deletionTime: undefined,
  ...fields,
});
const nodeClaim = (fields: Partial<TerminatedClaim> = {}): TerminatedClaim => ({
  ...object('NodeClaim'),
  isRegistered: true,
  gracePeriod: undefined,
  terminationTimestamp: undefined,
  ...fields,
});

describe('of NodeClaim and Nodes', () => {
  const KARPENTERS = 'karpenter.sh/termination';
  const claim = nodeClaim({ finalizers: [OURS] });
  const going = { ...claim, deletionTime: NOW };
  const ofKarpenter = nodeClaim({ finalizers: [KARPENTERS] });
  const node = object('Node');
  const held = object('Node', { name: 'n2', uid: 'uid-n2', finalizers: [OURS] });
  const karpenters = object('Node', { finalizers: [KARPENTERS] });
  const inForce = { scope: 'NodeClaimAndNode', finalizerName: 'example.com/new' } as const;
  const outOfScope = { ...inForce, scope: 'None' } as const;
  const DONE: NextDeletion = { kind: 'done' };
  const add = (finalizerName: string): NextDeletion => ({ kind: 'addFinalizer', object: node, finalizerName });

  it.each<readonly [string, Partial<DeletionObservation>, NextDeletion]>([
    ['a NodeClaim of ours follows its Node', { claim }, { kind: 'delete', object: claim }],
    ['one that Karpenter holds follows, too', { claim: ofKarpenter }, { kind: 'delete', object: ofKarpenter }],
    ['one that nobody holds stays until its instance has ended', { claim: nodeClaim() }, DONE],
    ['a Node gets our finalizer before it follows', {}, add('example.com/new')],
    ['a Node without settings gets the one of its NodeClaim', { settings: undefined }, add(OURS)],
    ['a Node out of scope gets the one of its NodeClaim', { settings: outOfScope }, add(OURS)],
    [
      'a Node whose NodeClaim has none of ours follows as it is',
      { settings: undefined, claim: { ...going, finalizers: [KARPENTERS] } },
      { kind: 'delete', object: node },
    ],
    [
      'a Node that Karpenter holds gets ours where that is in force',
      { nodes: [karpenters] },
      { kind: 'addFinalizer', object: karpenters, finalizerName: 'example.com/new' },
    ],
    [
      'a Node that Karpenter holds follows as it is where ours is not in force',
      { nodes: [karpenters], settings: undefined },
      { kind: 'delete', object: karpenters },
    ],
    ['a Node with our finalizer follows', { nodes: [held] }, { kind: 'delete', object: held }],
    ['one Node follows at a time', { nodes: [held, node] }, { kind: 'delete', object: held }],
    ['one that goes already is passed over', { nodes: [{ ...held, deletionTime: NOW }, node] }, add('example.com/new')],
    ['nothing is left when all go', { nodes: [{ ...node, deletionTime: NOW }] }, DONE],
    ['nothing follows where another NodeClaim has the instance', { isShared: true }, DONE],
    ['nothing follows a Node without a NodeClaim', { claim: undefined }, DONE],
  ])('%s', (_, fields, expected) => {
    const seenNow = { claim: going, nodes: [node], isShared: false, finalizerNames: [OURS] };
    expect(nextDeletion({ ...seenNow, settings: inForce, ...fields })).toEqual(expected);
  });
});
