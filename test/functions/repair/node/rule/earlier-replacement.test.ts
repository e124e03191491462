/** The use of a replacement that an earlier launch for the node has left. */
import { describe, expect, it } from 'vitest';
import { newNode } from '../../../../../functions/repair/node/rule/attempt.ts';
import {
  earlierReplacement,
  nameOfLaunch,
  withShownReplacements,
} from '../../../../../functions/repair/node/rule/earlier-replacement.ts';
import type { NodeRecord } from '../../../../../functions/repair/node/record.ts';
import type { LadderAction } from '../../../../../functions/repair/node/rule/verdict.ts';
import type { Replacement } from '../../../../../functions/repair/node/attempt-record.ts';
import type { NodeClaimView } from '../../../../../shared/domain/node-claim.ts';
import type { NodeView } from '../../../../../shared/domain/node.ts';
import { hours, minutes } from '../../../../../shared/domain/time.ts';
import { at } from '../../../../builders/pool.ts';
import { aCondition, aPoolNode, claimOf, READY } from '../../../../builders/repair.ts';

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
  expect(useOf(MADE, { ...WELL, taints: RESERVED })).toEqual({ kind: 'waits', isInUse: false, message });
  expect(useOf(MADE, WELL, { nodeName: undefined })).toEqual({ kind: 'waits', isInUse: false, message });
});

it('is to wait while one in use is not ready', () => {
  const message = 'NodeClaim made, which was launched for it before, is in use and not ready';
  expect(useOf(MADE, ILL)).toEqual({ kind: 'waits', isInUse: true, message });
  expect(useOf({ ...MADE, releasedTime: at(0) }, WELL, { nodeName: undefined })).toEqual({
    kind: 'waits',
    isInUse: true,
    message,
  });
});

it('is the termination under the key of the launch where one in use is ready', () => {
  expect(useOf(MADE, WELL)).toEqual({
    kind: 'ready',
    isInUse: true,
    action: {
      type: 'Terminate',
      timeout: hours(1),
      attempts: 1,
      within: hours(1),
      after: { type: 'Replace', key: 'Replace||900000' },
      replacement: { ...MADE, node: 'new' },
    },
  });
});

const REPLACED = '126e169d-6397-4685-8429-41aba1b45091';
const MARKS: Readonly<Record<string, string>> = { 'curfew.dev/replaces': REPLACED };
const NAME = 'default-curfew-5abfcae9';
const shown = claimOf(WELL, { name: NAME, uid: 'uid-shown', annotations: MARKS });

describe('a replacement that only its NodeClaim shows', () => {
  const replacement = { name: NAME, uid: 'uid-shown' };
  const NEW = newNode('n1', 'default');
  const launched = { ...NEW, leftovers: { replacement: { name: NAME } } };
  const known = { ...NEW, leftovers: { replacement } };

  interface Shown {
    readonly claim?: Partial<NodeClaimView>;
    readonly record?: NodeRecord;
    readonly replaced?: 'there' | 'elsewhere';
    readonly mayLaunch?: true;
  }

  it.each<readonly [string, Shown, NodeRecord | undefined]>([
    ['of a node that is gone', {}, { ...newNode(REPLACED, 'default'), leftovers: { replacement } }],
    ['of a record without it', { record: NEW }, known],
    ['of a node that nothing is launched for', { replaced: 'there' }, known],
    ['that the next launch takes over', { replaced: 'there', mayLaunch: true }, undefined],
    ['of a node in another pool', { replaced: 'elsewhere' }, undefined],
    ['of a record that knows it', { record: launched }, launched],
    ['of the record of another pool', { record: newNode('n1', 'other') }, newNode('n1', 'other')],
    ['that is being deleted', { claim: { deletionTime: at(1) } }, undefined],
    ['without a mark', { claim: { annotations: {} } }, undefined],
    ['with a mark that is no UID', { claim: { annotations: { 'curfew.dev/replaces': '' } } }, undefined],
    ['with a mark that somebody has copied', { claim: { name: 'mine' } }, undefined],
  ])('%s', (_, { claim, record, replaced, mayLaunch = false }, expected) => {
    const records = new Map(record === undefined ? [] : [[REPLACED, { value: record, needsRewrite: false }]]);
    const own = replaced === 'there' ? [{ ...aPoolNode('n1'), uid: REPLACED }] : [];
    const after = withShownReplacements(records, [{ ...shown, ...claim }], {
      pool: 'default',
      nodes: own,
      existsElsewhere: () => replaced === 'elsewhere',
      mayLaunch: () => mayLaunch,
    });
    expect(after.get(REPLACED)?.value).toEqual(expected);
  });
});

describe('the name of a launch', () => {
  const launch = { claim: { name: 'claim', uid: '5abfcae9-d235-476f-baf7-a629d1e979c8' }, pool: 'default' };
  const nameAmong = (claims: readonly NodeClaimView[], launched?: number) =>
    nameOfLaunch(launch, launched === undefined ? {} : { launched }, {
      node: { uid: REPLACED },
      claims: new Map(claims.map(each => [each.uid, each])),
    });
  const plain = (name: string, uid: string) => ({ ...shown, name, uid, annotations: {} });

  it('goes on from the launches that the record knows', () => {
    expect(nameAmong([])).toBe(NAME);
    expect(nameAmong([], 2)).toBe(`${NAME}-3`);
  });

  it('is none that a NodeClaim has', () => {
    expect(nameAmong([plain(NAME, 'a'), plain(`${NAME}-2`, 'b')])).toBe(`${NAME}-3`);
  });

  it('is that of the NodeClaim that is marked for the node', () => {
    expect(nameAmong([plain(NAME, 'a'), { ...shown, name: `${NAME}-2` }])).toBe(`${NAME}-2`);
    expect(nameAmong([{ ...shown, annotations: { 'curfew.dev/replaces': REPLACED.replace('1', '2') } }])).toBe(
      `${NAME}-2`,
    );
  });
});
