/** What a pass reads on for, and which nodes it judges anew by that. */
import { describe, expect, it } from 'vitest';
import { type JudgedPool, judgeNode, judgePool, nextRead } from '../../../functions/repair/rule/node-verdict.ts';
import type { PoolFacts } from '../../../functions/repair/rule/pool-facts.ts';
import { NEW_POOL } from '../../../functions/repair/record.ts';
import { activity } from '../../../shared/contract/budget-schedule.ts';
import type { NodeView } from '../../../shared/domain/node.ts';
import { statementsOf } from '../../../shared/domain/repair-policy.ts';
import { addDuration, minutes } from '../../../shared/domain/time.ts';
import { aCondition, aPoolNode, claimOf, someRules, someSettings, T } from '../../builders/repair.ts';

const NOW = addDuration(T, minutes(30));
const due = aPoolNode('due');
const tolerated = aPoolNode('tolerated', aCondition('Ready', 'False', NOW));
const OFF = { freeze: 'Off', zoneOutage: 'Off' };
const LIMITS = { limits: { basis: 'a@1', binding: [] } };

/** A pool of these nodes, each with its NodeClaim but for the unclaimed ones. */
function facts(
  nodes: readonly NodeView[],
  given: Partial<PoolFacts> = {},
  unclaimed: readonly NodeView[] = [],
): PoolFacts {
  const claims = nodes.filter(node => !unclaimed.includes(node)).map(node => claimOf(node));
  return {
    now: NOW,
    pool: 'default',
    rules: { rules: someRules(), pool: undefined },
    state: NEW_POOL,
    nodes,
    labelled: nodes,
    concerned: nodes,
    claims: new Map(claims.map(claim => [claim.uid, claim])),
    records: new Map(),
    gone: new Map(),
    asks: { uids: new Set(), observedTimes: new Map(), changesTime: undefined, drainEnds: new Map() },
    basisOf: () => '',
    activity,
    dueFacts: undefined,
    stillThere: new Map(),
    ...given,
  };
}

const cluster = (nodes: readonly NodeView[]) => ({
  nodes,
  statementsOf: () => statementsOf(someSettings()),
  pools: [],
});
const read = (known: PoolFacts) => nextRead(known, judgePool(known, judgeNode));

describe('a pass reads on', () => {
  it.each<[string, PoolFacts, ReturnType<typeof read>]>([
    ['for nothing while no node is due', facts([tolerated]), undefined],
    ['for the cluster when one is due', facts([due]), { kind: 'dueFacts', countsCluster: true }],
    [
      'without the cluster where nothing counts it',
      facts([due], { rules: { rules: someRules(OFF), pool: undefined } }),
      { kind: 'dueFacts', countsCluster: false },
    ],
    [
      'for the cluster where limits count it',
      facts([due], { rules: { rules: someRules(OFF, LIMITS), pool: undefined } }),
      { kind: 'dueFacts', countsCluster: true },
    ],
    ['for it once', facts([due], { dueFacts: { cluster: cluster([due]), asked: new Map() } }), undefined],
    ['for a node that nobody seems to own', facts([due], {}, [due]), { kind: 'nodes', nodes: [due] }],
    ['for that once', facts([due], { stillThere: new Map([[due.uid, true]]) }, [due]), undefined],
  ])('%s', (_, known, expected) => {
    expect(read(known)).toEqual(expected);
  });
});

describe('a node is judged', () => {
  /** The nodes that are judged in the second round. */
  function again(
    known: PoolFacts,
    next: Partial<PoolFacts>,
  ): { readonly names: readonly string[]; readonly judged: JudgedPool } {
    const names: string[] = [];
    const judged = judgePool(
      { ...known, ...next },
      (...of) => (names.push(of[1].name), judgeNode(...of)),
      judgePool(known, judgeNode),
    );
    return { names, judged };
  }
  const known = facts([due, tolerated]);

  it('once, where nothing that was read since is about it', () => {
    const { names, judged } = again(known, { dueFacts: { cluster: cluster([due, tolerated]), asked: new Map() } });
    expect(names).toEqual([]);
    expect(judged.findings).toEqual(judgePool(known, judgeNode).findings);
  });

  it('anew, where another system asks for it', () => {
    const asked = new Map([['due', 'Lease node-due']]);
    const { names, judged } = again(known, { dueFacts: { cluster: undefined, asked } });
    expect(names).toEqual(['due']);
    expect(judged.present[0]?.verdict).toMatchObject({ kind: 'blocked', reason: 'BeingDisrupted' });
  });

  it('anew, where a node of another pool states its instance', () => {
    const other = { ...aPoolNode('other'), providerID: due.providerID };
    const { names } = again(known, { dueFacts: { cluster: cluster([due, tolerated, other]), asked: new Map() } });
    expect(names).toEqual(['due']);
  });

  it('as nothing, once another Node has its name', () => {
    const unowned = facts([due], {}, [due]);
    const { judged } = again(unowned, { stillThere: new Map([[due.uid, false]]) });
    expect(judged.present[0]).toMatchObject({ verdict: undefined, record: undefined });
  });
});
