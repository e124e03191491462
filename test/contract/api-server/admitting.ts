/** What every write can ask for: a dry run, strict fields. */
import { describe, expect, it } from 'vitest';
import { at, aConfigMap, configMaps, created, patch, textAt, type MakeSubject } from './subject.ts';

export function defineAdmitting(makeSubject: MakeSubject): void {
  describe('dry run', () => {
    it('answers as if it were done, and does nothing', async () => {
      const subject = await makeSubject();
      const path = configMaps(subject, 'a');
      const dryRun = { dryRun: 'All' };
      const create = await subject.http.call('POST', configMaps(subject), { body: aConfigMap('a'), query: dryRun });
      expect(create.status).toBe(201);
      expect(at(create.body, 'metadata.resourceVersion')).toBeUndefined();
      expect((await subject.http.call('GET', path)).status).toBe(404);
      const stored = await created(subject, configMaps(subject), aConfigMap('a', { key: '1' }));
      const patched = await patch(subject, path, 'merge', { data: { key: '2' } }, dryRun);
      expect([at(patched.body, 'data.key'), at(patched.body, 'metadata.resourceVersion')]).toEqual([
        '2',
        textAt(stored, 'metadata.resourceVersion'),
      ]);
      expect((await subject.http.call('DELETE', path, { query: dryRun })).status).toBe(200);
      expect((await subject.http.call('GET', path)).body).toEqual(stored);
    });

    it('is All or nothing', async () => {
      const subject = await makeSubject();
      const answer = await subject.http.call('POST', configMaps(subject), {
        body: aConfigMap('a'),
        query: { dryRun: 'Some' },
      });
      expect([answer.status, at(answer.body, 'reason')]).toEqual([422, 'Invalid']);
      expect(textAt(answer.body, 'message')).toBe(
        'CreateOptions.meta.k8s.io "" is invalid: dryRun: Unsupported value: ["Some"]: supported values: "All"',
      );
    });
  });

  describe('field validation', () => {
    const send = async (fieldValidation: string, body: unknown) => {
      const subject = await makeSubject();
      return subject.http.call('POST', configMaps(subject), { body, query: { fieldValidation } });
    };
    const repeated = '{"metadata":{"name":"a"},"data":{"a":"1","a":"2"}}';

    it('Strict refuses unknown fields', async () => {
      const subject = await makeSubject();
      const body = { metadata: { name: 'a' }, datum: {} };
      const answer = await subject.http.call('POST', configMaps(subject), {
        body,
        query: { fieldValidation: 'Strict' },
      });
      const message =
        'ConfigMap in version "v1" cannot be handled as a ConfigMap: strict decoding error: unknown field "datum"';
      expect({ status: answer.status, message: at(answer.body, 'message') }).toEqual(
        subject.differing<object>('unknown-fields-of-built-in-kinds', {
          real: { status: 400, message },
          embedded: { status: 201 },
        }),
      );
    });

    it('Strict refuses fields that are said twice', async () => {
      const answer = await send('Strict', repeated);
      expect([answer.status, at(answer.body, 'reason')]).toEqual([400, 'BadRequest']);
      expect(textAt(answer.body, 'message')).toContain('duplicate field "data.a"');
    });

    it('Warn tells of them in a header and goes on with the last', async () => {
      const answer = await send('Warn', repeated);
      expect([answer.status, at(answer.body, 'data')]).toEqual([201, { a: '2' }]);
      expect(answer.headers['warning']).toBe('299 - "duplicate field \\"data.a\\""');
    });

    it('Ignore says nothing, and anything else is refused', async () => {
      const ignored = await send('Ignore', repeated);
      expect([ignored.status, ignored.headers['warning']]).toEqual([201, undefined]);
      expect((await send('Loosely', repeated)).status).toBe(422);
    });
  });
}
