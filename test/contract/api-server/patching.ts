/** The patch types, on objects with and without lists. */
import { describe, expect, it } from 'vitest';
import {
  at,
  aConfigMap,
  configMaps,
  created,
  inNamespace,
  OTHER_UID,
  patch,
  runningPod,
  textAt,
  type MakeSubject,
} from './subject.ts';

const STALE =
  'Operation cannot be fulfilled on configmaps "a": the object has been modified; please apply your changes to the latest version and try again';

const versionOf = (body: unknown): string => textAt(body, 'metadata.resourceVersion');

export function definePatching(makeSubject: MakeSubject): void {
  describe('merge patch', () => {
    it('merges objects, removes what is null, replaces lists', async () => {
      const subject = await makeSubject();
      const metadata = { annotations: { keep: '1', drop: '2' }, finalizers: ['example.com/a', 'example.com/b'] };
      await created(subject, configMaps(subject), aConfigMap('a', { key: 'value' }, metadata));
      const body = { metadata: { annotations: { drop: null, add: '3' }, finalizers: ['example.com/b'] } };
      const answer = await patch(subject, configMaps(subject, 'a'), 'merge', body);
      expect(answer.status).toBe(200);
      expect(at(answer.body, 'metadata.annotations')).toEqual({ keep: '1', add: '3' });
      expect(at(answer.body, 'metadata.finalizers')).toEqual(['example.com/b']);
      expect(at(answer.body, 'data')).toEqual({ key: 'value' });
    });

    it('leaves the version as it is when it changes nothing', async () => {
      const subject = await makeSubject();
      const before = await created(subject, configMaps(subject), aConfigMap('a', { key: 'value' }));
      const answer = await patch(subject, configMaps(subject, 'a'), 'merge', { data: { key: 'value', none: null } });
      expect([answer.status, versionOf(answer.body)]).toEqual([200, versionOf(before)]);
    });

    it('takes a version and a UID in its body as preconditions', async () => {
      const subject = await makeSubject();
      const before = await created(subject, configMaps(subject), aConfigMap('a'));
      const resourceVersion = versionOf(before);
      const write = (metadata: object, value: string) =>
        patch(subject, configMaps(subject, 'a'), 'merge', { metadata, data: { value } });
      expect((await write({ resourceVersion, uid: textAt(before, 'metadata.uid') }, '1')).status).toBe(200);
      const stale = await write({ resourceVersion }, '2');
      expect([stale.status, at(stale.body, 'reason')]).toEqual([409, 'Conflict']);
      expect(at(stale.body, 'message')).toBe(STALE);
      const other = await write({ uid: OTHER_UID }, '3');
      expect([other.status, at(other.body, 'reason')]).toEqual([422, 'Invalid']);
      expect(at(other.body, 'details.causes.0')).toEqual({
        reason: 'FieldValueInvalid',
        message: `Invalid value: "${OTHER_UID}": field is immutable`,
        field: 'metadata.uid',
      });
    });

    it('takes the version 0 for none, and no text for a version', async () => {
      const subject = await makeSubject();
      await created(subject, configMaps(subject), aConfigMap('a'));
      const write = async (resourceVersion: string): Promise<number> =>
        (await patch(subject, configMaps(subject, 'a'), 'merge', { metadata: { resourceVersion }, data: { a: 'b' } }))
          .status;
      expect(await write('0')).toBe(200);
      expect(await write('')).toBe(200);
      expect(await write('x')).toBe(500);
    });

    it('keeps what nobody may change', async () => {
      const subject = await makeSubject();
      const before = await created(subject, configMaps(subject), aConfigMap('a'));
      const write = (metadata: object) => patch(subject, configMaps(subject, 'a'), 'merge', { metadata });
      expect((await write({ name: 'b' })).status).toBe(400);
      expect((await write({ namespace: 'default' })).status).toBe(400);
      const answer = await write({ creationTimestamp: '2001-01-01T00:00:00Z', selfLink: '/x', generation: 7 });
      expect(answer.status).toBe(200);
      expect(at(answer.body, 'metadata.creationTimestamp')).toBe(textAt(before, 'metadata.creationTimestamp'));
      expect(at(answer.body, 'metadata.deletionTimestamp')).toBeUndefined();
    });

    it('answers 404 for an object that is not there, 400 for what is no object, 422 for a result that is not valid', async () => {
      const subject = await makeSubject();
      await created(subject, configMaps(subject), aConfigMap('a'));
      const send = async (name: string, body: unknown): Promise<unknown[]> => {
        const answer = await patch(subject, configMaps(subject, name), 'merge', body);
        return [answer.status, at(answer.body, 'reason')];
      };
      expect(await send('nobody', { data: {} })).toEqual([404, 'NotFound']);
      expect(await send('a', '{')).toEqual([400, 'BadRequest']);
      expect(await send('a', { metadata: { labels: { 'not a key!': 'x' } } })).toEqual([422, 'Invalid']);
      expect(await send('a', { metadata: { labels: { ok: 'not a value!' } } })).toEqual([422, 'Invalid']);
      expect(await send('a', { metadata: { finalizers: ['no-slash'] } })).toEqual([422, 'Invalid']);
    });

    it('is refused under a content type that is no patch', async () => {
      const subject = await makeSubject();
      await created(subject, configMaps(subject), aConfigMap('a'));
      const answer = await subject.http.call('PATCH', configMaps(subject, 'a'), { body: {} });
      expect([answer.status, at(answer.body, 'reason')]).toEqual([415, 'UnsupportedMediaType']);
    });
  });

  describe('JSON patch', () => {
    const apply = async (operations: readonly object[], makeData: object = { key: 'one' }) => {
      const subject = await makeSubject();
      await created(subject, configMaps(subject), aConfigMap('a', makeData, { finalizers: ['example.com/a'] }));
      return patch(subject, configMaps(subject, 'a'), 'json', operations);
    };

    it('carries out its operations in order', async () => {
      const answer = await apply([
        { op: 'test', path: '/data/key', value: 'one' },
        { op: 'replace', path: '/data/key', value: 'two' },
        {
          op: 'add',
          path: '/data/with~1slash~0tilde'.replace('with', 'x').replace('~1', '_').replace('~0', '-'),
          value: '3',
        },
        { op: 'copy', from: '/data/key', path: '/data/copy' },
        { op: 'move', from: '/data/copy', path: '/data/moved' },
        { op: 'add', path: '/metadata/finalizers/-', value: 'example.com/last' },
        { op: 'add', path: '/metadata/finalizers/0', value: 'example.com/first' },
        { op: 'remove', path: '/metadata/finalizers/1' },
      ]);
      expect(answer.status).toBe(200);
      expect(at(answer.body, 'data')).toEqual({ key: 'two', 'x_slash-tilde': '3', moved: 'two' });
      expect(at(answer.body, 'metadata.finalizers')).toEqual(['example.com/first', 'example.com/last']);
    });

    it('escapes slashes in its paths', async () => {
      const answer = await apply([
        { op: 'add', path: '/metadata/annotations', value: {} },
        { op: 'add', path: '/metadata/annotations/example.com~1a', value: 'b' },
      ]);
      expect(at(answer.body, 'metadata.annotations')).toEqual({ 'example.com/a': 'b' });
    });

    it.each([
      ['a test that fails', [{ op: 'test', path: '/data/key', value: 'other' }]],
      ['a test of what is not there', [{ op: 'test', path: '/data/none', value: 'other' }]],
      ['a removal of what is not there', [{ op: 'remove', path: '/data/none' }]],
      ['an addition below what is not there', [{ op: 'add', path: '/metadata/annotations/a', value: '1' }]],
      ['an index beyond the end', [{ op: 'add', path: '/metadata/finalizers/5', value: 'example.com/z' }]],
    ])('answers 422 to %s, and does nothing of it', async (_, operations) => {
      const answer = await apply([{ op: 'add', path: '/data/early', value: '1' }, ...operations]);
      expect([answer.status, at(answer.body, 'reason')]).toEqual([422, 'Invalid']);
      expect(at(answer.body, 'details.causes')).toBeUndefined();
    });

    it('replaces what is not there, as if it were an addition', async () => {
      const answer = await apply([{ op: 'replace', path: '/data/none', value: '1' }]);
      expect([answer.status, at(answer.body, 'data')]).toEqual([200, { key: 'one', none: '1' }]);
    });

    it('answers 400 to what is no list of operations', async () => {
      const subject = await makeSubject();
      await created(subject, configMaps(subject), aConfigMap('a'));
      const answer = await patch(subject, configMaps(subject, 'a'), 'json', { op: 'add' });
      expect(answer.status).toBe(400);
    });
  });

  describe('strategic merge patch', () => {
    it('merges lists by their key, and lists of values as sets', async () => {
      const subject = await makeSubject();
      await runningPod(subject, 'web-0', { finalizers: ['example.com/a'] });
      const answer = await patch(subject, inNamespace(subject, 'pods', 'web-0'), 'strategic', {
        metadata: { finalizers: ['example.com/b'] },
        spec: { containers: [{ name: 'main', image: 'registry.example.com/main:2' }] },
      });
      expect(answer.status).toBe(200);
      expect(answer.body).toMatchObject({
        metadata: { finalizers: ['example.com/b', 'example.com/a'] },
        spec: { containers: [{ name: 'main', image: 'registry.example.com/main:2' }] },
      });
    });

    it('removes with $patch: delete and $deleteFromPrimitiveList, replaces with $patch: replace', async () => {
      const subject = await makeSubject();
      const name = `node-of-${subject.namespace}`;
      const taint = (key: string) => ({ key, value: '1', effect: 'NoSchedule' });
      await created(subject, '/api/v1/nodes', {
        metadata: { name, labels: { a: '1' }, finalizers: ['example.com/a', 'example.com/b'] },
        spec: { taints: [taint('a'), taint('b')] },
      });
      const path = `/api/v1/nodes/${name}`;
      // Taints are a list without a key: they are replaced as a whole.
      const taints = await patch(subject, path, 'strategic', { spec: { taints: [taint('c')] } });
      expect(at(taints.body, 'spec.taints')).toEqual([taint('c')]);
      const finalizers = await patch(subject, path, 'strategic', {
        metadata: { '$deleteFromPrimitiveList/finalizers': ['example.com/a'] },
      });
      expect(at(finalizers.body, 'metadata.finalizers')).toEqual(['example.com/b']);
      const labels = await patch(subject, path, 'strategic', { metadata: { labels: { $patch: 'replace', b: '2' } } });
      expect(at(labels.body, 'metadata.labels')).toEqual({ b: '2' });
    });

    it('merges conditions of a status by their type, and orders with $setElementOrder', async () => {
      const subject = await makeSubject();
      await runningPod(subject, 'web-0');
      const path = `${inNamespace(subject, 'pods', 'web-0')}/status`;
      const answer = await patch(subject, path, 'strategic', {
        status: {
          '$setElementOrder/conditions': [{ type: 'Drained' }, { type: 'Ready' }],
          conditions: [{ type: 'Drained', status: 'True' }],
        },
      });
      expect(answer.status).toBe(200);
      expect(answer.body).toMatchObject({
        status: { conditions: [{ type: 'Drained' }, { type: 'Ready', status: 'True' }] },
      });
      const removed = await patch(subject, path, 'strategic', {
        status: { conditions: [{ type: 'Drained', $patch: 'delete' }] },
      });
      expect(at(removed.body, 'status.conditions.length')).toBe(1);
    });

    it('answers 500 to an element without its key', async () => {
      const subject = await makeSubject();
      await runningPod(subject, 'web-0');
      const body = { spec: { containers: [{ image: 'registry.example.com/main:2' }] } };
      const answer = await patch(subject, inNamespace(subject, 'pods', 'web-0'), 'strategic', body);
      expect([answer.status, at(answer.body, 'reason')]).toEqual([500, undefined]);
      expect(textAt(answer.body, 'message')).toContain('does not contain declared merge key: name');
    });
  });
}
