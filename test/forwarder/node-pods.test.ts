import { describe, expect, it } from 'vitest';
import { nodeToWatch } from '../../forwarder/watched-nodes.ts';
import { RESOURCES } from '../../shared/contract/resources.ts';
import { minutes, seconds } from '../../shared/domain/time.ts';
import { RetryableError } from '../../shared/errors.ts';
import { aBudget, anAttachment, aNode, aNodeClaim, aPod } from './builders.ts';
import { aForwarder } from './running-forwarder.ts';

const { Node, NodeClaim, Pod, PodDisruptionBudget, VolumeAttachment } = RESOURCES;
const markedFor = (waiters: string) => aNode({ metadata: { annotations: { 'curfew.dev/watch-pods': waiters } } });
const marked = markedFor('drain');
const TERMINATED = { nodeName: 'n1', waiters: ['finalizer'] };
const plain = (name: string, overrides: object = {}) => aPod({ ...overrides, metadata: { name, annotations: {} } });
const deleted = (finalizers: string[]) => ({ deletionTimestamp: '2024-11-01T15:00:00Z', finalizers });

describe('the node whose pods are asked for', () => {
  it.each([
    ['a Node at rest', 'Node', aNode(), undefined],
    ['a marked Node', 'Node', marked, { nodeName: 'n1', waiters: ['drain'] }],
    [
      'one that several wait for',
      'Node',
      markedFor('drain,finalizer'),
      { nodeName: 'n1', waiters: ['drain', 'finalizer'] },
    ],
    ['an empty mark', 'Node', aNode({ metadata: { annotations: { 'curfew.dev/watch-pods': '' } } }), undefined],
    ['a mark on a NodeClaim', 'NodeClaim', aNodeClaim({ metadata: marked.metadata }), undefined],
    ['a Node that is being deleted', 'Node', aNode({ metadata: deleted(['example.com/custom']) }), TERMINATED],
    [
      "one that only Karpenter's finalizer holds",
      'Node',
      aNode({ metadata: deleted(['karpenter.sh/termination']) }),
      undefined,
    ],
    [
      'one that both hold',
      'Node',
      aNode({ metadata: deleted(['karpenter.sh/termination', 'curfew.dev/x']) }),
      TERMINATED,
    ],
    [
      'a NodeClaim that is being deleted',
      'NodeClaim',
      aNodeClaim({ metadata: deleted(['curfew.dev/termination']) }),
      TERMINATED,
    ],
    [
      'a NodeClaim without a node',
      'NodeClaim',
      aNodeClaim({ metadata: deleted(['curfew.dev/x']), status: {} }),
      undefined,
    ],
  ] as const)('%s', (_what, kind, object, expected) => {
    expect(nodeToWatch(kind, object)).toEqual(expected);
  });
});

describe('what holds a Node for protected pods', () => {
  it('is published to who holds it alone, unless something else changed too', async () => {
    const { clock, kubernetes, bus, forwarder } = aForwarder();
    kubernetes.add(Node, aNode());
    forwarder.start();
    await clock.advance(0);
    const held = { 'karpenter.sh/do-not-disrupt': 'true', 'curfew.dev/protected-until': '2024-11-01T15:00:00Z' };
    kubernetes.modify(Node, aNode({ metadata: { annotations: held } }));
    await clock.advance(0);
    kubernetes.modify(Node, aNode({ metadata: { annotations: { 'curfew.dev/do-not-repair': 'true' } } }));
    await clock.advance(0);
    expect(bus.lines().slice(1)).toEqual([
      'Modified Node/n1 [protection]',
      'Modified Node/n1 [annotations,protection]',
    ]);
    expect(bus.detailTypes.slice(1)).toEqual(['NodeProtectionChanged', 'NodeChanged']);
  });
});

describe('what drains write and read of a Node', () => {
  it('is published at once, also when somebody drains, calls it off and asks again', async () => {
    const { clock, kubernetes, forwarder, news } = aForwarder();
    kubernetes.add(Node, aNode({ spec: { unschedulable: false } }));
    forwarder.start();
    await clock.advance(0);
    news();
    const write = async (annotations: Record<string, string>, unschedulable: boolean): Promise<readonly string[]> => {
      kubernetes.modify(Node, aNode({ metadata: { annotations }, spec: { unschedulable } }));
      await clock.advance(0);
      return news();
    };
    for (const id of ['a', 'b', 'c']) {
      const asked = { 'curfew.dev/drain-requested': id };
      expect(await write(asked, false)).toEqual(['Modified Node/n1 [drain]']);
      expect(await write({ ...asked, 'curfew.dev/cordoned-by-drain': id }, true)).toHaveLength(1);
      expect(await write({ 'curfew.dev/cordoned-by-drain': id }, true)).toEqual(['Modified Node/n1 [drain]']);
      expect(await write({}, false)).toHaveLength(1);
    }
  });
});

describe('pods of a watched node', () => {
  async function watching() {
    const world = aForwarder();
    const { clock, kubernetes, forwarder, news } = world;
    kubernetes.add(Node, aNode());
    kubernetes.add(Pod, plain('a'));
    kubernetes.add(Pod, plain('elsewhere', { spec: { nodeName: 'n2' } }));
    kubernetes.add(PodDisruptionBudget, aBudget());
    kubernetes.add(VolumeAttachment, anAttachment());
    kubernetes.add(VolumeAttachment, anAttachment({ metadata: { name: 'csi-2' }, spec: { nodeName: 'n2' } }));
    forwarder.start();
    await clock.advance(0);
    news();
    kubernetes.modify(Node, marked);
    await clock.advance(0);
    return world;
  }

  it('are listed once, without a limit and unpublished; then the Node says that they are watched', async () => {
    const { kubernetes, news } = await watching();
    expect(kubernetes.calls).toContain('list pods of n1');
    expect(news()).toEqual(['Modified Node/n1 [drain]', 'Modified Node/n1 [podsWatched]']);
  });

  it('are news to the one that waits for them alone; who joins later is told to look', async () => {
    const { clock, kubernetes, bus, news } = await watching();
    const types = () => bus.events.map(({ changed }, index) => `${bus.detailTypes[index]} ${changed.join()}`);
    expect(types().slice(-2)).toEqual(['DrainedNodeChanged drain', 'DrainedNodeChanged podsWatched']);
    news();
    kubernetes.modify(Node, markedFor('drain,finalizer'));
    await clock.advance(0);
    expect(news()).toHaveLength(2);
    expect(types().slice(-2)).toEqual(['NodePodsChanged podsWatched', 'NodeChanged annotations,drain']);
    kubernetes.modify(Node, markedFor('finalizer'));
    kubernetes.remove(Pod, plain('a'));
    await clock.advance(seconds(1));
    expect(types().at(-1)).toBe('NodePodsChanged pods');
    expect(bus.events.at(-1)?.hints).toMatchObject({ podsFor: 'finalizer' });
  });

  it('are published as a change of their node, together, also one that goes without another event', async () => {
    const { clock, kubernetes, news } = await watching();
    news();
    kubernetes.modify(
      Pod,
      plain('a', { status: { phase: 'Running', conditions: [{ type: 'Ready', status: 'False' }] } }),
    );
    kubernetes.add(Pod, plain('b', { status: { phase: 'Pending' } }));
    kubernetes.modify(Pod, plain('elsewhere', { spec: { nodeName: 'n2' }, status: { phase: 'Failed' } }));
    await clock.advance(0);
    expect(news()).toEqual(['Modified Node/n1 [pods]']);
    kubernetes.remove(Pod, plain('a'));
    kubernetes.remove(Pod, plain('elsewhere', { spec: { nodeName: 'n2' } }));
    await clock.advance(seconds(0.2));
    expect(news()).toEqual([]);
    await clock.advance(seconds(0.1));
    expect(news()).toEqual(['Modified Node/n1 [pods]']);
  });

  it('are not published when they are about to go: who empties the node waits until they are gone', async () => {
    const { clock, kubernetes, news } = await watching();
    news();
    kubernetes.modify(Pod, aPod({ metadata: { name: 'a', annotations: {}, ...deleted([]) } }));
    await clock.advance(seconds(1));
    expect(news()).toEqual([]);
  });

  it('are published themselves as well when they carry an annotation, or lose it', async () => {
    const { clock, kubernetes, news } = await watching();
    news();
    kubernetes.modify(Pod, aPod({ metadata: { name: 'a' } }));
    await clock.advance(0);
    expect(news()).toEqual(['Modified Pod/a [annotations]', 'Modified Node/n1 [pods]']);
    kubernetes.modify(Pod, aPod({ metadata: { name: 'a', ...deleted([]) } }));
    await clock.advance(seconds(1));
    expect(news()).toEqual(['Modified Pod/a [deletionTimestamp]']);
    kubernetes.modify(Pod, plain('a'));
    await clock.advance(seconds(1));
    expect(news()).toEqual(['Modified Pod/a [annotations,deletionTimestamp]', 'Modified Node/n1 [pods]']);
  });

  it('of a node that is not there are told one by one to those who wait for them', async () => {
    const { clock, kubernetes, forwarder, bus, news } = aForwarder();
    kubernetes.add(NodeClaim, aNodeClaim({ metadata: deleted(['curfew.dev/termination']) }));
    forwarder.start();
    await clock.advance(0);
    news();
    kubernetes.add(Pod, plain('a'));
    await clock.advance(0);
    expect(bus.detailTypes.at(-1)).toBe('NodePodsChanged');
    expect(news()).toEqual(['Added Pod/a [nodeName,phase,startTime]']);
  });

  it('come with budgets that open and attachments of the node that go, and with nothing else of them', async () => {
    const { clock, kubernetes, news } = await watching();
    news();
    kubernetes.modify(PodDisruptionBudget, aBudget({ status: { disruptionsAllowed: 1 } }));
    await clock.advance(0);
    expect(news()).toEqual(['Modified PodDisruptionBudget/web [open]']);
    kubernetes.modify(PodDisruptionBudget, aBudget({ status: { disruptionsAllowed: 2 } }));
    kubernetes.modify(PodDisruptionBudget, aBudget({ status: { disruptionsAllowed: 0 } }));
    kubernetes.remove(VolumeAttachment, anAttachment({ metadata: { name: 'csi-2' }, spec: { nodeName: 'n2' } }));
    kubernetes.remove(VolumeAttachment, anAttachment());
    await clock.advance(0);
    expect(news()).toEqual(['Modified Node/n1 [pods]']);
    kubernetes.remove(PodDisruptionBudget, aBudget());
    await clock.advance(0);
    expect(news()).toEqual(['Deleted PodDisruptionBudget/web []']);
  });

  it('are not published any more when the mark is taken off; what can hold them stays watched for a while', async () => {
    const { clock, kubernetes, forwarder, news } = await watching();
    kubernetes.modify(Node, aNode());
    await clock.advance(0);
    news();
    kubernetes.remove(Pod, plain('a'));
    await clock.advance(0);
    expect(news()).toEqual([]);
    const watched = (): string[] => forwarder.stats().resources.map(({ resource }) => resource);
    await clock.advance(minutes(4));
    expect(watched()).toContain('poddisruptionbudgets');
    await clock.advance(minutes(2));
    expect(watched()).not.toContain('poddisruptionbudgets');
    kubernetes.modify(Node, marked);
    await clock.advance(0);
    expect(news()).toEqual(['Modified Node/n1 [drain]', 'Modified Node/n1 [podsWatched]']);
    expect(watched()).toContain('poddisruptionbudgets');
  });

  it('are watched from the deletion of the NodeClaim until both objects are gone', async () => {
    const { clock, kubernetes, forwarder, news } = aForwarder();
    kubernetes.add(Node, aNode());
    kubernetes.add(NodeClaim, aNodeClaim());
    kubernetes.add(Pod, plain('a'));
    forwarder.start();
    await clock.advance(0);
    const claim = aNodeClaim({ metadata: deleted(['curfew.dev/termination']) });
    kubernetes.modify(NodeClaim, claim);
    await clock.advance(0);
    kubernetes.remove(Pod, plain('a'));
    await clock.advance(0);
    expect(news().slice(2)).toEqual([
      'Modified NodeClaim/nc1 [deletionTimestamp,finalizers]',
      'Modified Node/n1 [podsWatched]',
      'Modified Node/n1 [pods]',
    ]);
    kubernetes.remove(NodeClaim, claim);
    await clock.advance(0);
    kubernetes.remove(Pod, plain('b'));
    await clock.advance(0);
    expect(news()).toEqual(['Deleted NodeClaim/nc1 []']);
  });

  it('are listed again until that succeeds, and a missing permission for budgets delays nothing for long', async () => {
    const { clock, kubernetes, forwarder, news } = aForwarder();
    kubernetes.add(Node, marked);
    kubernetes.failLists(resource =>
      ['pods', 'poddisruptionbudgets'].includes(resource)
        ? new RetryableError('no', { reason: 'Forbidden' })
        : undefined,
    );
    forwarder.start();
    await clock.advance(seconds(10));
    kubernetes.failLists(resource =>
      resource === 'poddisruptionbudgets' ? new RetryableError('no', { reason: 'Forbidden' }) : undefined,
    );
    await clock.advance(minutes(1));
    expect(news().slice(1)).toEqual(['Modified Node/n1 [podsWatched]']);
    expect(forwarder.ready()).toEqual({ ready: true, reasons: [] });
  });

  it('leave nothing behind when the forwarder stops', async () => {
    const { clock, kubernetes, forwarder } = await watching();
    await forwarder.stop({ drainTimeout: seconds(0) });
    await clock.advance(0);
    expect(clock.sleepers()).toBe(0);
    expect(kubernetes.openWatches()).toEqual([]);
  });
});
