/** What a pass reads on for, and which nodes it judges anew by that. */
import { describe, expect, it } from 'vitest';
import { someFacts } from '../../../builders/pool-facts.ts';
import { NOW, remembered } from '../../../builders/pool.ts';
import {
  aCondition,
  anAttempt,
  aPoolNode,
  claimOf,
  READY,
  someRepairInForce,
  someSettings,
  T,
} from '../../../builders/repair.ts';
import { judgeNode } from '../../../../functions/repair/node/decide.ts';
import { newNode } from '../../../../functions/repair/node/rule/attempt.ts';
import { type JudgedPool, judgePool, nextRead } from '../../../../functions/repair/rule/judged-pool.ts';
import type { PoolFacts } from '../../../../functions/repair/rule/pool-facts.ts';
import { indexOwners } from '../../../../shared/domain/node-owner.ts';
import type { NodeView } from '../../../../shared/domain/node.ts';
import { repairConditionsOf } from '../../../../shared/domain/repair-policy.ts';

const due = aPoolNode('due');
const tolerated = aPoolNode('tolerated', aCondition('Ready', 'False', NOW));
const OFF = { freeze: 'Off', zoneOutage: 'Off' };
const LIMITS = { limits: { policyGenerations: 'a@1', binding: [] } };

const NO_BLOCK = someRepairInForce({}, { settings: undefined });
const well = aPoolNode('well', READY);
const NODES = { kind: 'nodes', nodes: [due] } as const;
/** What was said last of the node that is due. */
const said = (code: string): PoolFacts['records'] =>
  new Map([
    [due.uid, { needsRewrite: false, value: { ...newNode('due', 'default'), reported: { code, time: T, times: {} } } }],
  ]);

const cluster = (nodes: readonly NodeView[]) => ({
  nodes,
  repairConditionsOf: () => repairConditionsOf(someSettings()),
  owners: indexOwners(nodes, []),
  pools: [],
  vetoOfPool: () => undefined,
  instanceEnds: new Map(),
});
const read = (known: PoolFacts) => nextRead(known, judgePool(known, judgeNode));

describe('a pass reads on', () => {
  it.each<[string, PoolFacts, ReturnType<typeof read>]>([
    ['for nothing while no node is due', someFacts([tolerated]), undefined],
    ['for the cluster when one is due', someFacts([due]), { kind: 'dueFacts', countsCluster: true }],
    [
      'without the cluster where nothing counts it',
      someFacts([due], { poolSettings: { repair: someRepairInForce(OFF), nodePool: undefined } }),
      { kind: 'dueFacts', countsCluster: false },
    ],
    [
      'for the cluster where limits count it',
      someFacts([due], { poolSettings: { repair: someRepairInForce(OFF, LIMITS), nodePool: undefined } }),
      { kind: 'dueFacts', countsCluster: true },
    ],
    [
      'for it once',
      someFacts([due], { dueFacts: { cluster: cluster([due]), externalRequests: new Map() } }),
      undefined,
    ],
    [
      'for the cluster when one of several is due',
      someFacts([tolerated, due]),
      { kind: 'dueFacts', countsCluster: true },
    ],
    [
      'for the cluster where the nodes have no NodePool: their threshold counts it',
      someFacts([due], { pool: undefined, poolSettings: { repair: someRepairInForce(OFF), nodePool: undefined } }),
      { kind: 'dueFacts', countsCluster: true },
    ],
    [
      'for nothing where no block can be read',
      someFacts([due], { poolSettings: { repair: NO_BLOCK, nodePool: undefined } }),
      undefined,
    ],
    [
      'for a node whose NodeClaim is not certain',
      someFacts([due], { claims: new Map(['a', 'b'].map(name => [name, claimOf(due, { name, uid: name })])) }),
      { kind: 'nodes', nodes: [due] },
    ],
    [
      'for no node whose NodeClaim is certain, blocked or well',
      someFacts([well, due], { dueFacts: { cluster: undefined, externalRequests: new Map([['due', 'a Lease']]) } }),
      undefined,
    ],
    ['for no node of which that was said before', someFacts([due], { records: said('unclaimed') }, [due]), undefined],
    ['for a node of which something else was said before', someFacts([due], { records: said('due') }, [due]), NODES],
    ['for a node that nobody seems to own', someFacts([due], {}, [due]), { kind: 'nodes', nodes: [due] }],
    ['for that once', someFacts([due], { existsByUid: new Map([[due.uid, true]]) }, [due]), undefined],
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
  const known = someFacts([due, tolerated]);

  it('once, where nothing that was read since is about it', () => {
    const { names, judged } = again(known, {
      dueFacts: { cluster: cluster([due, tolerated]), externalRequests: new Map() },
    });
    expect(names).toEqual([]);
    expect(judged.findings).toEqual(judgePool(known, judgeNode).findings);
  });

  it('anew, where another system asks for it', () => {
    const externalRequests = new Map([['due', 'Lease node-due']]);
    const { names, judged } = again(known, { dueFacts: { cluster: undefined, externalRequests } });
    expect(names).toEqual(['due']);
    expect(judged.presentNodes[0]?.verdict).toMatchObject({ kind: 'blockedByNode', reason: 'BeingDisrupted' });
  });

  it('anew, where a node of another pool states its instance', () => {
    const other = { ...aPoolNode('other'), providerID: due.providerID };
    const { names } = again(known, {
      dueFacts: { cluster: cluster([due, tolerated, other]), externalRequests: new Map() },
    });
    expect(names).toEqual(['due']);
  });

  it('anew, where its NodeClaim has changed', () => {
    const claims = new Map([due, tolerated].map(node => [`uid-claim-${node.name}`, claimOf(node)]));
    const changed = { ...claimOf(due), annotations: { 'curfew.dev/do-not-repair': 'true' } };
    const before = someFacts([due, tolerated], { claims });
    const { names, judged } = again(before, { claims: new Map([...claims, [changed.uid, changed]]) });
    expect(names).toEqual(['due']);
    expect(judged.presentNodes[0]?.verdict).toMatchObject({ kind: 'vetoed' });
  });

  it('anew, where yet another node states its instance', () => {
    const twin = (name: string): NodeView => ({ ...aPoolNode(name), providerID: due.providerID });
    const before = someFacts([due, tolerated], { nodesWithLabel: [due, tolerated, twin('a')] });
    expect(again(before, { nodesWithLabel: [due, tolerated, twin('a')] }).names).toEqual([]);
    expect(again(before, { nodesWithLabel: [due, tolerated, twin('a'), twin('b')] }).names).toEqual(['due']);
  });

  it('by the nodes of its own pool also where the list of the cluster lacks one', () => {
    const twin = { ...aPoolNode('twin'), providerID: due.providerID };
    const dueFacts = { cluster: cluster([due]), externalRequests: new Map<string, string>() };
    const both = someFacts([due, twin], { dueFacts }, [twin]);
    expect(judgePool(both, judgeNode).presentNodes[0]?.verdict).toMatchObject({ reason: 'AmbiguousNodeClaim' });
  });

  it('for the first time, where it was of no concern before', () => {
    const { names } = again(someFacts([due, tolerated], { nodesToJudge: [due] }), {
      nodesToJudge: [due, tolerated],
    });
    expect(names).toEqual(['tolerated']);
  });

  it('with the replacement that takes its place', () => {
    const replacement = { name: 'r1', uid: 'r1' };
    const attempt = anAttempt('due', { action: 'Replace', key: 'Replace||900000', replacement });
    const record = remembered({ attempt }, 'due');
    const fresh = aPoolNode('fresh', READY);
    const claim = claimOf(fresh, { name: 'r1', uid: 'r1', conditions: [aCondition('Initialized', 'True')] });
    const poolSettings = {
      repair: someRepairInForce({ actions: [{ type: 'ReplaceThenTerminate', timeout: '15m' }] }),
      nodePool: undefined,
    };
    const claims = new Map([claimOf(due), claim].map(each => [each.uid, each]));
    const records = new Map([[due.uid, { value: record, needsRewrite: false }]]);
    const { presentNodes } = judgePool(
      someFacts([due, fresh], { poolSettings, claims, records, nodesToJudge: [due] }),
      judgeNode,
    );
    expect(presentNodes[0]?.verdict).toMatchObject({
      kind: 'due',
      action: { replacement: { name: 'r1', node: 'fresh' } },
    });
  });

  it('also where its Node is gone', () => {
    const attempt = anAttempt('gone');
    const claim = claimOf(aPoolNode('gone'), { deletionTime: T });
    const gone = new Map([['uid-gone', { ...newNode('gone', 'default'), attempt }]]);
    const of = (claims: PoolFacts['claims']) =>
      judgePool(someFacts([due], { recordsOfGoneNodes: gone, claims }), judgeNode).findings.slice(1);
    expect(of(new Map([[claim.uid, claim]]))).toMatchObject([{ kind: 'gone', state: 'followed' }]);
    expect(of(new Map())).toMatchObject([{ kind: 'gone', node: { name: 'gone', uid: 'uid-gone' }, state: 'idle' }]);
  });

  it('as nothing, once another Node has its name', () => {
    const unowned = someFacts([due], {}, [due]);
    const { judged } = again(unowned, { existsByUid: new Map([[due.uid, false]]) });
    expect(judged.presentNodes[0]).toMatchObject({ verdict: undefined, record: undefined });
  });
});
