/** A due node whose NodeClaim somebody else is deleting: a repair ends it sooner, or leaves it to end. */
import { describe, expect, it } from 'vitest';
import { dueVerdictOf } from '../../../../../functions/repair/node/rule/finding.ts';
import { at, NOW } from '../../../../builders/pool.ts';
import { aFinding, aPoolNode, claimOf, someRepairInForce } from '../../../../builders/repair.ts';
import type { NodeClaimView } from '../../../../../shared/domain/node-claim.ts';

const NODE = aPoolNode('n1');
const look = (terminationGracePeriod: string, claim: Partial<NodeClaimView> = {}) =>
  aFinding(NODE, {
    now: NOW,
    repair: someRepairInForce({ terminationGracePeriod }),
    claims: [claimOf(NODE, { deletionTime: at(-1), ...claim })],
  });
const by = (set: string) => ({ annotations: { 'karpenter.sh/nodeclaim-termination-timestamp': set } });
const IN_TEN_MINUTES = by('2024-11-01T15:42:48Z');

describe('a due node whose NodeClaim is being deleted by somebody else', () => {
  it.each<[string, string, Partial<NodeClaimView>]>([
    ['sooner than a repair would let it', '1h', IN_TEN_MINUTES],
    ['as late as a repair would let it', 'Inherit', {}],
  ])('and ends %s is left to end, and looked at every five minutes', (_, terminationGracePeriod, claim) => {
    expect(look(terminationGracePeriod, claim)).toMatchObject({
      verdict: {
        kind: 'finishing',
        node: { name: 'n1' },
        dueCondition: { conditionType: 'Ready' },
        message: 'NodeClaim claim-n1 is being deleted already, and a repair would not end it sooner',
      },
      nextLookTime: at(5),
    });
  });

  it.each<[string, string, Partial<NodeClaimView>]>([
    ['it has no deadline', '1h', {}],
    ['its deadline is a later one', '1m', IN_TEN_MINUTES],
  ])('is terminated where %s', (_, terminationGracePeriod, claim) => {
    expect(dueVerdictOf(look(terminationGracePeriod, claim))?.action.type).toBe('Terminate');
  });
});
