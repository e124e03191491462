import { describe, expect, it } from 'vitest';
import { WATCHED_RESOURCES } from '../../forwarder/resources.ts';
import { createTracker, type Tracker } from '../../forwarder/tracker.ts';
import { toEpochMs } from '../../shared/domain/time.ts';
import { aNode, aPod, READY_CONDITION } from './builders.ts';

const NOW = toEpochMs(1_000_000);

function trackerOf(kind: string, watchedNodes = new Set<string>()): Tracker {
  const resource = WATCHED_RESOURCES.find(watched => watched.kind === kind);
  if (resource === undefined) throw new Error(`${kind} is not watched`);
  return createTracker(resource, { watchedNodes });
}

const version = (resourceVersion: string, rest: object = {}) => ({ ...rest, metadata: { resourceVersion } });
const broken = { status: { conditions: [{ ...READY_CONDITION, status: 'False' }] } };

describe('tracker', () => {
  it('tells of an object once, with the kind that a list item does not carry', () => {
    const tracker = trackerOf('Node');
    const item = { ...aNode(), kind: '', apiVersion: '' };
    expect(tracker.observe(item, NOW)).toMatchObject({
      change: 'Added',
      subject: { kind: 'Node', apiVersion: 'v1', name: 'n1', uid: 'uid-of-n1' },
      changed: ['conditions', 'labels', 'providerID', 'statuses', 'taints'],
      observedTime: NOW,
    });
    expect(tracker.observe(item, NOW)).toBeUndefined();
    expect(tracker.observe(aNode(version('2')), NOW)).toBeUndefined();
  });

  it('compares with what was published last, not with the last heartbeat', () => {
    const tracker = trackerOf('Node');
    tracker.observe(aNode(version('1')), NOW);
    tracker.observe(aNode(version('2')), NOW);
    expect(tracker.observe(aNode(version('3', broken)), NOW)).toMatchObject({
      change: 'Modified',
      resourceVersion: '3',
      changed: ['conditions', 'statuses'],
    });
  });

  describe('of the protection of a Node', () => {
    const END = toEpochMs(Date.UTC(2024, 10, 1, 15));
    const LATER = toEpochMs(END + 1);
    const held = { 'karpenter.sh/do-not-disrupt': 'true', 'curfew.dev/protected-until': '2024-11-01T15:00:00Z' };
    const node = (
      resourceVersion: string,
      annotations: Readonly<Record<string, string>> | undefined,
      rest: object = {},
    ) => aNode({ ...rest, metadata: { resourceVersion, ...(annotations && { annotations }) } });

    it.each([
      ['says nothing when it goes at its end', held, undefined, {}, END, undefined],
      ['tells of one that goes before', held, undefined, {}, toEpochMs(END - 1), ['protection']],
      ['tells of one that stays in part', held, { 'karpenter.sh/do-not-disrupt': 'true' }, {}, LATER, ['protection']],
      ['tells of what else changes', held, undefined, broken, LATER, ['conditions', 'protection', 'statuses']],
      [
        'tells of one without an end',
        { ...held, 'curfew.dev/protected-until': 'indefinite' },
        undefined,
        {},
        LATER,
        ['protection'],
      ],
    ])('%s', (_name, before, after, rest, now, changed) => {
      const tracker = trackerOf('Node');
      tracker.observe(node('1', before), NOW);
      expect(tracker.observe(node('2', after, rest), now)?.changed).toEqual(changed);
      expect(tracker.observe(node('3', after, rest), now)).toBeUndefined();
    });
  });

  it('tells of a deletion with the name and the hints of the object that is gone', () => {
    const tracker = trackerOf('Node');
    tracker.observe(aNode(version('1')), NOW);
    expect(tracker.remove('uid-of-n1', NOW)).toMatchObject({
      change: 'Deleted',
      subject: { name: 'n1', uid: 'uid-of-n1' },
      resourceVersion: '1',
      hints: { nodePool: 'default', providerID: 'aws:///us-west-2a/i-0abc' },
    });
    expect(tracker.remove('uid-of-n1', NOW)).toBeUndefined();
  });

  it('knows an object by its UID: a reused name is another object', () => {
    const tracker = trackerOf('Node');
    tracker.observe(aNode(), NOW);
    expect(tracker.observe(aNode({ metadata: { uid: 'another' } }), NOW)).toMatchObject({ change: 'Added' });
    expect(tracker.remove('uid-of-n1', NOW)).toMatchObject({ change: 'Deleted', subject: { uid: 'uid-of-n1' } });
    expect([...tracker.uids()]).toEqual(['another']);
  });

  it('does not remember pods of no interest', () => {
    const tracker = trackerOf('Pod');
    expect(tracker.observe(aPod({ metadata: { annotations: {} } }), NOW)).toBeUndefined();
    expect(tracker.size()).toBe(0);
    expect(tracker.remove('uid-of-web-0', NOW)).toBeUndefined();
  });

  it('tells of a pod that stops being of interest, and of its return', () => {
    const tracker = trackerOf('Pod');
    tracker.observe(aPod(version('1')), NOW);
    const plain = aPod({ metadata: { resourceVersion: '2', annotations: {} } });
    expect(tracker.observe(plain, NOW)).toMatchObject({ change: 'Modified', changed: ['annotations'] });
    expect(tracker.size()).toBe(0);
    expect(tracker.observe(aPod(version('3')), NOW)).toMatchObject({ change: 'Added' });
  });

  describe('of a pod that is being deleted on a watched node', () => {
    const onWatchedNode = (): Tracker => trackerOf('Pod', new Set(['n1']));
    const state = (resourceVersion: string, phase = 'Running', annotations = {}) =>
      aPod({
        metadata: { name: 'web', uid: 'uid-web', resourceVersion, annotations },
        spec: { nodeName: 'n1' },
        status: { phase },
      });
    const going = (resourceVersion: string, phase = 'Running') => {
      const pod = state(resourceVersion, phase);
      const deletion = { deletionTimestamp: '2024-11-01T10:00:30Z', deletionGracePeriodSeconds: 30 };
      return { ...pod, metadata: { ...pod.metadata, ...deletion } };
    };

    it('tells when it has ended and when it is gone, and nothing before', () => {
      const tracker = onWatchedNode();
      tracker.seed(state('1', 'Pending'));
      expect(tracker.observe(going('2', 'Running'), NOW)).toBeUndefined();
      expect(tracker.observe(going('3', 'Succeeded'), NOW)).toMatchObject({ change: 'Modified', changed: ['phase'] });
      expect(tracker.removeObject(going('4', 'Succeeded'), NOW)).toMatchObject({ change: 'Deleted' });
    });

    it('tells of one that is not known, so that a list after a lost watch can find out that it is gone', () => {
      expect(onWatchedNode().observe(going('2'), NOW)).toMatchObject({ change: 'Added' });
    });

    it('tells of one that matters by itself although the list of its node came first', () => {
      const tracker = onWatchedNode();
      const marked = state('1', 'Running', { 'karpenter.sh/do-not-disrupt': '4h' });
      tracker.seed(marked);
      expect(tracker.observe(marked, NOW)).toMatchObject({ change: 'Added', interest: 'itself' });
    });
  });
});
