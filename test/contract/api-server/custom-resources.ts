/** Objects of a definition: lists, status, columns, selectable fields, patches. */
import { describe, expect, it } from 'vitest';
import { ownGadgets, shareGadgets } from './gadgets.ts';
import { at, listAt, namesIn, patch, read, textAt, type MakeSubject } from './subject.ts';

const TABLE = 'application/json;as=Table;v=v1;g=meta.k8s.io';

export function defineCustomResources(makeSubject: MakeSubject): void {
  const gadgets = shareGadgets();

  describe('custom resources', () => {
    it('keep kind and apiVersion in lists, count their generation and keep status apart', async () => {
      const subject = await makeSubject();
      const { group, path, make } = await gadgets(subject);
      const object = await make('a', { size: 1 }, { status: { ready: 'yes' } });
      expect(object.body).toMatchObject({ metadata: { generation: 1 }, spec: { size: 1 } });
      expect(at(object.body, 'status')).toBeUndefined();
      const list = await read(subject, path);
      expect(list).toMatchObject({
        kind: 'GadgetList',
        apiVersion: `${group}/v1`,
        items: [{ kind: 'Gadget', apiVersion: `${group}/v1` }],
      });
      const status = await patch(subject, `${path}/a/status`, 'merge', { spec: { size: 9 }, status: { ready: 'yes' } });
      expect(status.body).toMatchObject({ metadata: { generation: 1 }, spec: { size: 1 }, status: { ready: 'yes' } });
      const spec = await patch(subject, `${path}/a`, 'merge', { spec: { size: 2 }, status: { ready: 'no' } });
      expect(spec.body).toMatchObject({ metadata: { generation: 2 }, spec: { size: 2 }, status: { ready: 'yes' } });
      const wrong = await patch(subject, `${path}/a/status`, 'merge', { status: { count: 'many' } });
      expect(wrong.status).toBe(422);
    });

    it('have no status path where the definition gives none, and keep status with the rest', async () => {
      const subject = await makeSubject();
      const { path, make } = await ownGadgets(subject, { subresources: {} });
      const object = await make('a', { size: 1 }, { status: { ready: 'yes' } });
      expect(at(object.body, 'status.ready')).toBe('yes');
      expect((await subject.http.call('GET', `${path}/a/status`)).status).toBe(404);
    });

    it('are selected by the fields that the definition names', async () => {
      const subject = await makeSubject();
      const { path, make } = await gadgets(subject);
      await make('a', { size: 1, mode: 'Slow' });
      await make('b', { size: 1 });
      const select = (fieldSelector: string) => subject.http.call('GET', path, { query: { fieldSelector } });
      expect(namesIn((await select('spec.mode=Slow')).body)).toEqual(['a']);
      expect(namesIn((await select('metadata.name=b')).body)).toEqual(['b']);
      expect((await select('spec.size=1')).status).toBe(400);
    });

    it('print the columns that the definition gives', async () => {
      const subject = await makeSubject();
      const { path, make } = await gadgets(subject);
      await make('a', { size: 3 });
      const answer = await subject.http.call('GET', path, { accept: TABLE });
      expect(answer.body).toMatchObject({ kind: 'Table', apiVersion: 'meta.k8s.io/v1' });
      const columns = listAt(answer.body, 'columnDefinitions').map(each => [
        at(each, 'name'),
        at(each, 'type'),
        at(each, 'priority'),
      ]);
      expect(columns).toEqual([
        ['Name', 'string', 0],
        ['Size', 'integer', 0],
        ['Ready', 'string', 0],
        ['Mode', 'string', 1],
        ['Age', 'date', 0],
      ]);
      expect(at(answer.body, 'rows.0.cells')).toEqual(['a', 3, null, 'Fast', expect.stringMatching(/^\d+s$/)]);
    });

    it('are not found in a version that their definition does not have', async () => {
      const subject = await makeSubject();
      const { group } = await gadgets(subject);
      const answer = await subject.http.call('GET', `/apis/${group}/v9/gadgets`);
      expect([answer.status, answer.text]).toEqual([404, '404 page not found\n']);
    });

    it('are applied with values that fit their schema', async () => {
      const subject = await makeSubject();
      const { group, path } = await gadgets(subject);
      const body = { apiVersion: `${group}/v1`, kind: 'Gadget', metadata: { name: 'a' }, spec: { size: 'large' } };
      const answer = await patch(subject, `${path}/a`, 'apply', body, { fieldManager: 'one' });
      expect(answer.status).toBe(subject.differing('types-in-an-apply', { real: 500, embedded: 422 }));
    });

    it('must say their kind and version', async () => {
      const subject = await makeSubject();
      const { group, path } = await gadgets(subject);
      const send = async (body: object): Promise<unknown[]> => {
        const answer = await subject.http.call('POST', path, { body: { ...body, metadata: { name: 'a' } } });
        return [answer.status, at(answer.body, 'reason'), textAt(answer.body, 'message')];
      };
      const apiVersion = `${group}/v1`;
      expect(await send({ apiVersion })).toEqual([
        400,
        'BadRequest',
        expect.stringContaining(
          "the object provided is unrecognized (must be of type Gadget): Object 'Kind' is missing in ",
        ),
      ]);
      expect(await send({ kind: 'Gadget' })).toEqual([
        400,
        'BadRequest',
        `the API version in the data () does not match the expected API version (${apiVersion})`,
      ]);
    });

    it('have no strategic merge patch, and may be updated only at a version', async () => {
      const subject = await makeSubject();
      const { group, path, make } = await gadgets(subject);
      await make('a', { size: 1 });
      const strategic = await patch(subject, `${path}/a`, 'strategic', { spec: { size: 2 } });
      expect([strategic.status, at(strategic.body, 'reason')]).toEqual([415, 'UnsupportedMediaType']);
      const body = { apiVersion: `${group}/v1`, kind: 'Gadget', metadata: { name: 'a' }, spec: { size: 2 } };
      const update = await subject.http.call('PUT', `${path}/a`, { body });
      expect([update.status, at(update.body, 'details.causes.0.field')]).toEqual([422, 'metadata.resourceVersion']);
    });

    it('are applied by list keys', async () => {
      const subject = await makeSubject();
      const { group, path, make } = await gadgets(subject);
      await make('a', { size: 1 });
      const write = (fieldManager: string, list: readonly object[]) =>
        patch(
          subject,
          `${path}/a`,
          'apply',
          { apiVersion: `${group}/v1`, kind: 'Gadget', metadata: { name: 'a' }, spec: { list } },
          { fieldManager },
        );
      await write('one', [{ name: 'x', value: '1' }]);
      const both = await write('two', [{ name: 'y', value: '2' }]);
      expect(at(both.body, 'spec.list')).toEqual([
        { name: 'x', value: '1' },
        { name: 'y', value: '2' },
      ]);
      const conflict = await write('two', [{ name: 'x', value: '9' }]);
      expect([conflict.status, at(conflict.body, 'details.causes.0.field')]).toEqual([
        409,
        '.spec.list[name="x"].value',
      ]);
    });

    it('answer 410 in the stream to a watch from before their definition', async () => {
      const subject = await makeSubject();
      const { path, make } = await ownGadgets(subject);
      await make('a', { size: 1 });
      subject.compact?.();
      const lines = subject.http.watch(path, { resourceVersion: 1, timeoutSeconds: 30 });
      const { value } = await lines.next();
      await lines.return(undefined);
      expect(value).toMatchObject({
        type: 'ERROR',
        object: { kind: 'Status', status: 'Failure', reason: 'Expired', code: 410 },
      });
      expect(textAt(at(value, 'object'), 'message')).toMatch(/^too old resource version: 1 \(\d+\)$/);
    });
  });
}
