/** Server-side apply: two managers, conflicts, force, removal of fields. */
import { describe, expect, it } from 'vitest';
import {
  at,
  aConfigMap,
  configMaps,
  created,
  inNamespace,
  listAt,
  patch,
  runningPod,
  textAt,
  type ApiServerSubject,
  type MakeSubject,
} from './subject.ts';

const apply = (
  subject: ApiServerSubject,
  fieldManager: string,
  data: object | undefined,
  more: object = {},
  force = false,
) => patch(subject, configMaps(subject, 'a'), 'apply', aConfigMap('a', data, more), { fieldManager, force });

/** Who owns which fields of `data`. */
const ownersOf = (body: unknown): Readonly<Record<string, readonly string[]>> =>
  Object.fromEntries(
    listAt(body, 'metadata.managedFields').map(entry => [
      `${textAt(entry, 'manager')} ${textAt(entry, 'operation')}`,
      Object.keys(Object(at(entry, 'fieldsV1.f:data')))
        .filter(key => key !== '.')
        .toSorted(),
    ]),
  );

export function defineApplying(makeSubject: MakeSubject): void {
  describe('server-side apply', () => {
    it('creates with 201 and answers 200 afterwards; repeated, it changes nothing', async () => {
      const subject = await makeSubject();
      const first = await apply(subject, 'one', { key: '1' });
      const second = await apply(subject, 'one', { key: '1' });
      expect([first.status, second.status]).toEqual([201, 200]);
      expect(at(second.body, 'metadata.resourceVersion')).toBe(textAt(first.body, 'metadata.resourceVersion'));
      expect(listAt(first.body, 'metadata.managedFields')).toEqual([
        {
          manager: 'one',
          operation: 'Apply',
          apiVersion: 'v1',
          time: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/),
          fieldsType: 'FieldsV1',
          fieldsV1: { 'f:data': { 'f:key': {} } },
        },
      ]);
    });

    it('refuses what another manager applied, and says which fields of whom', async () => {
      const subject = await makeSubject();
      await apply(subject, 'one', { key: '1', other: '2' });
      const answer = await apply(subject, 'two', { key: '9', mine: '3' });
      expect([answer.status, at(answer.body, 'reason')]).toEqual([409, 'Conflict']);
      expect(at(answer.body, 'message')).toBe('Apply failed with 1 conflict: conflict with "one": .data.key');
      expect(at(answer.body, 'details')).toEqual({
        causes: [{ reason: 'FieldManagerConflict', message: 'conflict with "one"', field: '.data.key' }],
      });
    });

    it('takes fields over by force', async () => {
      const subject = await makeSubject();
      await apply(subject, 'one', { key: '1', other: '2' });
      const answer = await apply(subject, 'two', { key: '9', mine: '3' }, {}, true);
      expect([answer.status, at(answer.body, 'data')]).toEqual([200, { key: '9', mine: '3', other: '2' }]);
      expect(ownersOf(answer.body)).toEqual({ 'one Apply': ['f:other'], 'two Apply': ['f:key', 'f:mine'] });
    });

    it('takes an empty map for a value that was not kept', async () => {
      const subject = await makeSubject();
      const first = await apply(subject, 'one', {});
      const answer = await apply(subject, 'two', {});
      const conflict = 'Apply failed with 1 conflict: conflict with "one": .data';
      expect({ kept: at(first.body, 'data'), status: answer.status, message: at(answer.body, 'message') }).toEqual(
        subject.differing<object>('empty-maps-of-built-in-kinds', {
          real: { status: 409, message: conflict },
          embedded: { kept: {}, status: 200 },
        }),
      );
    });

    it('lets two managers own what both say alike', async () => {
      const subject = await makeSubject();
      await apply(subject, 'one', { key: '1' });
      const answer = await apply(subject, 'two', { key: '1' });
      expect(ownersOf(answer.body)).toEqual({ 'one Apply': ['f:key'], 'two Apply': ['f:key'] });
      // The other one still says it.
      const dropped = await apply(subject, 'two', {});
      expect(at(dropped.body, 'data')).toEqual({ key: '1' });
    });

    it('removes what its manager no longer says and nobody else does', async () => {
      const subject = await makeSubject();
      await apply(subject, 'one', { keep: '1', drop: '2' }, { labels: { drop: 'too' } });
      await patch(subject, configMaps(subject, 'a'), 'merge', { data: { updated: '3' } }, { fieldManager: 'two' });
      const answer = await apply(subject, 'one', { keep: '1' });
      expect(at(answer.body, 'data')).toEqual({ keep: '1', updated: '3' });
      expect(at(answer.body, 'metadata.labels')).toBeUndefined();
      expect(ownersOf(answer.body)).toEqual({ 'one Apply': ['f:keep'], 'two Update': ['f:updated'] });
    });

    it('conflicts with what somebody wrote by other means', async () => {
      const subject = await makeSubject();
      await apply(subject, 'one', { key: '1' });
      await patch(subject, configMaps(subject, 'a'), 'merge', { data: { key: '2' } }, { fieldManager: 'two' });
      const answer = await apply(subject, 'one', { key: '1' });
      expect(answer.status).toBe(409);
      expect(textAt(answer.body, 'message')).toMatch(
        /^Apply failed with 1 conflict: conflict with "two" using v1( at \S+)?: \.data\.key$/,
      );
    });

    it('merges lists by their keys and keeps the elements of others', async () => {
      const subject = await makeSubject();
      await runningPod(subject, 'web-0');
      const condition = (type: string, status: string) => ({ type, status });
      const write = (fieldManager: string, conditions: readonly object[]) =>
        patch(
          subject,
          `${inNamespace(subject, 'pods', 'web-0')}/status`,
          'apply',
          { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'web-0' }, status: { conditions } },
          { fieldManager },
        );
      const types = (answer: { readonly body: unknown }): readonly unknown[] =>
        listAt(answer.body, 'status.conditions')
          .map(each => textAt(each, 'type'))
          .toSorted();
      const both = [condition('Mine', 'True'), condition('Also', 'True')];
      expect(types(await write('one', both))).toEqual(['Also', 'Mine', 'Ready']);
      expect(types(await write('one', [condition('Mine', 'False')]))).toEqual(['Mine', 'Ready']);
    });

    it('keeps finalizers as a set of which each manager owns its own', async () => {
      const subject = await makeSubject();
      await apply(subject, 'one', undefined, { finalizers: ['example.com/one'] });
      const both = await apply(subject, 'two', undefined, { finalizers: ['example.com/two'] });
      expect(new Set(listAt(both.body, 'metadata.finalizers'))).toEqual(
        new Set(['example.com/one', 'example.com/two']),
      );
      const left = await apply(subject, 'one', undefined);
      expect(at(left.body, 'metadata.finalizers')).toEqual(['example.com/two']);
    });

    it('needs a manager, a name and kind that agree with the path, and no managedFields', async () => {
      const subject = await makeSubject();
      const send = async (body: object, query: Readonly<Record<string, string>>): Promise<unknown[]> => {
        const answer = await patch(subject, configMaps(subject, 'a'), 'apply', body, query);
        return [answer.status, at(answer.body, 'reason')];
      };
      expect(await send(aConfigMap('a'), {})).toEqual([422, 'Invalid']);
      expect(await send(aConfigMap('b'), { fieldManager: 'one' })).toEqual([400, 'BadRequest']);
      expect(await send({ metadata: { name: 'a' } }, { fieldManager: 'one' })).toEqual([400, 'BadRequest']);
      const managed = aConfigMap('a', {}, { managedFields: [{ manager: 'x' }] });
      expect(await send(managed, { fieldManager: 'one' })).toEqual([400, 'BadRequest']);
    });

    it('takes a manager whose name is not too long', async () => {
      const subject = await makeSubject();
      expect((await apply(subject, 'x'.repeat(128), { key: '1' })).status).toBe(201);
      const answer = await apply(subject, 'x'.repeat(129), { key: '1' });
      expect([answer.status, at(answer.body, 'details.causes.0.reason')]).toEqual([422, 'FieldValueTooLong']);
    });

    it('takes a version as a precondition', async () => {
      const subject = await makeSubject();
      const first = await apply(subject, 'one', { key: '1' });
      const resourceVersion = textAt(first.body, 'metadata.resourceVersion');
      await apply(subject, 'one', { key: '2' });
      const answer = await apply(subject, 'one', { key: '3' }, { resourceVersion });
      expect([answer.status, at(answer.body, 'reason')]).toEqual([409, 'Conflict']);
      const fresh = await patch(
        subject,
        configMaps(subject, 'new'),
        'apply',
        aConfigMap('new', {}, { resourceVersion }),
        {
          fieldManager: 'one',
        },
      );
      // There is nothing that could have another version.
      expect(fresh.status).toBe(201);
    });

    it('does not force under other patch types', async () => {
      const subject = await makeSubject();
      await created(subject, configMaps(subject), aConfigMap('a'));
      const answer = await patch(subject, configMaps(subject, 'a'), 'merge', {}, { force: true });
      expect([answer.status, at(answer.body, 'reason')]).toEqual([422, 'Invalid']);
    });

    it('records who wrote by other means, by the user agent where nothing is said', async () => {
      const subject = await makeSubject();
      const object = await created(subject, configMaps(subject), aConfigMap('a', { key: '1' }));
      expect(listAt(object, 'metadata.managedFields')).toMatchObject([
        {
          manager: 'contract',
          operation: 'Update',
          apiVersion: 'v1',
          fieldsV1: { 'f:data': { '.': {}, 'f:key': {} } },
        },
      ]);
    });
  });
}
