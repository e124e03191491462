/** The use of a replacement that an earlier launch for the node has left. */
import { expect, it } from 'vitest';
import { earlierReplacement } from '../../../../functions/repair/rule/earlier-replacement.ts';
import type { LadderAction } from '../../../../functions/repair/rule/verdict.ts';
import type { Replacement } from '../../../../functions/repair/attempt-record.ts';
import type { NodeClaimView } from '../../../../shared/domain/node-claim.ts';
import type { NodeView } from '../../../../shared/domain/node.ts';
import { hours, minutes } from '../../../../shared/domain/time.ts';
import { at } from '../../../builders/pool.ts';
import { aCondition, aPoolNode, claimOf, READY } from '../../../builders/repair.ts';

const LAUNCH: LadderAction = { type: 'Replace', timeout: minutes(15), attempts: 2, within: hours(24) };
const MADE: Replacement = { name: 'made', uid: 'uid-made' };
const RESERVED = [{ key: 'curfew.dev/reserved', value: '' }];
const WELL = aPoolNode('new', READY);
const ILL = aPoolNode('new', aCondition('Ready', 'False', at(0)));

function useOf(replacement: Replacement | undefined, node: NodeView, more: Partial<NodeClaimView> = {}) {
  const conditions = [aCondition('Initialized', 'True')];
  const claim = claimOf(node, { name: 'made', uid: 'uid-made', conditions, ...more });
  const objects = { claims: new Map([[claim.uid, claim]]), nodesByName: new Map([[node.name, node]]) };
  return earlierReplacement({ leftovers: replacement && { replacement } }, LAUNCH, objects);
}

it('is none without one, and none of one that is gone', () => {
  expect(useOf(undefined, WELL)).toBeUndefined();
  expect(useOf({ ...MADE, uid: 'uid-other' }, WELL)).toBeUndefined();
  expect(useOf(MADE, WELL, { deletionTime: at(1) })).toBeUndefined();
});

it('is to wait for the end of one that is not in use', () => {
  const message = 'NodeClaim made of an earlier launch is being deleted';
  expect(useOf(MADE, { ...WELL, taints: RESERVED })).toEqual({ kind: 'waits', message });
  expect(useOf(MADE, WELL, { nodeName: undefined })).toEqual({ kind: 'waits', message });
});

it('is to wait while one in use is not ready', () => {
  const message = 'NodeClaim made, which was launched for it before, is in use and not ready';
  expect(useOf(MADE, ILL)).toEqual({ kind: 'waits', message });
  expect(useOf({ ...MADE, releasedTime: at(0) }, WELL, { nodeName: undefined })).toEqual({ kind: 'waits', message });
});

it('is the termination under the key of the launch where one in use is ready', () => {
  expect(useOf(MADE, WELL)).toEqual({
    kind: 'ready',
    action: {
      ...LAUNCH,
      type: 'Terminate',
      timeout: hours(1),
      after: { type: 'Replace', key: 'Replace||900000' },
      replacement: { ...MADE, node: 'new' },
    },
  });
});
