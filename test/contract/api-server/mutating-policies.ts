/** MutatingAdmissionPolicies: what they make of the objects that are written. */
import { describe, expect, it } from 'vitest';
import { inForce, isRefused, putPolicy, send, sendPolicy } from './policies.ts';
import { at, configMaps, patch, read, type MakeSubject } from './subject.ts';

const KIND = 'MutatingAdmissionPolicy';
const jsonPatch = (expression: string): object => ({ patchType: 'JSONPatch', jsonPatch: { expression } });
const apply = (expression: string): object => ({ patchType: 'ApplyConfiguration', applyConfiguration: { expression } });

export function defineMutatingPolicies(makeSubject: MakeSubject): void {
  describe('a MutatingAdmissionPolicy', () => {
    it('applies a configuration in creates and every kind of update', async () => {
      const subject = await makeSubject();
      await putPolicy(subject, KIND, 'seen', {
        variables: [{ name: 'size', expression: "has(object.data) ? string(size(object.data)) : '0'" }],
        mutations: [
          apply(
            `Object{metadata: Object.metadata{labels: {"seen": "yes", "by": request.operation == 'CREATE' ? 'create' : 'update'}, finalizers: ["example.com/a"]}, data: {"count": variables.size}}`,
          ),
        ],
      });
      await inForce(subject, { a: '1' }, ({ body }) => at(body, 'data.count') === '1');
      const metadata = { labels: { own: 'x' }, finalizers: ['example.com/own'] };
      const made = await send(subject, 'a', { a: '1' }, metadata);
      expect(made.body).toMatchObject({
        metadata: { labels: { own: 'x', seen: 'yes', by: 'create' }, finalizers: ['example.com/own', 'example.com/a'] },
        data: { a: '1', count: '1' },
      });
      const path = configMaps(subject, 'a');
      const merged = await patch(subject, path, 'merge', {
        metadata: { labels: { seen: null }, finalizers: ['example.com/b'] },
      });
      expect(merged.body).toMatchObject({
        metadata: { labels: { seen: 'yes', by: 'update' }, finalizers: ['example.com/b', 'example.com/a'] },
        data: { count: '2' },
      });
      const put = await subject.http.call('PUT', path, {
        body: { ...Object(made.body), metadata: { name: 'a' }, data: {} },
      });
      expect([put.status, at(put.body, 'metadata.labels'), at(put.body, 'data.count')]).toEqual([
        200,
        { seen: 'yes', by: 'update' },
        '0',
      ]);
      const applied = await patch(
        subject,
        path,
        'apply',
        { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a' }, data: { b: '2' } },
        { fieldManager: 'contract', force: true },
      );
      expect([applied.status, at(applied.body, 'metadata.labels.seen'), at(applied.body, 'data.b')]).toEqual([
        200,
        'yes',
        '2',
      ]);
      expect(at(await read(subject, path), 'metadata.finalizers')).toEqual(['example.com/a']);
      await patch(subject, path, 'merge', { metadata: { finalizers: null } });
    });

    it('patches, and leaves the object alone when a test of the patch fails', async () => {
      const subject = await makeSubject();
      await putPolicy(subject, KIND, 'patched', {
        mutations: [
          jsonPatch(
            `[JSONPatch{op: "test", path: "/data/on", value: "yes"}]
             + (has(object.metadata.annotations) ? [] : [JSONPatch{op: "add", path: "/metadata/annotations", value: {"l": "{a: 1}"}}])
             + [JSONPatch{op: "add", path: "/metadata/annotations/" + jsonpatch.escapeKey("example.com/y"), value: "1"}]`,
          ),
          jsonPatch(`[JSONPatch{op: "replace", path: "/data/on", value: object.data.on + "!"}]`),
        ],
        matchConditions: [{ name: 'has-data', expression: "has(object.data) && 'on' in object.data" }],
      });
      await inForce(subject, { on: 'no' }, ({ body }) => at(body, 'data.on') === 'no!');
      const data = async (on: string, metadata = {}): Promise<unknown> => {
        const { body } = await send(subject, 'a', { on }, metadata, { dryRun: 'All' });
        return { data: at(body, 'data'), annotations: at(body, 'metadata.annotations') };
      };
      const patched = { 'example.com/y': '1' };
      expect(await data('yes')).toEqual({ data: { on: 'yes!' }, annotations: { l: '{a: 1}', ...patched } });
      expect(await data('yes', { annotations: { own: 'x' } })).toEqual({
        data: { on: 'yes!' },
        annotations: { own: 'x', ...patched },
      });
      expect(await data('no')).toEqual({ data: { on: 'no!' }, annotations: undefined });
      expect((await send(subject, 'b', {})).status).toBe(201);
    });

    it('is asked again when another changes the object after it, if it wants to be', async () => {
      const subject = await makeSubject();
      const copy = (to: string): object =>
        apply(`Object{data: {"${to}": 'last' in object.data ? object.data.last : 'none'}}`);
      await putPolicy(subject, KIND, 'a-again', { mutations: [copy('again')], reinvocationPolicy: 'IfNeeded' });
      await putPolicy(subject, KIND, 'b-once', { mutations: [copy('once')] });
      await putPolicy(subject, KIND, 'c-last', { mutations: [apply(`Object{data: {"last": "1"}}`)] });
      await inForce(subject, { a: '1' }, ({ body }) =>
        ['last', 'once', 'again'].every(key => at(body, `data.${key}`) !== undefined),
      );
      const { body } = await send(subject, 'a', { a: '1' });
      expect(at(body, 'data')).toMatchObject({ last: '1', again: '1' });
    });

    it('comes before validation, and what it made is validated', async () => {
      const subject = await makeSubject();
      await putPolicy(subject, KIND, 'level', { mutations: [apply(`Object{data: {"level": "made"}}`)] });
      await putPolicy(subject, 'ValidatingAdmissionPolicy', 'level', {
        validations: [{ expression: "object.data.level == 'made' && !('bad' in object.data)" }],
      });
      await inForce(subject, { bad: '1', a: '1' }, isRefused);
      await inForce(subject, { a: '1' }, ({ body }) => at(body, 'data.level') === 'made');
      expect((await send(subject, 'a', { a: '1' })).status).toBe(201);
    });

    it('that cannot be evaluated denies, unless its failurePolicy is Ignore', async () => {
      const subject = await makeSubject();
      const broken = (key: string): object => ({
        mutations: [apply(`Object{data: {"made": object.data["${key}"]}}`)],
      });
      await putPolicy(subject, KIND, 'ignore', { ...broken('gone'), failurePolicy: 'Ignore' });
      await putPolicy(subject, KIND, 'fail', broken('b'));
      await inForce(subject, { a: '1' }, isRefused);
      const { status, body } = await send(subject, 'a', { a: '1' });
      const name = `fail.${subject.namespace}`;
      const message = `policy '${name}' with binding '${name}' denied request: expression 'Object{data: {"made": object.data["b"]}}' resulted in error: no such key: b`;
      expect([status, at(body, 'reason'), at(body, 'message'), at(body, 'details')]).toEqual([
        403,
        'Invalid',
        message,
        { name: 'a', kind: 'configmaps', causes: [{ message }] },
      ]);
      expect(at((await send(subject, 'a', { b: '1' })).body, 'data')).toEqual({ b: '1', made: '1' });
    });

    it('does not make writers managers of what it adds', async () => {
      const subject = await makeSubject();
      await putPolicy(subject, KIND, 'adds', { mutations: [apply(`Object{data: {"added": "1"}}`)] });
      await inForce(subject, { a: '1' }, ({ body }) => at(body, 'data.added') === '1');
      const query = { fieldManager: 'writer' };
      const { body } = await send(subject, 'a', { a: '1' }, {}, query);
      expect(at(body, 'metadata.managedFields.0.fieldsV1')).toEqual({ 'f:data': { '.': {}, 'f:a': {} } });
    });

    it('is refused without what it must have, and with what does not parse', async () => {
      const subject = await makeSubject();
      const fields = async (spec: object): Promise<unknown> => {
        const answer = await sendPolicy(subject, KIND, spec);
        return [answer.status, at(answer.body, 'details.causes.0.field')];
      };
      expect(await fields({ mutations: [jsonPatch('[JSONPatch{op: "add"')] })).toEqual([
        422,
        'spec.mutations[0].jsonPatch.expression',
      ]);
      expect(await fields({})).toEqual([422, 'spec.mutations']);
      expect(await fields({ mutations: [{ patchType: 'Merge' }] })).toEqual([422, 'spec.mutations[0].patchType']);
    });
  });
}
