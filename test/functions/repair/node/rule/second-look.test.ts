/** What becomes of an act by the look after its intent was recorded. */
import { expect, it } from 'vitest';
import { aCondition, anAttempt, aPoolNode, claimOf, READY, someRepairInForce, T } from '../../../../builders/repair.ts';
import { decideNode } from '../../../../../functions/repair/node/decide.ts';
import { newNode } from '../../../../../functions/repair/node/rule/attempt.ts';
import { judgeHealth } from '../../../../../functions/repair/node/rule/health.ts';
import { judgeSecondLook } from '../../../../../functions/repair/node/rule/second-look.ts';
import type { Replacement } from '../../../../../functions/repair/node/attempt-record.ts';
import type { RepairInForce } from '../../../../../functions/repair/node/rule/settings-in-force.ts';
import type { NodeClaimView } from '../../../../../shared/domain/node-claim.ts';
import { indexOwners, ownerOf } from '../../../../../shared/domain/node-owner.ts';
import type { NodeView } from '../../../../../shared/domain/node.ts';
import { addDuration, minutes } from '../../../../../shared/domain/time.ts';

const NOW = addDuration(T, minutes(30));
const node = aPoolNode('n1');
const claim = claimOf(node);
const LIMITS = { limits: { policyGenerations: 'a@1', binding: [] } };
const VETO = { annotations: { 'curfew.dev/do-not-repair': 'true' } };
const GOING = claimOf(node, {
  deletionTime: T,
  annotations: { 'karpenter.sh/nodeclaim-termination-timestamp': '2024-11-01T15:02:48Z' },
});
const SILENT = aCondition('Ready', 'Unknown');
const REBOOTS = { actions: [{ type: 'Reboot' }] };
const LATER = { actions: [{ type: 'Reboot' }, { type: 'Terminate', timeout: '1h' }] };
const CONFIRMS = { policies: [{ conditionType: 'Ready', toleration: '10m', confirm: 'InstanceStatus' }] };

interface SecondLook {
  readonly node: NodeView;
  readonly claim: NodeClaimView | undefined;
  readonly repair: RepairInForce;
  readonly externalRequest: string | undefined;
  readonly isClaimListed: boolean;
  readonly isCounted: boolean;
  readonly replacement?: Replacement;
}

/** A termination of n1 was granted, and n1 is looked at once more. */
function answer(given: Partial<SecondLook>): string {
  const look: SecondLook = {
    node,
    claim,
    repair: someRepairInForce(),
    externalRequest: undefined,
    isClaimListed: false,
    isCounted: true,
    ...given,
  };
  const { repair } = look;
  const owner = ownerOf(look.node, indexOwners([look.node], look.claim === undefined ? [] : [look.claim]));
  const health = judgeHealth(look.node, { now: NOW, repair, record: newNode('n1', 'default'), episodes: [] });
  const { externalRequest } = look;
  const decision = decideNode({ now: NOW, node: look.node, owner, repair, health, externalRequest });
  return judgeSecondLook(
    { key: anAttempt('n1').key, confirm: undefined, replacement: look.replacement },
    decision,
    look,
  );
}

it.each<[string, Partial<SecondLook>, string]>([
  ['while the node is due', {}, 'act'],
  ['by the NodeClaim that the pass has listed', { isClaimListed: true }, 'act'],
  [
    'of a replaced node whose list has no launch',
    { repair: someRepairInForce(REBOOTS), replacement: { name: 'r' } },
    'calledOff',
  ],
  [
    'of a replaced node whose list has a launch with another timeout',
    { repair: someRepairInForce({ actions: [{ type: 'ReplaceThenTerminate' }] }), replacement: { name: 'r' } },
    'act',
  ],
  [
    'of a node whose replacement may have pods',
    { repair: someRepairInForce(REBOOTS), replacement: { name: 'r', releasedTime: T } },
    'act',
  ],
  ['of a node that is well', { node: { ...node, conditions: [READY] } }, 'calledOff'],
  ['of a node that is tolerated', { node: { ...node, conditions: [aCondition('Ready', 'False', NOW)] } }, 'calledOff'],
  ['under a veto', { claim: { ...claim, ...VETO } }, 'calledOff'],
  ['under a veto that the pass has listed', { claim: { ...claim, ...VETO }, isClaimListed: true }, 'readClaim'],
  ['while somebody else is at work', { externalRequest: 'Lease node-n1' }, 'calledOff'],
  ['while the gate is closed', { repair: someRepairInForce({}, { gateOpen: false }) }, 'calledOff'],
  ['in mode Observe', { repair: someRepairInForce({}, { mode: 'Observe' }) }, 'calledOff'],
  ['under limits that count it', { repair: someRepairInForce({}, LIMITS) }, 'act'],
  ['under limits that came since', { repair: someRepairInForce({}, LIMITS), isCounted: false }, 'calledOff'],
  ['of a NodeClaim that goes forcefully', { claim: GOING }, 'overtaken'],
  ['of one that goes forcefully as the pass has listed it', { claim: GOING, isClaimListed: true }, 'readClaim'],
  [
    'of one that goes, in mode Observe',
    { claim: GOING, repair: someRepairInForce({}, { mode: 'Observe' }) },
    'calledOff',
  ],
  ['under no limits', { isCounted: false }, 'act'],
  ['of a node whose NodeClaim went', { claim: undefined }, 'calledOff'],
  ['by no block any more', { repair: someRepairInForce({}, { settings: undefined }) }, 'calledOff'],
  [
    'by a block that cannot be read',
    { repair: someRepairInForce({}, { settings: { invalid: 'a typo' } }) },
    'calledOff',
  ],
  ['by a list that has it among others', { repair: someRepairInForce(LATER) }, 'act'],
  ['by a list that has it no more', { repair: someRepairInForce(REBOOTS) }, 'calledOff'],
  [
    'by an entry that asks EC2 since',
    { node: { ...node, conditions: [SILENT] }, repair: someRepairInForce(CONFIRMS) },
    'calledOff',
  ],
  ['of a silent node whose entry asks nobody', { node: { ...node, conditions: [SILENT] } }, 'act'],
])('%s', (_, given, expected) => {
  expect(answer(given)).toBe(expected);
});
