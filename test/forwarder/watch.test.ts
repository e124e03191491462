import { afterEach, describe, expect, it } from 'vitest';
import { WATCHED_RESOURCES } from '../../forwarder/resources.ts';
import { DEFAULT_SETTINGS } from '../../forwarder/settings.ts';
import { SILENT_LOG } from '../../forwarder/log.ts';
import { createWatchSupervisor, type ObjectConsumer, type WatchTimings } from '../../forwarder/watch.ts';
import { RESOURCES } from '../../shared/contract/resources.ts';
import type { KubernetesObject } from '../../shared/domain/kubernetes-object.ts';
import { minutes, seconds } from '../../shared/domain/time.ts';
import { RetryableError, TerminalError } from '../../shared/errors.ts';
import { WatchExpired } from '../../shared/ports/cluster-watch.ts';
import { createManualClock, MANUAL_CLOCK_START } from '../fakes/manual-clock.ts';
import { aNode } from './builders.ts';
import { createCountingMetrics } from './counting-metrics.ts';
import { createFakeClusterWatch } from './fake-cluster-watch.ts';

const { Node } = RESOURCES;
const stops: (() => Promise<void>)[] = [];

function setUp({
  timings = {},
  throwOn,
}: { timings?: Partial<WatchTimings>; throwOn?: (name: string) => boolean } = {}) {
  const [resource] = WATCHED_RESOURCES;
  if (resource === undefined) throw new Error('nothing is watched');
  const clock = createManualClock();
  const kubernetes = createFakeClusterWatch();
  const metrics = createCountingMetrics();
  const told: string[] = [];
  const tell = (what: string, { metadata }: KubernetesObject): void => {
    if (throwOn?.(metadata.name) === true) throw new Error(`cannot handle ${metadata.name}`);
    told.push(`${what} ${metadata.name} v${metadata.resourceVersion}`);
  };
  const consumer: ObjectConsumer = {
    present: async object => tell('present', object),
    gone: async object => tell('gone', object),
    onlyPresent: async uids => {
      told.push(`only ${[...uids].toSorted().join()}`);
      return 0;
    },
  };
  const supervisor = createWatchSupervisor({
    resource,
    watch: kubernetes.cluster,
    consumer,
    clock,
    metrics: metrics.sink,
    log: SILENT_LOG,
    timings: { ...DEFAULT_SETTINGS.watch, ...timings },
  });
  const stop = new AbortController();
  const start = (): void => {
    const ended = supervisor.run(stop.signal);
    stops.push(() => {
      stop.abort(new Error('stopping'));
      return ended;
    });
  };
  return { clock, kubernetes, metrics, told, supervisor, start, stop };
}

const node = (name: string) => aNode({ metadata: { name } });
const reset = new RetryableError('read ECONNRESET');

describe('watch supervisor', () => {
  afterEach(async () => {
    await Promise.all(stops.splice(0).map(stop => stop()));
  });

  it('lists page by page and watches from where the list ended', async () => {
    const { clock, kubernetes, told, start } = setUp({ timings: { pageSize: 2 } });
    for (const name of ['a', 'b', 'c']) kubernetes.add(Node, node(name));
    start();
    await clock.advance(0);
    kubernetes.modify(Node, node('b'));
    kubernetes.remove(Node, node('c'));
    await clock.advance(0);
    expect(kubernetes.calls).toEqual(['list nodes', 'list nodes from 2', 'watch nodes from 103']);
    expect(told).toEqual([
      'present a v101',
      'present b v102',
      'present c v103',
      'only uid-of-a,uid-of-b,uid-of-c',
      'present b v104',
      'gone c v105',
    ]);
  });

  it('reads Nodes, which are large, in small pages without their images', async () => {
    const { clock, kubernetes, start } = setUp();
    for (let index = 0; index < 60; index += 1) kubernetes.add(Node, node(`node-${index}`));
    start();
    await clock.advance(0);
    expect(kubernetes.calls).toEqual(['list nodes', 'list nodes from 50', 'watch nodes from 160']);
    expect(kubernetes.unread.get('nodes')).toEqual(['images', 'managedFields']);
  });

  it('resumes where the last watch ended, bookmarks included, without listing again', async () => {
    const { clock, kubernetes, told, start } = setUp();
    start();
    await clock.advance(seconds(10));
    kubernetes.add(RESOURCES.Pod, node('elsewhere'));
    kubernetes.bookmark(Node);
    await clock.advance(seconds(10));
    kubernetes.breakWatches(Node);
    kubernetes.add(Node, node('meanwhile'));
    await clock.advance(seconds(1));
    expect(kubernetes.calls).toEqual(['list nodes', 'watch nodes from 100', 'watch nodes from 101']);
    expect(told.at(-1)).toBe('present meanwhile v102');
  });

  it('resumes after the last event that it saw, a deletion too', async () => {
    const { clock, kubernetes, told, start } = setUp();
    kubernetes.add(Node, node('a'));
    start();
    await clock.advance(0);
    kubernetes.remove(Node, node('a'));
    await clock.advance(0);
    kubernetes.breakWatches(Node);
    await clock.advance(0);
    expect(kubernetes.calls).toEqual(['list nodes', 'watch nodes from 101', 'watch nodes from 102']);
    expect(told.filter(line => line === 'gone a v102')).toHaveLength(1);
  });

  it('counts a quiet watch that the server ended as success', async () => {
    const { clock, kubernetes, start } = setUp();
    kubernetes.failWatches(() => reset);
    start();
    await clock.advance(seconds(2));
    kubernetes.failWatches(undefined);
    await clock.advance(seconds(60));
    kubernetes.breakWatches(Node);
    await clock.advance(0);
    kubernetes.breakWatches(Node, reset);
    await clock.advance(seconds(1));
    expect(kubernetes.calls.filter(call => call.startsWith('watch'))).toHaveLength(5);
    expect(kubernetes.calls.filter(call => call.startsWith('list'))).toHaveLength(1);
  });

  it('lists again when its position has expired, and says who is left', async () => {
    const { clock, kubernetes, told, metrics, start } = setUp();
    kubernetes.add(Node, node('a'));
    kubernetes.add(Node, node('b'));
    start();
    await clock.advance(seconds(10));
    kubernetes.breakWatches(Node, new WatchExpired('too old resource version'));
    kubernetes.remove(Node, node('a'));
    await clock.advance(0);
    expect(kubernetes.calls).toEqual(['list nodes', 'watch nodes from 102', 'list nodes', 'watch nodes from 103']);
    expect(told.slice(-2)).toEqual(['present b v102', 'only uid-of-b']);
    expect(metrics.sum('WatchExpired{resource=nodes}')).toBe(1);
  });

  // A server whose every watch is expired at once must not be listed in a tight loop.
  it('backs off when positions keep expiring', async () => {
    const { clock, kubernetes, metrics, start } = setUp();
    kubernetes.failWatches(() => new WatchExpired('too old resource version'));
    start();
    await clock.advance(minutes(5));
    expect(metrics.sum('ListsCompleted{resource=nodes}')).toBe(15);
  });

  it('survives a lost connection: waits, watches again, and lists only after several failures', async () => {
    const { clock, kubernetes, start } = setUp();
    start();
    await clock.advance(0);
    kubernetes.failWatches(() => reset);
    kubernetes.breakWatches(Node, reset);
    await clock.advance(seconds(1 + 2 + 4 + 8));
    expect(kubernetes.calls).toEqual([
      'list nodes',
      'watch nodes from 100',
      'watch nodes from 100', // after 1 s
      'watch nodes from 100', // after 2 s
      'list nodes', // after 4 s
      'watch nodes from 100',
      'list nodes', // after 8 s
      'watch nodes from 100',
    ]);
  });

  it('doubles its delay up to the longest, and starts small again after success', async () => {
    const { clock, kubernetes, start, supervisor } = setUp();
    kubernetes.failLists(() => reset);
    start();
    await clock.advance(seconds(1 + 2 + 4 + 8 + 16));
    expect(kubernetes.calls).toHaveLength(6);
    await clock.advance(seconds(29));
    expect(kubernetes.calls).toHaveLength(6);
    expect(supervisor.status()).toMatchObject({ state: 'starting', problem: 'read ECONNRESET' });
    kubernetes.failLists(undefined);
    await clock.advance(seconds(1));
    expect(supervisor.status()).toMatchObject({ state: 'synced', problem: undefined });
    kubernetes.bookmark(Node);
    await clock.advance(0);
    kubernetes.breakWatches(Node, reset);
    await clock.advance(seconds(1));
    expect(kubernetes.calls.slice(6)).toEqual(['list nodes', 'watch nodes from 100', 'watch nodes from 100']);
  });

  it('waits as long as the server asks it to, within reason', async () => {
    const { clock, kubernetes, start } = setUp();
    kubernetes.failLists(() => new RetryableError('too many requests', { retryAfterMs: 12_000 }));
    start();
    await clock.advance(seconds(11));
    expect(kubernetes.calls).toHaveLength(1);
    kubernetes.failLists(() => new RetryableError('too many requests', { retryAfterMs: 3_600_000 }));
    await clock.advance(seconds(1 + 30));
    expect(kubernetes.calls).toHaveLength(3);
  });

  it('goes on when the consumer throws, and comes back to that object with the next list', async () => {
    let broken = true;
    const { clock, kubernetes, told, metrics, start } = setUp({ throwOn: name => broken && name === 'bad' });
    start();
    await clock.advance(0);
    kubernetes.add(Node, node('bad'));
    kubernetes.add(Node, node('good'));
    await clock.advance(0);
    expect(told).toEqual(['only ', 'present good v102']);
    expect(metrics.sum('ConsumerFailed{resource=nodes}')).toBe(1);
    broken = false;
    kubernetes.breakWatches(Node);
    await clock.advance(0);
    expect(told.slice(2)).toEqual(['present bad v101', 'present good v102', 'only uid-of-bad,uid-of-good']);
    kubernetes.bookmark(Node);
    kubernetes.breakWatches(Node);
    await clock.advance(0);
    expect(kubernetes.calls.slice(-2)).toEqual(['watch nodes from 102', 'watch nodes from 102']);
  });

  it('lists again after a consumer threw during a list', async () => {
    let broken = true;
    const { clock, kubernetes, told, start } = setUp({ throwOn: name => broken && name === 'bad' });
    kubernetes.add(Node, node('bad'));
    start();
    await clock.advance(0);
    broken = false;
    kubernetes.breakWatches(Node, reset);
    await clock.advance(seconds(1));
    expect(told).toEqual(['only uid-of-bad', 'present bad v101', 'only uid-of-bad']);
  });

  it('polls quietly for a resource that is not served, until it is', async () => {
    const { clock, kubernetes, told, supervisor, metrics, start } = setUp();
    kubernetes.setServed(Node, false);
    start();
    await clock.advance(seconds(89));
    expect(kubernetes.calls).toEqual(['list nodes', 'list nodes', 'list nodes']);
    expect(supervisor.status()).toEqual({
      state: 'notServed',
      lastContactTime: MANUAL_CLOCK_START + 60_000,
      problem: undefined,
      forbidden: false,
    });
    expect(metrics.sum('WatchFailed')).toBe(0);
    kubernetes.setServed(Node, true);
    kubernetes.add(Node, node('first'));
    await clock.advance(seconds(1));
    expect(supervisor.status().state).toBe('synced');
    expect(told.slice(-2)).toEqual(['present first v101', 'only uid-of-first']);
  });

  it('believes that a resource is not served any more only when it is said twice', async () => {
    const { clock, kubernetes, told, start } = setUp();
    kubernetes.add(Node, node('a'));
    start();
    await clock.advance(0);
    kubernetes.setServed(Node, false);
    kubernetes.breakWatches(Node, new WatchExpired('not served'));
    await clock.advance(0);
    expect(told).toEqual(['present a v101', 'only uid-of-a']);
    await clock.advance(seconds(30));
    expect(told.at(-1)).toBe('only ');
  });

  it('cuts a watch that has fallen silent and lists to see what it missed', async () => {
    const { clock, kubernetes, told, start } = setUp({ timings: { longestInactivity: seconds(150) } });
    start();
    await clock.advance(seconds(100));
    kubernetes.bookmark(Node);
    await clock.advance(seconds(1));
    kubernetes.muteWatches();
    kubernetes.add(Node, node('unheard'));
    await clock.advance(seconds(148));
    expect(told).toEqual(['only ']);
    await clock.advance(seconds(2));
    expect(told).toEqual(['only ', 'present unheard v101', 'only uid-of-unheard']);
  });

  it('keeps a quiet watch that sends bookmarks', async () => {
    const { clock, kubernetes, start } = setUp();
    start();
    for (let minute = 0; minute < 30; minute++) {
      await clock.advance(minutes(1));
      kubernetes.bookmark(Node);
    }
    expect(kubernetes.calls).toEqual(['list nodes', 'watch nodes from 100']);
  });

  it('gives up on a list that never answers', async () => {
    const { clock, kubernetes, supervisor, start } = setUp({ timings: { listTimeout: seconds(60) } });
    kubernetes.failLists(() => 'hang');
    start();
    await clock.advance(seconds(60));
    expect(supervisor.status().problem).toBe('listing nodes: nothing heard for 60 s');
    kubernetes.failLists(undefined);
    await clock.advance(seconds(1));
    expect(supervisor.status().state).toBe('synced');
  });

  it('does not spin on a server that ends every watch at once', async () => {
    const { clock, kubernetes, metrics, start } = setUp();
    kubernetes.failWatches(() => 'end');
    start();
    await clock.advance(minutes(5));
    expect(metrics.sum('WatchStarted{resource=nodes}')).toBe(14);
  });

  it('keeps trying, slowly, when it is not allowed to list', async () => {
    const { clock, kubernetes, supervisor, start } = setUp();
    kubernetes.failLists(() => new TerminalError('Forbidden', 'nodes is forbidden'));
    start();
    await clock.advance(minutes(10));
    expect(supervisor.status().problem).toBe('nodes is forbidden');
    kubernetes.failLists(undefined);
    await clock.advance(seconds(30));
    expect(supervisor.status().state).toBe('synced');
  });

  it('asks the server to end the watch after five minutes', async () => {
    const { clock, kubernetes, start } = setUp();
    start();
    await clock.advance(0);
    expect(kubernetes.openWatches()).toMatchObject([
      { resource: 'nodes', resourceVersion: '100', timeoutSeconds: 300 },
    ]);
  });

  it.each(['while it watches', 'while it waits', 'while a list hangs'])('ends when told to %s', async when => {
    const { clock, kubernetes, start } = setUp();
    if (when === 'while it waits') kubernetes.failLists(() => reset);
    if (when === 'while a list hangs') kubernetes.failLists(() => 'hang');
    start();
    await clock.advance(0);
    const stop = stops.pop();
    await stop?.();
    expect(clock.sleepers()).toBe(0);
    expect(kubernetes.openWatches()).toMatchObject([]);
  });
});
