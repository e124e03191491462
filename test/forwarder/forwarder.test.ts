import { afterEach, describe, expect, it } from 'vitest';
import { createForwarder, type Forwarder } from '../../forwarder/forwarder.ts';
import type { ForwarderSettings } from '../../forwarder/settings.ts';
import type { BusEntry } from '../../shared/contract/envelope.ts';
import { FORWARDER_HEARTBEAT } from '../../shared/contract/names.ts';
import { RESOURCES } from '../../shared/contract/resources.ts';
import { minutes, seconds } from '../../shared/domain/time.ts';
import { RetryableError } from '../../shared/errors.ts';
import { createManualClock } from '../fakes/manual-clock.ts';
import { aConfigMap, aNode, aNodeClaim, aNodePool, aPod, READY_CONDITION } from './builders.ts';
import { createCountingMetrics } from './counting-metrics.ts';
import { createFakeBus } from './fake-bus.ts';
import { createFakeClusterWatch } from './fake-cluster-watch.ts';

const running: Forwarder[] = [];

function setUp(settings: Partial<ForwarderSettings> = {}) {
  const clock = createManualClock();
  const kubernetes = createFakeClusterWatch();
  const bus = createFakeBus();
  const metrics = createCountingMetrics();
  const heartbeats: BusEntry[] = [];
  const forwarder = createForwarder({
    watch: kubernetes.cluster,
    bus: {
      publish: async entries => {
        if (entries[0]?.detailType !== FORWARDER_HEARTBEAT) return bus.bus.publish(entries);
        heartbeats.push(...entries);
        return entries.map(() => ({ kind: 'published' }));
      },
    },
    clock,
    metrics: metrics.sink,
    config: { cluster: 'test', ...settings },
  });
  running.push(forwarder);
  return { clock, kubernetes, bus, heartbeats, metrics, forwarder };
}

const notReady = { ...READY_CONDITION, status: 'False', lastTransitionTime: '2024-11-01T15:00:00Z' };

async function runForElevenMinutes(): Promise<unknown> {
  const { clock, kubernetes, bus, forwarder } = setUp();
  for (const name of ['n1', 'n2', 'n3']) kubernetes.add(RESOURCES.Node, aNode({ metadata: { name } }));
  kubernetes.add(RESOURCES.Pod, aPod());
  forwarder.start();
  await clock.advance(minutes(1));
  kubernetes.breakWatches(RESOURCES.Node, new RetryableError('ECONNRESET'));
  kubernetes.modify(RESOURCES.Node, aNode({ status: { conditions: [notReady] } }));
  await clock.advance(minutes(10));
  return { events: bus.events, calls: kubernetes.calls };
}

describe('forwarder', () => {
  afterEach(async () => {
    await Promise.all(running.splice(0).map(forwarder => forwarder.stop({ drainTimeout: seconds(0) })));
  });

  it('publishes what exists at the start as Added, each event valid by the contract', async () => {
    const { clock, kubernetes, bus, forwarder } = setUp();
    kubernetes.add(RESOURCES.Node, aNode());
    kubernetes.add(RESOURCES.NodeClaim, aNodeClaim());
    kubernetes.add(RESOURCES.NodePool, aNodePool());
    kubernetes.add(RESOURCES.ConfigMap, aConfigMap());
    forwarder.start();
    await clock.advance(0);
    expect(bus.lines()).toEqual([
      'Added Node/n1 [conditions,labels,providerID,taints]',
      'Added NodeClaim/nc1 [labels,nodeName,providerID,terminationGracePeriod]',
      'Added NodePool/default [spec]',
      'Added ConfigMap/curfew-config [data]',
    ]);
    expect(bus.events[1]).toMatchObject({
      schemaVersion: 1,
      cluster: 'test',
      subject: { kind: 'NodeClaim', apiVersion: 'karpenter.sh/v1', name: 'nc1', uid: 'uid-of-nc1' },
      hints: { nodePool: 'default', nodeName: 'n1', providerID: 'aws:///us-west-2a/i-0abc' },
      groupKey: 'n1',
      eventKey: 'uid-of-nc1:102:Added',
      observedTime: '2024-11-01T15:00:00.000Z',
    });
  });

  it('publishes a condition flip and not the heartbeats around it', async () => {
    const { clock, kubernetes, bus, metrics, forwarder } = setUp();
    kubernetes.add(RESOURCES.Node, aNode());
    forwarder.start();
    await clock.advance(0);
    const heartbeat = { ...READY_CONDITION, lastHeartbeatTime: '2024-11-01T15:00:00Z' };
    kubernetes.modify(RESOURCES.Node, aNode({ status: { conditions: [heartbeat] } }));
    kubernetes.modify(RESOURCES.Node, aNode({ status: { conditions: [notReady] } }));
    kubernetes.modify(RESOURCES.Node, aNode({ status: { conditions: [{ ...notReady, message: 'still' }] } }));
    await clock.advance(0);
    expect(bus.lines().slice(1)).toEqual(['Modified Node/n1 [conditions]']);
    expect(metrics.sum('EventsSuppressed{resource=nodes}')).toBe(2);
  });

  it('keeps one change per object through an outage of the bus and publishes the latest state after it', async () => {
    const { clock, kubernetes, bus, forwarder } = setUp();
    kubernetes.add(RESOURCES.Node, aNode());
    forwarder.start();
    await clock.advance(0);
    bus.failWith(new RetryableError('503'));
    for (let flip = 0; flip < 1000; flip++) {
      const status = flip % 2 === 0 ? 'False' : 'Unknown';
      kubernetes.modify(RESOURCES.Node, aNode({ status: { conditions: [{ ...READY_CONDITION, status }] } }));
    }
    kubernetes.modify(RESOURCES.Node, aNode({ spec: { providerID: 'aws:///us-west-2a/i-0abc', unschedulable: true } }));
    await clock.advance(minutes(3));
    expect(forwarder.stats().queueDepth).toBe(1);
    bus.recover();
    await clock.advance(seconds(20));
    expect(bus.lines().slice(1)).toEqual(['Modified Node/n1 [conditions,taints,unschedulable]']);
    expect(bus.events[1]?.resourceVersion).toBe('1102');
    expect(forwarder.stats().queueDepth).toBe(0);
  });

  it('publishes the deletion of an object whose addition the bus never took', async () => {
    const { clock, kubernetes, bus, forwarder } = setUp();
    bus.failWith(new RetryableError('503'));
    const node = kubernetes.add(RESOURCES.Node, aNode());
    forwarder.start();
    await clock.advance(seconds(5));
    kubernetes.remove(RESOURCES.Node, node);
    await clock.advance(seconds(5));
    bus.recover();
    await clock.advance(seconds(20));
    expect(bus.lines()).toEqual(['Deleted Node/n1 []']);
  });

  it('makes up for what happened while it could not watch, deletions included', async () => {
    const { clock, kubernetes, bus, metrics, forwarder } = setUp();
    kubernetes.add(RESOURCES.Node, aNode());
    const doomed = kubernetes.add(RESOURCES.Node, aNode({ metadata: { name: 'n2' } }));
    forwarder.start();
    await clock.advance(0);
    kubernetes.breakWatches(RESOURCES.Node, new RetryableError('ECONNRESET'));
    kubernetes.failLists(() => new RetryableError('ECONNREFUSED'));
    kubernetes.failWatches(() => new RetryableError('ECONNREFUSED'));
    await clock.advance(seconds(1));
    kubernetes.remove(RESOURCES.Node, doomed);
    kubernetes.add(RESOURCES.Node, aNode({ metadata: { name: 'n2', uid: 'another' } }));
    kubernetes.modify(RESOURCES.Node, aNode({ status: { conditions: [notReady] } }));
    kubernetes.compact();
    await clock.advance(minutes(3));
    kubernetes.failLists(undefined);
    kubernetes.failWatches(undefined);
    await clock.advance(seconds(30));
    expect(bus.lines().slice(2)).toEqual([
      'Modified Node/n1 [conditions]',
      'Added Node/n2 [conditions,labels,providerID,taints]',
      'Deleted Node/n2 []',
    ]);
    expect(bus.events[4]).toMatchObject({ subject: { uid: 'uid-of-n2' }, eventKey: 'uid-of-n2:Deleted' });
    expect(metrics.sum('ObjectsDeletedUnseen{resource=nodes}')).toBe(1);
  });

  it('tells of annotated pods only, and once more of one that loses its annotation', async () => {
    const { clock, kubernetes, bus, forwarder } = setUp();
    kubernetes.add(RESOURCES.Pod, aPod({ metadata: { name: 'plain', annotations: {} } }));
    kubernetes.add(RESOURCES.Pod, aPod());
    forwarder.start();
    await clock.advance(0);
    kubernetes.modify(RESOURCES.Pod, aPod({ metadata: { annotations: {} } }));
    kubernetes.modify(RESOURCES.Pod, aPod({ metadata: { annotations: {} }, status: { phase: 'Failed' } }));
    await clock.advance(0);
    expect(bus.lines()).toEqual([
      'Added Pod/web-0 [annotations,nodeName,startTime]',
      'Modified Pod/web-0 [annotations]',
    ]);
    expect(forwarder.stats().resources.find(({ resource }) => resource === 'pods')?.objects).toBe(0);
  });

  it('stops reading watches while the queue is full, and loses nothing', async () => {
    const { clock, kubernetes, bus, forwarder } = setUp({ queuedObjectsMax: 3 });
    bus.failWith(new RetryableError('503'));
    for (let index = 0; index < 20; index++) {
      kubernetes.add(RESOURCES.Node, aNode({ metadata: { name: `n${index}` } }));
    }
    forwarder.start();
    await clock.advance(minutes(10));
    expect(forwarder.stats().queueDepth).toBe(3);
    expect(forwarder.ready().ready).toBe(false);
    bus.recover();
    await clock.advance(minutes(1));
    expect(new Set(bus.events.map(({ subject }) => subject.name)).size).toBe(20);
    expect(bus.events).toHaveLength(20);
    expect(forwarder.ready()).toEqual({ ready: true, reasons: [] });
  });

  it('is ready once every served resource is listed, and not any more when one is stale', async () => {
    const { clock, kubernetes, forwarder } = setUp({ staleAfter: minutes(5) });
    kubernetes.setServed(RESOURCES.NodeClaim, false);
    kubernetes.failLists(resource => (resource === 'pods' ? new RetryableError('forbidden for now') : undefined));
    forwarder.start();
    await clock.advance(0);
    expect(forwarder.ready()).toEqual({ ready: false, reasons: ['pods: not listed yet (forbidden for now)'] });
    kubernetes.failLists(undefined);
    await clock.advance(seconds(30));
    expect(forwarder.ready()).toEqual({ ready: true, reasons: [] });
    kubernetes.failLists(() => new RetryableError('no route to host'));
    await clock.advance(minutes(8));
    expect(forwarder.ready().ready).toBe(false);
    expect(forwarder.ready().reasons).toContainEqual(expect.stringMatching(/^nodes: nothing heard for 510 s/));
    expect(forwarder.ready().reasons).toHaveLength(7);
  });

  it('is not ready when the bus has taken nothing for too long', async () => {
    const { clock, kubernetes, bus, forwarder } = setUp({ staleAfter: minutes(5) });
    bus.failWith(new RetryableError('access denied'));
    kubernetes.add(RESOURCES.Node, aNode());
    forwarder.start();
    await clock.advance(minutes(4));
    expect(forwarder.ready().ready).toBe(true);
    await clock.advance(minutes(2));
    expect(forwarder.ready().reasons).toEqual(['bus: takes nothing for 360 s (access denied)']);
  });

  it('gives a sign of life every period while it sees the cluster, and none while it does not', async () => {
    const { clock, kubernetes, heartbeats, forwarder } = setUp({ heartbeatPeriod: minutes(1), staleAfter: minutes(5) });
    kubernetes.add(RESOURCES.Node, aNode());
    kubernetes.failLists(() => new RetryableError('ECONNREFUSED'));
    forwarder.start();
    await clock.advance(seconds(20));
    expect(heartbeats).toEqual([]);
    kubernetes.failLists(undefined);
    await clock.advance(minutes(2));
    expect(heartbeats).toHaveLength(2);
    expect(heartbeats[0]?.detail).toMatchObject({ cluster: 'test', objects: { nodes: 1, pods: 0 } });
    kubernetes.failLists(() => new RetryableError('ECONNREFUSED'));
    await clock.advance(minutes(10));
    const count = heartbeats.length;
    await clock.advance(minutes(10));
    expect(heartbeats).toHaveLength(count);
  });

  it('publishes what is queued before it stops, within its time', async () => {
    const { clock, kubernetes, bus, forwarder } = setUp({ drainTimeout: seconds(10) });
    bus.failWith(new RetryableError('503'));
    kubernetes.add(RESOURCES.Node, aNode());
    forwarder.start();
    await clock.advance(seconds(1));
    const stopped = forwarder.stop();
    bus.recover();
    await clock.advance(seconds(3));
    await stopped;
    expect(bus.lines()).toHaveLength(1);
    expect(clock.sleepers()).toBe(0);
  });

  it('stops in time although the bus hangs, and leaves nothing behind', async () => {
    const { clock, kubernetes, bus, forwarder } = setUp({ drainTimeout: seconds(10) });
    bus.answerWith(() => new Promise(() => undefined));
    kubernetes.add(RESOURCES.Node, aNode());
    forwarder.start();
    await clock.advance(0);
    const stopped = forwarder.stop();
    await clock.advance(seconds(10));
    await stopped;
    expect(forwarder.stats().queueDepth).toBe(1);
    expect(clock.sleepers()).toBe(0);
    expect(kubernetes.openWatches()).toEqual([]);
  });

  it('runs the same way twice', async () => {
    expect(await runForElevenMinutes()).toEqual(await runForElevenMinutes());
  });
});
