/** Watch: what is delivered, in which order, from where; bookmarks; 410; the end. */
import { describe, expect, it } from 'vitest';
import type { WatchLine } from './http-client.ts';
import {
  at,
  aConfigMap,
  configMaps,
  created,
  patch,
  read,
  textAt,
  type ApiServerSubject,
  type MakeSubject,
} from './subject.ts';

type Query = Readonly<Record<string, string | number | boolean>>;

/** The first lines of a watch that are no bookmarks. */
async function firstLines({ http }: ApiServerSubject, path: string, query: Query, count: number): Promise<WatchLine[]> {
  const lines: WatchLine[] = [];
  for await (const line of http.watch(path, { timeoutSeconds: 30, ...query })) {
    if (line.type !== 'BOOKMARK') lines.push(line);
    if (lines.length >= count) break;
  }
  return lines;
}

const brief = ({ type, object }: WatchLine): string => `${type} ${textAt(object, 'metadata.name')}`;
const versionOf = (body: unknown): string => textAt(body, 'metadata.resourceVersion');

export function defineWatching(makeSubject: MakeSubject): void {
  describe('watching', () => {
    const path = configMaps;
    const listVersion = async (subject: ApiServerSubject): Promise<string> =>
      versionOf(await read(subject, path(subject)));

    it('delivers what happened after a version and what happens, in order, whole', async () => {
      const subject = await makeSubject();
      const { http } = subject;
      await created(subject, path(subject), aConfigMap('before'));
      const query = { resourceVersion: await listVersion(subject), fieldSelector: 'metadata.name!=kube-root-ca.crt' };
      const a = await created(subject, path(subject), aConfigMap('a', { n: '1' }));
      const lines = firstLines(subject, path(subject), query, 3);
      await patch(subject, path(subject, 'a'), 'merge', { data: { n: '2' } });
      const last = await read(subject, path(subject, 'a'));
      await http.call('DELETE', path(subject, 'a'));
      const received = await lines;
      expect(received.map(brief)).toEqual(['ADDED a', 'MODIFIED a', 'DELETED a']);
      expect(received[0]?.object).toEqual(a);
      expect(received[1]?.object).toEqual(last);
      // What is deleted comes as it was last, at the version of its deletion.
      expect(received[2]?.object).toMatchObject({ kind: 'ConfigMap', apiVersion: 'v1', data: { n: '2' } });
      expect(Number(versionOf(received[2]?.object))).toBeGreaterThan(Number(versionOf(last)));
    });

    it('begins with what is there when no version is given, and for version 0', async () => {
      const subject = await makeSubject();
      await created(subject, path(subject), aConfigMap('a'));
      const selected = { fieldSelector: 'metadata.name=a' };
      expect((await firstLines(subject, path(subject), selected, 1)).map(brief)).toEqual(['ADDED a']);
      const cached = { ...selected, resourceVersion: 0 };
      expect((await firstLines(subject, path(subject), cached, 1)).map(brief)).toEqual(['ADDED a']);
    });

    it('shows what leaves a selection as deleted, at its new version, and what enters it as added', async () => {
      const subject = await makeSubject();
      await created(subject, path(subject), aConfigMap('a', {}, { labels: { tier: 'one' } }));
      const query = { resourceVersion: await listVersion(subject), labelSelector: 'tier=one' };
      const label = (tier: string) => patch(subject, path(subject, 'a'), 'merge', { metadata: { labels: { tier } } });
      const left = await label('two');
      await label('one');
      const lines = await firstLines(subject, path(subject), query, 2);
      expect(lines.map(brief)).toEqual(['DELETED a', 'ADDED a']);
      expect(versionOf(lines[0]?.object)).toBe(versionOf(left.body));
      expect(lines[0]?.object).toMatchObject({ metadata: { labels: { tier: 'one' } } });
    });

    it('streams the list first on request, and says with a bookmark where it ends', async () => {
      const subject = await makeSubject();
      await created(subject, path(subject), aConfigMap('a'));
      const query = {
        sendInitialEvents: true,
        resourceVersionMatch: 'NotOlderThan',
        allowWatchBookmarks: true,
        labelSelector: '!none',
        fieldSelector: 'metadata.name=a',
        timeoutSeconds: 30,
      };
      const lines: WatchLine[] = [];
      for await (const line of subject.http.watch(path(subject), query)) {
        lines.push(line);
        if (line.type === 'BOOKMARK') break;
      }
      expect(lines.map(({ type }) => type)).toEqual(['ADDED', 'BOOKMARK']);
      expect(lines[1]?.object).toMatchObject({
        kind: 'ConfigMap',
        apiVersion: 'v1',
        metadata: { annotations: { 'k8s.io/initial-events-end': 'true' } },
      });
      expect(versionOf(lines[1]?.object)).toMatch(/^\d+$/);
    });

    it.each([
      { sendInitialEvents: true },
      { sendInitialEvents: true, resourceVersionMatch: 'Exact', resourceVersion: 1 },
      { resourceVersionMatch: 'NotOlderThan', resourceVersion: 1 },
    ])('refuses to watch with %o', async query => {
      const subject = await makeSubject();
      const answer = await subject.http.call('GET', path(subject), { query: { ...query, watch: true } });
      expect([answer.status, at(answer.body, 'reason')]).toEqual([422, 'Invalid']);
    });

    it('sends bookmarks that hold nothing but a version to go on from', async () => {
      const subject = await makeSubject();
      const query = { resourceVersion: await listVersion(subject), allowWatchBookmarks: true, timeoutSeconds: 10 };
      await created(subject, path(subject), aConfigMap('a'));
      let bookmark: unknown;
      for await (const { type, object } of subject.http.watch(path(subject), query)) {
        if (type === 'BOOKMARK') {
          bookmark = object;
          break;
        }
        await created(
          subject,
          '/api/v1/namespaces/default/configmaps',
          aConfigMap(`elsewhere-of-${subject.namespace}`),
        );
        subject.sendBookmarks?.();
      }
      expect(bookmark).toMatchObject({ kind: 'ConfigMap', apiVersion: 'v1' });
      expect(at(bookmark, 'metadata.name')).toBeUndefined();
      await created(subject, path(subject), aConfigMap('b'));
      const resumed = await firstLines(subject, path(subject), { resourceVersion: versionOf(bookmark) }, 1);
      expect(resumed.map(brief)).toEqual(['ADDED b']);
    });

    it('sends no bookmark to who did not ask for one', async () => {
      const subject = await makeSubject();
      const query = { resourceVersion: await listVersion(subject), timeoutSeconds: 3 };
      await created(subject, path(subject), aConfigMap('a'));
      const types: string[] = [];
      for await (const { type } of subject.http.watch(path(subject), query)) {
        types.push(type);
        subject.sendBookmarks?.();
        await subject.passSeconds?.(4);
      }
      expect(types).toEqual(['ADDED']);
    });

    it('refuses a version that is no number', async () => {
      const subject = await makeSubject();
      const answer = await subject.http.call('GET', path(subject), { query: { watch: true, resourceVersion: 'x' } });
      expect([answer.status, at(answer.body, 'reason')]).toEqual([500, undefined]);
      expect(textAt(answer.body, 'message')).toContain('resourceVersion: Invalid value: "x"');
    });

    it('watches one object by its name', async () => {
      const subject = await makeSubject();
      await created(subject, path(subject), aConfigMap('a'));
      const query = { resourceVersion: await listVersion(subject), fieldSelector: 'metadata.name=b' };
      await created(subject, path(subject), aConfigMap('c'));
      await created(subject, path(subject), aConfigMap('b'));
      expect((await firstLines(subject, path(subject), query, 1)).map(brief)).toEqual(['ADDED b']);
    });
  });
}
