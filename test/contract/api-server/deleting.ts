/** Deletion: preconditions, finalizers, grace, propagation, collections. */
import { describe, expect, it } from 'vitest';
import type { Answer } from './http-client.ts';
import {
  at,
  aConfigMap,
  configMaps,
  created,
  inNamespace,
  namesIn,
  OTHER_UID,
  patch,
  read,
  runningPod,
  textAt,
  type ApiServerSubject,
  type MakeSubject,
} from './subject.ts';

const remove = ({ http }: ApiServerSubject, path: string, body?: object, query = {}): Promise<Answer> =>
  http.call('DELETE', path, { query, ...(body && { body }) });

export function defineDeleting(makeSubject: MakeSubject): void {
  describe('deleting', () => {
    it('answers a Status that names what is gone', async () => {
      const subject = await makeSubject();
      const object = await created(subject, configMaps(subject), aConfigMap('a'));
      const answer = await remove(subject, configMaps(subject, 'a'));
      expect(answer.status).toBe(200);
      expect(answer.body).toEqual({
        kind: 'Status',
        apiVersion: 'v1',
        metadata: {},
        status: 'Success',
        details: { name: 'a', kind: 'configmaps', uid: textAt(object, 'metadata.uid') },
      });
      expect((await remove(subject, configMaps(subject, 'a'))).status).toBe(404);
    });

    it('checks UID and version before it acts', async () => {
      const subject = await makeSubject();
      const object = await created(subject, configMaps(subject), aConfigMap('a'));
      const uid = textAt(object, 'metadata.uid');
      const other = await remove(subject, configMaps(subject, 'a'), { preconditions: { uid: OTHER_UID } });
      expect([other.status, at(other.body, 'reason')]).toEqual([409, 'Conflict']);
      expect(textAt(other.body, 'message')).toContain(
        `the UID in the precondition (${OTHER_UID}) does not match the UID in record (${uid})`,
      );
      const stale = await remove(subject, configMaps(subject, 'a'), { preconditions: { uid, resourceVersion: '1' } });
      expect([stale.status, at(stale.body, 'reason')]).toEqual([409, 'Conflict']);
      expect(textAt(stale.body, 'message')).toContain(
        'the ResourceVersion in the precondition (1) does not match the ResourceVersion in record',
      );
      const resourceVersion = textAt(object, 'metadata.resourceVersion');
      const right = await remove(subject, configMaps(subject, 'a'), { preconditions: { uid, resourceVersion } });
      expect(right.status).toBe(200);
    });

    it('marks what has finalizers and keeps it until the last one is gone', async () => {
      const subject = await makeSubject();
      const path = configMaps(subject, 'a');
      const finalizers = ['example.com/one', 'example.com/two'];
      await created(subject, configMaps(subject), aConfigMap('a', {}, { finalizers }));
      const first = await remove(subject, path);
      expect(first.status).toBe(200);
      expect(first.body).toMatchObject({ kind: 'ConfigMap', metadata: { deletionGracePeriodSeconds: 0, finalizers } });
      const marked = textAt(first.body, 'metadata.deletionTimestamp');
      // Again, later: nothing changes.
      await subject.passSeconds?.(5);
      const again = await remove(subject, path);
      expect(textAt(again.body, 'metadata.deletionTimestamp')).toBe(marked);
      const left = await patch(subject, path, 'merge', { metadata: { finalizers: ['example.com/two'] } });
      expect([left.status, at(left.body, 'metadata.finalizers')]).toEqual([200, ['example.com/two']]);
      const last = await patch(subject, path, 'merge', { metadata: { finalizers: null } });
      expect(last.status).toBe(200);
      expect((await subject.http.call('GET', path)).status).toBe(404);
    });

    it('refuses with 422 to add a finalizer to what is being deleted, and lets the rest be changed', async () => {
      const subject = await makeSubject();
      const path = configMaps(subject, 'a');
      await created(subject, configMaps(subject), aConfigMap('a', {}, { finalizers: ['example.com/one'] }));
      await remove(subject, path);
      const finalizers = ['example.com/one', 'example.com/late'];
      const answer = await patch(subject, path, 'merge', { metadata: { finalizers } });
      expect([answer.status, at(answer.body, 'reason')]).toEqual([422, 'Invalid']);
      expect(at(answer.body, 'details.causes.0')).toEqual({
        reason: 'FieldValueForbidden',
        message:
          'Forbidden: no new finalizers can be added if the object is being deleted, found new finalizers []string{"example.com/late"}',
        field: 'metadata.finalizers',
      });
      const changed = await patch(subject, path, 'merge', { metadata: { labels: { still: 'here' } } });
      expect([changed.status, at(changed.body, 'metadata.labels')]).toEqual([200, { still: 'here' }]);
    });

    it('keeps deletionTimestamp from being set or taken back by hand', async () => {
      const subject = await makeSubject();
      const path = configMaps(subject, 'a');
      await created(subject, configMaps(subject), aConfigMap('a', {}, { finalizers: ['example.com/one'] }));
      const set = await patch(subject, path, 'merge', { metadata: { deletionTimestamp: '2030-01-01T00:00:00Z' } });
      expect(at(set.body, 'metadata.deletionTimestamp')).toBeUndefined();
      const marked = await remove(subject, path);
      const taken = await patch(subject, path, 'merge', { metadata: { deletionTimestamp: null } });
      expect(at(taken.body, 'metadata.deletionTimestamp')).toBe(textAt(marked.body, 'metadata.deletionTimestamp'));
    });

    it('does not create what is being deleted a second time', async () => {
      const subject = await makeSubject();
      await created(subject, configMaps(subject), aConfigMap('a', {}, { finalizers: ['example.com/one'] }));
      await remove(subject, configMaps(subject, 'a'));
      const again = await subject.http.call('POST', configMaps(subject), { body: aConfigMap('a') });
      expect([again.status, at(again.body, 'reason')]).toEqual([409, 'AlreadyExists']);
      expect(at(again.body, 'message')).toBe('object is being deleted: configmaps "a" already exists');
    });

    it('deletes a whole collection, or what is selected of it', async () => {
      const subject = await makeSubject();
      const secrets = inNamespace(subject, 'secrets');
      for (const tier of ['one', 'two'])
        await created(subject, secrets, { metadata: { name: tier, labels: { tier } } });
      const some = await remove(subject, secrets, undefined, { labelSelector: 'tier=one' });
      expect(some.status).toBe(200);
      expect(namesIn(await read(subject, secrets))).toEqual(['two']);
      await remove(subject, secrets);
      expect(namesIn(await read(subject, secrets))).toEqual([]);
    });

    it('keeps an owner by a finalizer until its dependents are gone, where that is asked for', async () => {
      const subject = await makeSubject();
      await created(subject, configMaps(subject), aConfigMap('a', {}, { finalizers: ['example.com/hold'] }));
      const answer = await remove(subject, configMaps(subject, 'a'), { propagationPolicy: 'Foreground' });
      expect(at(answer.body, 'metadata.finalizers')).toEqual(['example.com/hold', 'foregroundDeletion']);
      const wrong = await remove(subject, configMaps(subject, 'a'), { propagationPolicy: 'Sideways' });
      expect([wrong.status, at(wrong.body, 'reason')]).toEqual([422, 'Invalid']);
    });
  });

  describe('deleting pods', () => {
    const graceOf = async (subject: ApiServerSubject): Promise<unknown> =>
      at(await read(subject, inNamespace(subject, 'pods', 'web-0')), 'metadata.deletionGracePeriodSeconds');

    it('grants the grace period of the pod, counted from now', async () => {
      const subject = await makeSubject();
      const pod = await runningPod(subject, 'web-0');
      const answer = await remove(subject, inNamespace(subject, 'pods', 'web-0'));
      expect(answer.status).toBe(200);
      expect(answer.body).toMatchObject({ kind: 'Pod', metadata: { deletionGracePeriodSeconds: 30 } });
      const [begin, end] = ['creationTimestamp', 'deletionTimestamp'].map(key =>
        Date.parse(textAt(answer.body, `metadata.${key}`)),
      );
      expect(Math.round(((end ?? 0) - (begin ?? 0)) / 10_000)).toBe(3);
      expect(at(answer.body, 'metadata.generation')).toBe(Number(at(pod, 'metadata.generation')) + 1);
    });

    it('lets a later delete only shorten', async () => {
      const subject = await makeSubject();
      await runningPod(subject, 'web-0');
      const path = inNamespace(subject, 'pods', 'web-0');
      await remove(subject, path, { gracePeriodSeconds: 20 });
      expect(await graceOf(subject)).toBe(20);
      await remove(subject, path, { gracePeriodSeconds: 60 });
      expect(await graceOf(subject)).toBe(20);
      await remove(subject, path);
      expect(await graceOf(subject)).toBe(20);
      await remove(subject, path, { gracePeriodSeconds: 5 });
      expect(await graceOf(subject)).toBe(5);
    });

    it('removes at once with no grace, and what was never started on a node', async () => {
      const subject = await makeSubject();
      await runningPod(subject, 'web-0');
      const answer = await remove(subject, inNamespace(subject, 'pods', 'web-0'), { gracePeriodSeconds: 0 });
      expect(answer.body).toMatchObject({ kind: 'Pod' });
      expect(namesIn(await read(subject, inNamespace(subject, 'pods')))).toEqual([]);
      const spec = { containers: [{ name: 'main', image: 'registry.example.com/main:1' }] };
      await created(subject, inNamespace(subject, 'pods'), { metadata: { name: 'pending' }, spec });
      await remove(subject, inNamespace(subject, 'pods', 'pending'));
      expect(namesIn(await read(subject, inNamespace(subject, 'pods')))).toEqual([]);
    });

    it('removes a finished pod at once', async () => {
      const subject = await makeSubject();
      await runningPod(subject, 'web-0');
      const path = inNamespace(subject, 'pods', 'web-0');
      await patch(subject, `${path}/status`, 'merge', { status: { phase: 'Succeeded' } });
      await remove(subject, path);
      expect((await subject.http.call('GET', path)).status).toBe(404);
    });

    it('keeps a pod with finalizers after its grace was taken away', async () => {
      const subject = await makeSubject();
      await runningPod(subject, 'web-0', { finalizers: ['example.com/hold'] });
      const path = inNamespace(subject, 'pods', 'web-0');
      await remove(subject, path);
      await remove(subject, path, { gracePeriodSeconds: 0 });
      expect(await graceOf(subject)).toBe(0);
      await patch(subject, path, 'merge', { metadata: { finalizers: null } });
      expect((await subject.http.call('GET', path)).status).toBe(404);
    });

    it('takes a negative grace period for one second', async () => {
      const subject = await makeSubject();
      await runningPod(subject, 'web-0');
      await remove(subject, inNamespace(subject, 'pods', 'web-0'), { gracePeriodSeconds: -1 });
      expect(await graceOf(subject)).toBe(1);
    });
  });
}
