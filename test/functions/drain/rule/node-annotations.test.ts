/** What the annotations of a drain say, and what people may have made of them. */
import { describe, expect, it } from 'vitest';
import { NO_DRAINS, type ActiveDrain, type DrainRecord } from '../../../../functions/drain/record.ts';
import {
  describeUnderWay,
  isPrepared,
  readAnswer,
  readUnderWay,
  requestedId,
  requestOnNode,
  toHealthEvent,
} from '../../../../functions/drain/rule/node-annotations.ts';
import { endingPhase } from '../../../../functions/drain/rule/phase.ts';
import { REPAIR_SOURCE } from '../../../../shared/domain/source.ts';
import { active, NOW, observation, prepared, request } from '../observations.ts';

const UNREADABLE = [undefined, '', 'null', '[]', '5', '"done"', '{', '{"id":5}', '{"id":"a"}'];

describe('the answer on a Node', () => {
  const said = { id: 'a', status: 'Failed', message: 'out of time' };

  it('says how the drain ended, and which pods are left', () => {
    expect(readAnswer(JSON.stringify({ ...said, left: ['p/a'] }))).toEqual({ ...said, left: ['p/a'] });
    expect(readAnswer(JSON.stringify(said))).toEqual({ ...said, left: [] });
    for (const name of ['id', 'status', 'message']) {
      expect(readAnswer(JSON.stringify({ ...said, [name]: 5 }))).toBeUndefined();
    }
  });

  it.each([...UNREADABLE, JSON.stringify({ ...said, left: [{ name: 'a' }] }), JSON.stringify({ ...said, left: 'a' })])(
    'is none by %j',
    text => {
      expect(readAnswer(text)).toBeUndefined();
    },
  );
});

describe('the drain under way on a Node', () => {
  it.each<[string, Partial<ActiveDrain>, object]>([
    ['its id and since when', {}, {}],
    [
      'its GPUs',
      { scope: { kind: 'entities', entities: ['GPU-a'] } },
      { scope: { kind: 'entities', entities: ['GPU-a'] } },
    ],
    ['that it is forced', { force: true }, { force: true }],
    ['that it is for all pods', { requests: [{ ...request('e1'), allPods: true }] }, { allPods: true }],
    ['that it waits', { phase: { kind: 'waiting', since: NOW, takesSlot: false } }, { isWaiting: true }],
    ['nothing of a queue that it leaves for a slot', { phase: { kind: 'waiting', since: NOW, takesSlot: true } }, {}],
  ])('says %s', (_, given, expected) => {
    const plain = { id: 'e1', since: NOW, scope: { kind: 'full' }, force: false, allPods: false, isWaiting: false };
    expect(readUnderWay(describeUnderWay(active(given)))).toEqual({ ...plain, ...expected });
  });

  it('says nothing else of a plain one', () => {
    expect(describeUnderWay(active())).toBe('{"id":"e1","since":"2024-11-01T15:00:00Z"}');
  });

  it.each([
    ...UNREADABLE,
    '{"id":"a","since":"soon"}',
    '{"id":"a","since":5}',
    '{"id":5,"since":"2024-11-01T15:00:00Z"}',
  ])('is none by %j', text => {
    expect(readUnderWay(text)).toBeUndefined();
  });
});

describe('the request on a Node', () => {
  it.each([
    [undefined, undefined],
    ['', undefined],
    ['  ', undefined],
    [' a ', 'a'],
    ['x'.repeat(300), 'x'.repeat(253)],
  ])('by %j is %j', (value, expected) => {
    expect(requestedId(value)).toBe(expected);
  });

  const asked = { ...request('a'), requestedBy: 'node-annotation' };
  const OUTCOME = { status: 'Succeeded', reason: 'Drained', message: '', left: [] } as const;
  it.each<[string, Partial<DrainRecord>, string | undefined, object | undefined]>([
    ['is none', {}, undefined, undefined],
    ['is taken back while it waits', { requests: [asked] }, undefined, { kind: 'withdrawn', id: 'a' }],
    ['is taken back while it is drained for', { active: active({ requests: [asked] }) }, undefined, { kind: 'withdrawn', id: 'a' }], // prettier-ignore
    ['is taken back by another one', { requests: [asked] }, 'b', { kind: 'withdrawn', id: 'a' }],
    ['is known while it waits', { requests: [asked] }, 'a', undefined],
    ['is known while it is drained for', { active: active({ requests: [request('b'), asked] }) }, 'a', undefined],
    ['ends as it was decided', { active: active({ requests: [asked], phase: endingPhase(active(), OUTCOME, NOW) }) }, undefined, undefined], // prettier-ignore
    ['has nothing to do with those of others', { requests: [request('c')] }, undefined, undefined],
    [
      'is a new one beside those of others',
      { requests: [request('c')] },
      'a',
      { kind: 'askedOnNode', request: { id: 'a' } },
    ],
  ])('%s', (_, given, requestId, expected) => {
    const incoming = requestOnNode({ name: 'n1', requestedId: requestId, answer: undefined }, { ...NO_DRAINS, ...given }); // prettier-ignore
    if (expected === undefined) expect(incoming).toBeUndefined();
    else expect(incoming).toMatchObject(expected);
  });

  it('asks for a drain that nothing forces', () => {
    expect(requestOnNode({ name: 'n1', requestedId: 'a', answer: undefined }, NO_DRAINS)).toMatchObject({
      request: {
        requestedBy: 'node-annotation',
        event: { nodeName: 'n1', message: 'asked for by an annotation', drainOverrides: undefined },
      },
    });
  });

  it('has the shape of an event for templates', () => {
    expect(toHealthEvent({ id: 'a', nodeName: 'n1', message: 'm', force: true })).toEqual({
      id: 'a',
      nodeName: 'n1',
      version: 1,
      agent: 'curfew',
      checkName: 'DrainRequested',
      componentClass: '',
      isFatal: false,
      isHealthy: false,
      message: 'm',
      recommendedAction: 0,
      customRecommendedAction: '',
      errorCode: [],
      entitiesImpacted: [],
      metadata: {},
      generatedTimestamp: undefined,
      quarantineOverrides: undefined,
      drainOverrides: { force: true, skip: false },
      processingStrategy: 1,
    });
  });
});

describe('a Node is prepared', () => {
  const STATE = 'dgxc.nvidia.com/nvsentinel-state';
  const { cordon: _, ...uncordoned } = active();
  const ofRepair = active({ requests: [{ ...request('e1'), requestedBy: REPAIR_SOURCE }] });

  it.each<[string, ActiveDrain, object, boolean, boolean]>([
    ['with all marks of its drain', active(), {}, true, true],
    ['while it is remediated', active(), { labels: { [STATE]: 'remediating' } }, true, true],
    ['not with the label of another state', active(), { labels: { [STATE]: 'drain-failed' } }, true, false],
    ['not without the label', active(), { labels: {} }, true, false],
    ['without the label where nothing is shown', active(), { labels: {} }, false, true],
    ['not while nobody watches it', active(), { isWatched: false }, true, false],
    ['not before its quarantine is known', active(), { quarantine: ['h1'] }, true, false],
    [
      'while it is quarantined',
      active({ cordon: { quarantined: true, by: 'own' } }),
      { quarantine: ['h1'] },
      true,
      true,
    ],
    ['not by what another drain wrote', active(), { underWay: '{"id":"e0"}' }, true, false],
    ['not before its cordon is known', uncordoned, {}, true, false],
    ['not by the cordon of a repair that takes it back', active({ cordon: { quarantined: false, by: 'other' } }), { isCordonedByRepair: true, cordonMark: undefined }, true, false], // prettier-ignore
    ['by the cordon of a repair that asked for it', { ...ofRepair, cordon: { quarantined: false, by: 'other' } }, { isCordonedByRepair: true, cordonMark: undefined }, true, true], // prettier-ignore
  ])('%s', (_, drain, given, showDraining, expected) => {
    const node = { ...prepared(drain), ...given };
    expect(isPrepared(observation({ node }), drain, showDraining)).toBe(expected);
  });
});
