import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { WATCHED_RESOURCES } from '../../forwarder/resources.ts';
import { createTracker, type ObjectChange, type Tracker } from '../../forwarder/tracker.ts';
import { isAboutNone } from '../../forwarder/unread.ts';
import type { KubernetesObject } from '../../shared/domain/kubernetes-object.ts';
import { toEpochMs } from '../../shared/domain/time.ts';
import { aNode, aPod } from './builders.ts';

const NOW = toEpochMs(1_000_000);

function trackerOf(kind: string, watchedNodes = new Set<string>(), isTold?: (node: string) => boolean): Tracker {
  const resource = WATCHED_RESOURCES.find(watched => watched.kind === kind);
  if (resource === undefined) throw new Error(`${kind} is not watched`);
  return createTracker(resource, { watchedNodes }, isTold);
}

type EventType = 'ADDED' | 'MODIFIED' | 'DELETED';
const textOf = (type: EventType, object: KubernetesObject): string => JSON.stringify({ type, object });

interface NodeFields {
  readonly resourceVersion?: string;
  readonly heartbeat?: string;
  readonly ready?: string;
  readonly labels?: Record<string, string>;
  readonly image?: string;
}

/** As an API server writes it: what identifies it first, then what the kubelet posts. */
function node({
  resourceVersion = '1',
  heartbeat = '10:00',
  ready = 'True',
  labels = {},
  image = 'a',
}: NodeFields = {}) {
  const managedFields = [{ manager: 'kubelet', time: `2024-11-01T${heartbeat}:00Z` }];
  const metadata = { resourceVersion, labels, managedFields };
  return aNode({
    metadata,
    status: {
      conditions: [
        {
          type: 'Ready',
          status: ready,
          reason: 'r',
          lastHeartbeatTime: `2024-11-01T${heartbeat}:00Z`,
          lastTransitionTime: '2024-11-01T09:00:00Z',
        },
      ],
      images: [image],
    },
  });
}

const heartbeat = (resourceVersion: string): string =>
  textOf('MODIFIED', node({ resourceVersion, heartbeat: `11:0${resourceVersion}` }));

describe('a heartbeat', () => {
  it('is not read when the node was last seen like that, in a list or in an event', () => {
    const tracker = trackerOf('Node');
    tracker.observe(node(), NOW);
    expect(tracker.skips(heartbeat('2'))).toBe(true);
    const other = node({ resourceVersion: '3', image: 'b' });
    expect(tracker.skips(textOf('MODIFIED', other))).toBe(false);
    tracker.observe(other, NOW);
    expect(tracker.skips(textOf('MODIFIED', node({ resourceVersion: '4', image: 'b' })))).toBe(true);
  });

  it('is read again when the node went back to what it was before', () => {
    const tracker = trackerOf('Node');
    tracker.observe(node(), NOW);
    tracker.observe(node({ resourceVersion: '2', ready: 'False' }), NOW);
    expect(tracker.skips(heartbeat('3'))).toBe(false);
  });

  it('of a node that nobody knows, or that is gone, is read', () => {
    const tracker = trackerOf('Node');
    expect(tracker.skips(heartbeat('2'))).toBe(false);
    tracker.observe(node(), NOW);
    tracker.remove('uid-of-n1', NOW);
    expect(tracker.skips(heartbeat('2'))).toBe(false);
  });

  it('is not what a deletion looks like, although the object in it is the same', () => {
    const tracker = trackerOf('Node');
    tracker.observe(node(), NOW);
    expect(tracker.skips(textOf('DELETED', node({ resourceVersion: '2' })))).toBe(false);
  });

  it('is known in whatever order its kind and version stand in front, and however its line ends', () => {
    const tracker = trackerOf('Node');
    const { apiVersion, kind, ...item } = node();
    tracker.observe({ apiVersion, kind, ...item }, NOW);
    expect(tracker.skips(`${textOf('MODIFIED', { kind, apiVersion, ...item })}\r\n`)).toBe(true);
  });
});

describe('a pod', () => {
  const plain = aPod({ metadata: { name: 'plain', uid: 'uid-plain', annotations: {} } });
  const marked = aPod({
    metadata: { name: 'marked', uid: 'uid-marked', annotations: { 'karpenter.sh/do-not-disrupt': '4h' } },
  });

  it('without the annotation is not read', () => {
    expect(trackerOf('Pod').skips(textOf('ADDED', plain))).toBe(true);
    expect(trackerOf('Pod').skips(textOf('DELETED', plain))).toBe(true);
  });

  it('with the annotation is read, however its slash is written', () => {
    const text = textOf('MODIFIED', marked);
    expect(trackerOf('Pod').skips(text)).toBe(false);
    expect(trackerOf('Pod').skips(text.replaceAll('/', '\\/'))).toBe(false);
  });

  it('that has lost the annotation is read once more', () => {
    const tracker = trackerOf('Pod');
    tracker.observe(marked, NOW);
    const without = aPod({ metadata: { name: 'marked', uid: 'uid-marked', resourceVersion: '2', annotations: {} } });
    expect(tracker.skips(textOf('MODIFIED', without))).toBe(false);
    tracker.observe(without, NOW);
    expect(tracker.skips(textOf('MODIFIED', without))).toBe(true);
  });

  it('on a watched node is read, on any other it is not', () => {
    expect(trackerOf('Pod', new Set(['n1'])).skips(textOf('ADDED', plain))).toBe(false);
    expect(trackerOf('Pod', new Set(['n9'])).skips(textOf('ADDED', plain))).toBe(true);
  });

  it('that gained the annotation and lost it again before anything was read is read twice', () => {
    const tracker = trackerOf('Pod');
    const without = aPod({ metadata: { name: 'marked', uid: 'uid-marked', resourceVersion: '2', annotations: {} } });
    expect(tracker.skips(textOf('MODIFIED', marked))).toBe(false);
    expect(tracker.skips(textOf('MODIFIED', without))).toBe(false);
  });
});

describe('a pod that is being deleted on a watched node', () => {
  const onWatchedNode = (): Tracker => trackerOf('Pod', new Set(['n1']));
  const state = (resourceVersion: string, phase = 'Running', annotations = {}): KubernetesObject => {
    const metadata = { name: 'web', uid: 'uid-web', resourceVersion, annotations };
    return aPod({ metadata, spec: { nodeName: 'n1' }, status: { phase } });
  };
  const going = (resourceVersion: string, phase = 'Running', annotations = {}): KubernetesObject => {
    const pod = state(resourceVersion, phase, annotations);
    const deletion = { deletionTimestamp: '2024-11-01T10:00:30Z', deletionGracePeriodSeconds: 30 };
    return { ...pod, metadata: { ...pod.metadata, ...deletion } };
  };
  const MARK = { 'karpenter.sh/do-not-disrupt': '4h' };

  it('is not read until it is gone: nobody waits for anything else', () => {
    const tracker = onWatchedNode();
    tracker.seed(state('1'));
    expect(tracker.skips(textOf('MODIFIED', going('2')))).toBe(true);
    expect(tracker.skips(textOf('DELETED', going('3')))).toBe(false);
    expect(tracker.removeObject(going('3'), NOW)).toMatchObject({ change: 'Deleted' });
  });

  it('is not read when it is gone, and forgotten, where its node is about to be looked at', () => {
    const told = new Set<string>();
    const tracker = trackerOf('Pod', new Set(['n1']), node => told.has(node));
    const marked = state('1', 'Running', MARK);
    tracker.seed(state('1'));
    expect(tracker.skips(textOf('DELETED', going('2')))).toBe(false);
    tracker.observe(state('1'), NOW);
    told.add('n1');
    expect(tracker.skips(textOf('DELETED', going('2')))).toBe(true);
    expect([...tracker.uids()]).toEqual([]);
    tracker.seed(marked);
    expect(tracker.skips(textOf('DELETED', going('2')))).toBe(false);
  });

  it('is published although the list of its node came first, if it matters by itself', () => {
    const tracker = onWatchedNode();
    tracker.seed(state('1', 'Running', MARK));
    expect(tracker.observe(state('1', 'Running', MARK), NOW)).toMatchObject({ change: 'Added', interest: 'itself' });
  });

  it('is not read although an event before it was found worth reading', () => {
    const tracker = onWatchedNode();
    expect(tracker.skips(textOf('MODIFIED', state('2')))).toBe(false);
    expect(tracker.skips(textOf('MODIFIED', going('3')))).toBe(true);
  });

  it('is read when it is not known: a list after a lost watch must find out that it is gone', () => {
    const tracker = onWatchedNode();
    expect(tracker.skips(textOf('MODIFIED', going('2')))).toBe(false);
    expect(tracker.observe(going('2'), NOW)).toMatchObject({ change: 'Added' });
    expect(tracker.skips(textOf('MODIFIED', going('3')))).toBe(true);
  });

  it('is no news either where its event is read', () => {
    const tracker = onWatchedNode();
    tracker.seed(state('1', 'Pending'));
    expect(tracker.observe(going('2', 'Running'), NOW)).toBeUndefined();
    expect(tracker.observe(going('3', 'Succeeded'), NOW)).toMatchObject({ change: 'Modified', changed: ['phase'] });
  });

  it('is read when it has ended', () => {
    const tracker = onWatchedNode();
    tracker.seed(state('1'));
    expect(tracker.skips(textOf('MODIFIED', going('2', 'Failed')))).toBe(false);
    expect(tracker.observe(going('2', 'Failed'), NOW)).toMatchObject({ changed: ['phase'] });
  });

  it('is read when it has the annotation, or had it when it was last read', () => {
    expect(onWatchedNode().skips(textOf('MODIFIED', going('2', 'Running', MARK)))).toBe(false);
    const tracker = onWatchedNode();
    tracker.observe(state('1', 'Running', MARK), NOW);
    expect(tracker.skips(textOf('MODIFIED', going('2')))).toBe(false);
  });

  it('is read after an event with the annotation that is not read yet', () => {
    const tracker = onWatchedNode();
    expect(tracker.skips(textOf('MODIFIED', state('1', 'Running', MARK)))).toBe(false);
    expect(tracker.skips(textOf('MODIFIED', state('2')))).toBe(false);
    expect(tracker.skips(textOf('MODIFIED', going('3')))).toBe(false);
  });

  it('is not what a label looks like that has the name of the field', () => {
    const pod = aPod({ metadata: { uid: 'uid-web', labels: { deletionGracePeriodSeconds: '30' } } });
    expect(onWatchedNode().skips(textOf('MODIFIED', pod))).toBe(false);
  });
});

describe('a pod on a watched node that is known', () => {
  const running = { phase: 'Running', startTime: '2024-11-01T09:00:00Z' };
  const state = (resourceVersion: string, status: object, more: object = {}): KubernetesObject =>
    aPod({ metadata: { uid: 'uid-web', resourceVersion, annotations: {}, ...more }, spec: { nodeName: 'n1' }, status });
  const ready = (status: string) => ({ type: 'Ready', status, lastTransitionTime: '2024-11-01T09:00:10Z' });
  const disruption = { type: 'DisruptionTarget', status: 'True', reason: 'EvictionByEvictionAPI' };
  const seen = { ...running, conditions: [ready('True')] };
  const seenOn = (status: object = seen): Tracker => {
    const tracker = trackerOf('Pod', new Set(['n1']));
    tracker.seed(state('1', status));
    return tracker;
  };

  it('is not read when neither phase nor readiness nor start has changed', () => {
    const evicted = { ...running, conditions: [ready('True'), disruption], podIP: '10.0.0.1' };
    expect(seenOn().skips(textOf('MODIFIED', state('2', evicted)))).toBe(true);
    expect(seenOn(running).skips(textOf('MODIFIED', state('2', { ...running, conditions: [disruption] })))).toBe(true);
  });

  it.each([
    ['phase', { ...seen, phase: 'Failed' }],
    ['readiness', { ...running, conditions: [disruption, ready('False')] }],
    ['readiness that is not said any more', { ...running, conditions: [disruption] }],
    ['start', { ...seen, startTime: '2024-11-01T09:00:01Z' }],
  ])('is read when it has another %s', (_, status) => {
    expect(seenOn().skips(textOf('MODIFIED', state('2', status)))).toBe(false);
  });

  it('is read when words of its status stand somewhere else, too', () => {
    const failed = { ...seen, phase: 'Failed' };
    expect(seenOn().skips(textOf('MODIFIED', state('2', failed, { labels: { phase: 'Running' } })))).toBe(false);
    const quoted = { note: JSON.stringify({ phase: 'Failed', conditions: [ready('False')] }) };
    expect(seenOn().skips(textOf('MODIFIED', state('2', seen, { annotations: quoted })))).toBe(true);
  });

  it('is read after an event that is not read yet', () => {
    const tracker = seenOn();
    expect(tracker.skips(textOf('MODIFIED', state('2', { ...running, conditions: [ready('False')] })))).toBe(false);
    expect(tracker.skips(textOf('MODIFIED', state('3', seen)))).toBe(false);
  });
});

describe('isAboutNone', () => {
  it('does not judge a text without a UID: bookmarks and errors are always read', () => {
    const bookmark = '{"type":"BOOKMARK","object":{"kind":"Pod","metadata":{"resourceVersion":"7"}}}';
    expect(isAboutNone(bookmark, new Set())).toBe(false);
    expect(trackerOf('Pod').skips(bookmark)).toBe(false);
    expect(trackerOf('Node').skips(bookmark)).toBe(false);
  });

  it('finds a UID however it is spaced, and in the owners as well', () => {
    const text = '{"object":{"metadata":{"ownerReferences":[{"uid": "o"}],"uid" :"u"}}}';
    expect(isAboutNone(text, new Set(['u']))).toBe(false);
    expect(isAboutNone(text, new Set(['o']))).toBe(false);
    expect(isAboutNone(text, new Set(['x']))).toBe(true);
  });
});

describe('passing over', () => {
  const change = fc.record({
    type: fc.constantFrom<EventType>('ADDED', 'MODIFIED', 'MODIFIED', 'MODIFIED', 'DELETED'),
    heartbeat: fc.constantFrom('10:00', '10:05', '10:10'),
    ready: fc.constantFrom('True', 'True', 'False', 'Unknown'),
    labels: fc.constantFrom({}, { 'karpenter.sh/nodepool': 'a' }, { other: 'b' }),
    image: fc.constantFrom('a', 'b'),
    listed: fc.boolean(),
  });

  it('never keeps a change from being told, whatever happens to a node', () => {
    fc.assert(
      fc.property(fc.array(change, { maxLength: 40 }), changes => {
        const [reading, passing] = [trackerOf('Node'), trackerOf('Node')];
        const told: [ObjectChange | undefined, ObjectChange | undefined][] = [];
        changes.forEach(({ type, listed, ...fields }, index) => {
          const object = node({ ...fields, resourceVersion: String(index + 1) });
          const text = listed && type !== 'DELETED' ? undefined : textOf(type, object);
          const tell = (tracker: Tracker) =>
            type === 'DELETED' ? tracker.remove(object.metadata.uid, NOW, 'v') : tracker.observe(object, NOW);
          const passed = text !== undefined && passing.skips(text);
          told.push([tell(reading), passed ? undefined : tell(passing)]);
        });
        const relevant = (one: ObjectChange | undefined) => one && { ...one, resourceVersion: '' };
        for (const [expected, got] of told) expect(relevant(got)).toEqual(relevant(expected));
      }),
    );
  });
});
