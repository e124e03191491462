/** Creation: names, what the server fills in, what is refused. */
import { describe, expect, it } from 'vitest';
import { at, aConfigMap, configMaps, created, listAt, patch, textAt, type MakeSubject } from './subject.ts';

export function defineCreating(makeSubject: MakeSubject): void {
  describe('creating', () => {
    it('makes a name out of its beginning', async () => {
      const subject = await makeSubject();
      const object = await created(subject, configMaps(subject), { metadata: { generateName: 'gen-' } });
      expect(textAt(object, 'metadata.name')).toMatch(/^gen-[bcdfghjklmnpqrstvwxz2456789]{5}$/);
      expect(at(object, 'metadata.generateName')).toBe('gen-');
    });

    it('gives its own uid, time and version, whatever is asked for', async () => {
      const subject = await makeSubject();
      const metadata = {
        uid: 'mine',
        creationTimestamp: '2001-01-01T00:00:00Z',
        deletionTimestamp: '2001-01-01T00:00:00Z',
        generation: 9,
        selfLink: '/x',
      };
      const object = await created(subject, configMaps(subject), aConfigMap('a', undefined, metadata));
      expect(textAt(object, 'metadata.uid')).toMatch(/^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/);
      expect(textAt(object, 'metadata.creationTimestamp')).not.toContain('2001');
      expect(at(object, 'metadata.deletionTimestamp')).toBeUndefined();
    });

    it.each([
      ['a version', aConfigMap('a', undefined, { resourceVersion: '1' }), 500, undefined],
      ['a name that is none', aConfigMap('Not A Name'), 422, 'Invalid'],
      ['no name', { metadata: {} }, 422, 'Invalid'],
      ['another namespace', aConfigMap('a', undefined, { namespace: 'default' }), 400, 'BadRequest'],
      ['another kind', { kind: 'Secret', apiVersion: 'v1', metadata: { name: 'a' } }, 400, 'BadRequest'],
      ['another version', { kind: 'ConfigMap', apiVersion: 'v2', metadata: { name: 'a' } }, 400, 'BadRequest'],
      ['a wrong type of a field', { metadata: { name: 'a', labels: 'x' } }, 400, 'BadRequest'],
      ['half an object', '{"metadata":', 400, 'BadRequest'],
    ])('is refused with %s', async (_, body, status, reason) => {
      const subject = await makeSubject();
      const answer = await subject.http.call('POST', configMaps(subject), { body });
      expect([answer.status, at(answer.body, 'reason')]).toEqual([status, reason]);
    });

    it('is refused where the namespace is not there, and a second time', async () => {
      const subject = await makeSubject();
      const nowhere = await subject.http.call('POST', '/api/v1/namespaces/no-such-namespace/configmaps', {
        body: aConfigMap('a'),
      });
      expect([nowhere.status, at(nowhere.body, 'message')]).toEqual([404, 'namespaces "no-such-namespace" not found']);
      await created(subject, configMaps(subject), aConfigMap('a'));
      const second = await subject.http.call('POST', configMaps(subject), { body: aConfigMap('a') });
      expect([second.status, at(second.body, 'reason'), at(second.body, 'message')]).toEqual([
        409,
        'AlreadyExists',
        'configmaps "a" already exists',
      ]);
    });

    it('takes YAML, and refuses what is neither YAML nor JSON', async () => {
      const subject = await makeSubject();
      const yaml = 'metadata:\n  name: a\n  labels: {b: "yes"}\ndata:\n  key: |\n    text\n';
      const answer = await subject.http.call('POST', configMaps(subject), { body: yaml, type: 'application/yaml' });
      expect(answer.body).toMatchObject({
        kind: 'ConfigMap',
        metadata: { labels: { b: 'yes' } },
        data: { key: 'text\n' },
      });
      const other = await subject.http.call('POST', configMaps(subject), { body: 'x', type: 'text/plain' });
      expect([other.status, at(other.body, 'reason')]).toEqual([415, 'UnsupportedMediaType']);
    });

    it('is refused without the method', async () => {
      const subject = await makeSubject();
      const answer = await subject.http.call('PUT', configMaps(subject), { body: {} });
      expect([answer.status, at(answer.body, 'reason')]).toEqual([405, 'MethodNotAllowed']);
    });
  });

  describe('namespaces', () => {
    it('refuse new objects while they are being deleted', async () => {
      const subject = await makeSubject();
      await created(subject, configMaps(subject), aConfigMap('hold', undefined, { finalizers: ['example.com/hold'] }));
      await subject.http.call('DELETE', `/api/v1/namespaces/${subject.namespace}`);
      const answer = await subject.http.call('POST', configMaps(subject), { body: aConfigMap('late') });
      expect([answer.status, at(answer.body, 'reason')]).toEqual([403, 'Forbidden']);
      expect(listAt(answer.body, 'details.causes').map(cause => at(cause, 'reason'))).toContain('NamespaceTerminating');
      await patch(subject, configMaps(subject, 'hold'), 'merge', { metadata: { finalizers: null } });
    });
  });
}
