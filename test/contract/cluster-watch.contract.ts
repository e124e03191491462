/** What every `ClusterWatch` does: the same assertions in process, over HTTP and on a real control plane. */
import { describe, expect, it } from 'vitest';
import { RESOURCES } from '../../shared/contract/resources.ts';
import {
  WatchExpired,
  type ClusterWatch,
  type WatchEvent,
  type WatchSelection,
} from '../../shared/ports/cluster-watch.ts';
import { configMap, configMapRef, created, NOT_SERVED, type KubernetesSubject } from './kubernetes-subject.ts';
import { objectAt } from '../fakes/objects.ts';

const type = RESOURCES.ConfigMap;
const LONG_SECONDS = 60;

/** Everything selected, page by page, and the version to watch from. */
async function listAll(watch: ClusterWatch, selection: WatchSelection, limit = 500) {
  const { signal } = new AbortController();
  const names: string[] = [];
  const versions: string[] = [];
  let token: string | undefined;
  do {
    const page = await watch.list(type, {
      selection,
      limit,
      signal,
      ...(token === undefined ? {} : { continue: token }),
    });
    if (page.kind !== 'page') throw new Error(page.kind);
    expect(page.items.length).toBeLessThanOrEqual(limit);
    names.push(...page.items.map(({ metadata }) => metadata.name));
    versions.push(page.resourceVersion);
    token = page.continue;
  } while (token !== undefined);
  return { names, versions, resourceVersion: versions.at(-1) ?? '' };
}

/** The first events that are not bookmarks; then the watch is ended. */
async function firstEvents(
  { watch, namespace }: KubernetesSubject,
  from: string,
  count: number,
  selection: WatchSelection = {},
): Promise<WatchEvent[]> {
  const events: WatchEvent[] = [];
  const { signal } = new AbortController();
  const options = {
    selection: { namespace, ...selection },
    resourceVersion: from,
    timeoutSeconds: LONG_SECONDS,
    signal,
  };
  for await (const event of watch.watch(type, options)) {
    if (event.type === 'BOOKMARK') continue;
    events.push(event);
    if (events.length === count) break;
  }
  return events;
}

function brief(event: WatchEvent): string {
  return event.type === 'BOOKMARK' ? event.type : `${event.type} ${event.object.metadata.name}`;
}

export function defineClusterWatchContract(name: string, makeSubject: () => Promise<KubernetesSubject>): void {
  describe(`ClusterWatch: ${name}`, () => {
    it('lists in pages of one snapshot', async () => {
      const { api, watch, namespace } = await makeSubject();
      const expected = ['a', 'b', 'c', 'd', 'e'];
      for (const each of expected) await created(api, type, configMap(namespace, each));
      const labels = { labels: { kept: 'yes' } };
      await created(api, type, configMap(namespace, 'f', { metadata: labels }));
      const { names, versions } = await listAll(watch, { namespace, labelSelector: '!kept' }, 2);
      expect(names.filter(each => each.length === 1)).toEqual(expected);
      expect(new Set(versions).size).toBe(1);
    });

    it('finds the resource of a kind', async () => {
      const { watch } = await makeSubject();
      const { signal } = new AbortController();
      const resolve = (group: string, version: string, kind: string) => watch.resolve({ group, version, kind }, signal);
      expect(await resolve('', 'v1', 'ConfigMap')).toEqual(type);
      expect(await resolve('policy', 'v1', 'PodDisruptionBudget')).toEqual(RESOURCES.PodDisruptionBudget);
      expect(await resolve('', 'v1', 'Nothing')).toBeUndefined();
      expect(await resolve('policy', 'v99', 'PodDisruptionBudget')).toBeUndefined();
      expect(await resolve('nobody.example.com', 'v1', 'Nothing')).toBeUndefined();
    });

    it('finds the versions that serve a kind', async () => {
      const { watch } = await makeSubject();
      const { signal } = new AbortController();
      expect(await watch.versionsOf({ group: '', kind: 'ConfigMap' }, signal)).toEqual(['v1']);
      expect(await watch.versionsOf({ group: 'policy', kind: 'PodDisruptionBudget' }, signal)).toEqual(['v1']);
      expect(await watch.versionsOf({ group: 'policy', kind: 'Nothing' }, signal)).toEqual([]);
      expect(await watch.versionsOf({ group: 'nobody.example.com', kind: 'Nothing' }, signal)).toEqual([]);
    });

    it('lists everything at once without a limit', async () => {
      const { api, watch, namespace } = await makeSubject();
      const { signal } = new AbortController();
      for (const each of ['a', 'b', 'c']) await created(api, type, configMap(namespace, each));
      const page = await watch.list(type, {
        selection: { namespace, fieldSelector: 'metadata.name!=kube-root-ca.crt' },
        signal,
      });
      expect(page).toMatchObject({ kind: 'page', items: [{}, {}, {}] });
      expect(page).not.toHaveProperty('continue');
    });

    it('says that a resource is not served', async () => {
      const { watch } = await makeSubject();
      const { signal } = new AbortController();
      expect(await watch.list(NOT_SERVED, { limit: 10, signal })).toEqual({ kind: 'notServed' });
    });

    it('asks for a new list when the resource of a watch is not served', async () => {
      const { watch } = await makeSubject();
      const { signal } = new AbortController();
      const events = watch.watch(NOT_SERVED, { resourceVersion: '1', timeoutSeconds: 5, signal });
      await expect(Array.fromAsync(events)).rejects.toBeInstanceOf(WatchExpired);
    });

    it('delivers what happened since the list and what happens, in order, with the object as it was', async () => {
      const subject = await makeSubject();
      const { api, watch, namespace } = subject;
      await created(api, type, configMap(namespace, 'before'));
      const { resourceVersion } = await listAll(watch, { namespace });
      await created(api, type, configMap(namespace, 'a', { data: { n: '1' } }));
      const events = firstEvents(subject, resourceVersion, 4);
      await api.patch(configMapRef(namespace, 'a'), { type: 'merge', body: { data: { n: '2' } } });
      const a = await objectAt(api, configMapRef(namespace, 'a'));
      await created(api, type, configMap(namespace, 'b'));
      await api.delete(configMapRef(namespace, 'a'), { preconditions: { uid: a?.metadata.uid ?? '' } });
      const received = await events;
      expect(received.map(brief)).toEqual(['ADDED a', 'MODIFIED a', 'ADDED b', 'DELETED a']);
      expect(received[0]).toMatchObject({ object: { apiVersion: 'v1', kind: 'ConfigMap', data: { n: '1' } } });
      expect(received[1]).toMatchObject({ object: a });
      expect(received[3]).toMatchObject({ object: { data: { n: '2' } } });
    });

    it('resumes after any event that it delivered', async () => {
      const subject = await makeSubject();
      const { api, watch, namespace } = subject;
      const { resourceVersion } = await listAll(watch, { namespace });
      for (const each of ['a', 'b', 'c']) await created(api, type, configMap(namespace, each));
      const [first] = (await firstEvents(subject, resourceVersion, 3)).filter(event => brief(event) === 'ADDED a');
      if (first === undefined || first.type === 'BOOKMARK') throw new Error('no event about a');
      const resumed = await firstEvents(subject, first.object.metadata.resourceVersion, 2);
      expect(resumed.map(brief)).toEqual(['ADDED b', 'ADDED c']);
    });

    it('shows an object that leaves or enters the selection as deleted or added', async () => {
      const subject = await makeSubject();
      const { api, watch, namespace } = subject;
      await created(api, type, configMap(namespace, 'a', { metadata: { labels: { tier: 'one' } } }));
      const { resourceVersion } = await listAll(watch, { namespace });
      const label = (tier: string) =>
        api.patch(configMapRef(namespace, 'a'), { type: 'merge', body: { metadata: { labels: { tier } } } });
      await label('two');
      await label('one');
      const events = await firstEvents(subject, resourceVersion, 2, { labelSelector: 'tier=one' });
      expect(events.map(brief)).toEqual(['DELETED a', 'ADDED a']);
    });

    it('delivers bookmarks to resume from', async ({ skip }) => {
      const subject = await makeSubject();
      const { api, watch, namespace, sendBookmarks } = subject;
      if (subject.bookmarks === false) {
        skip('this server sends no bookmarks');
        return;
      }
      const { resourceVersion } = await listAll(watch, { namespace });
      const { signal } = new AbortController();
      const options = { selection: { namespace }, resourceVersion, timeoutSeconds: 10, signal };
      await created(api, type, configMap(namespace, 'a'));
      let bookmark: string | undefined;
      for await (const event of watch.watch(type, options)) {
        // The watch stands once its first event is here. A bookmark says more than that only after a write elsewhere.
        if (event.type !== 'BOOKMARK') {
          await created(api, type, configMap('default', `elsewhere-of-${namespace}`));
          sendBookmarks?.();
        } else {
          bookmark = event.resourceVersion;
          break;
        }
      }
      await created(api, type, configMap(namespace, 'b'));
      expect((await firstEvents(subject, bookmark ?? '', 1)).map(brief)).toEqual(['ADDED b']);
    });

    it('ends by itself at its time-out', async () => {
      const { api, watch, namespace, passSeconds } = await makeSubject();
      const { resourceVersion } = await listAll(watch, { namespace });
      const { signal } = new AbortController();
      const options = { selection: { namespace }, resourceVersion, timeoutSeconds: 1, signal };
      await created(api, type, configMap(namespace, 'a'));
      const events: string[] = [];
      for await (const event of watch.watch(type, options)) {
        events.push(brief(event));
        // The watch stands once its first event is here.
        if (event.type === 'ADDED') await passSeconds?.(2);
      }
      expect(events.filter(event => event !== 'BOOKMARK')).toEqual(['ADDED a']);
    });

    it('ends with the reason of its signal', async () => {
      const subject = await makeSubject();
      const { api, watch, namespace } = subject;
      const { resourceVersion } = await listAll(watch, { namespace });
      const abort = new AbortController();
      const reason = new Error('enough');
      const options = { selection: { namespace }, resourceVersion, timeoutSeconds: LONG_SECONDS, signal: abort.signal };
      await created(api, type, configMap(namespace, 'a'));
      const read = async (): Promise<void> => {
        for await (const event of watch.watch(type, options)) if (event.type === 'ADDED') abort.abort(reason);
      };
      await expect(read()).rejects.toBe(reason);
      await expect(Array.fromAsync(watch.watch(type, options))).rejects.toBe(reason);
    });

    it('throws WatchExpired for a version whose successors are forgotten', async ({ skip }) => {
      const { api, watch, namespace, compact } = await makeSubject();
      if (compact === undefined) {
        skip('this server cannot be made to forget');
        return;
      }
      const { resourceVersion } = await listAll(watch, { namespace });
      await created(api, type, configMap(namespace, 'a'));
      await compact();
      const { signal } = new AbortController();
      const options = { selection: { namespace }, resourceVersion, timeoutSeconds: 5, signal };
      await expect(Array.fromAsync(watch.watch(type, options))).rejects.toBeInstanceOf(WatchExpired);
    });

    it('throws WatchExpired for a continue token whose snapshot is forgotten', async ({ skip }) => {
      const { api, watch, namespace, compact } = await makeSubject();
      if (compact === undefined) {
        skip('this server cannot be made to forget');
        return;
      }
      for (const each of ['a', 'b', 'c']) await created(api, type, configMap(namespace, each));
      const { signal } = new AbortController();
      const first = await watch.list(type, { selection: { namespace }, limit: 1, signal });
      const token = first.kind === 'page' ? first.continue : undefined;
      await created(api, type, configMap(namespace, 'd'));
      await compact();
      const second = watch.list(type, { selection: { namespace }, limit: 1, continue: token ?? '', signal });
      await expect(second).rejects.toBeInstanceOf(WatchExpired);
    });
  });
}
