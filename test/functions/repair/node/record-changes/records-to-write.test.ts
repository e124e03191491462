/** Which records of nodes a pass writes. */
import { describe, expect, it } from 'vitest';
import type { NodeRecord } from '../../../../../functions/repair/node/record.ts';
import { recordsToWrite } from '../../../../../functions/repair/node/record-changes/records-to-write.ts';
import type { NodeFinding } from '../../../../../functions/repair/node/rule/finding.ts';
import { newNode } from '../../../../../functions/repair/node/rule/attempt.ts';
import { NOW } from '../../../../builders/pool.ts';
import { aFinding, aPoolNode, T } from '../../../../builders/repair.ts';

const NEW = newNode('n1', 'default');
const ONSETS: NodeRecord = { ...NEW, onsets: { 'Ready=False': { start: NOW } } };
const UNHEALTHY: NodeRecord = { ...NEW, incident: { type: 'Ready', taken: [] } };
const found = (name: string, record: NodeRecord | undefined): NodeFinding => ({
  ...aFinding(aPoolNode(name), { now: NOW }),
  record,
  verdict: undefined,
});
const tolerated = (name: string, record: NodeRecord): NodeFinding => ({
  ...found(name, record),
  verdict: aFinding(aPoolNode(name), { now: T }).verdict,
});
const gone = (name: string, record: NodeRecord): NodeFinding => ({
  ...found(name, record),
  kind: 'gone',
  node: { name, uid: `uid-${name}` },
});
const isStored = (): boolean => false;

describe('the record of a node', () => {
  it.each<[string, NodeFinding, NodeRecord | undefined]>([
    ['is written if the node is unhealthy', found('n1', UNHEALTHY), UNHEALTHY],
    ['is closed if there is none any more', found('n1', undefined), undefined],
    ['is closed if it says nothing that the Node does not', found('n1', NEW), undefined],
    ['is written if its onsets are all that is known', found('n1', ONSETS), ONSETS],
    ['is closed if a verdict is reported that says them', tolerated('n1', ONSETS), undefined],
    ['is closed if the node is gone', gone('n1', UNHEALTHY), undefined],
    [
      'is written of a node that is gone and has left something (I7)',
      gone('n1', { ...NEW, leftovers: { maintenance: true } }),
      { ...NEW, leftovers: { maintenance: true } },
    ],
  ])('%s', (_, finding, record) => {
    const { writes, areAll } = recordsToWrite([finding], { acted: new Map(), isStored });
    expect(writes).toEqual([{ node: finding.node, record }]);
    expect(areAll).toBe(true);
  });

  it('is left alone if it is stored like this', () => {
    const asked: unknown[] = [];
    const { writes } = recordsToWrite([found('n1', NEW), found('n2', UNHEALTHY)], {
      acted: new Map(),
      isStored: (uid, record) => {
        asked.push([uid, record]);
        return uid === 'uid-n1';
      },
    });
    expect(asked).toEqual([
      ['uid-n1', undefined],
      ['uid-n2', UNHEALTHY],
    ]);
    expect(writes.map(({ node }) => node.name)).toEqual(['n2']);
  });

  it('is written first if the pass acted on the node, and of 200 others', () => {
    const names = Array.from({ length: 203 }, (_, index) => `n${index}`);
    const acted = new Set(['uid-n201', 'uid-n202']);
    const findings = names.map(name => found(name, UNHEALTHY));
    const all = recordsToWrite(findings.slice(1), { acted, isStored });
    expect([all.writes.length, all.areAll]).toEqual([202, true]);
    const { writes, areAll } = recordsToWrite(findings, { acted, isStored });
    expect(writes.map(({ node }) => node.name)).toEqual(['n201', 'n202', ...names.slice(0, 200)]);
    expect(areAll).toBe(false);
  });
});
