/** CustomResourceDefinitions: from creation to deletion, and which are refused. */
import { describe, expect, it, vi } from 'vitest';
import { CRDS, gadgetDefinition, ownGadgets } from './gadgets.ts';
import { at, EVENTUALLY, listAt, namesIn, read, textAt, type ApiServerSubject, type MakeSubject } from './subject.ts';

/** Where a schema that all versions share is complained about. */
const SPEC = 'spec.validation.openAPIV3Schema.properties[spec]';

const version = (name: string, properties: object = {}): object => ({
  name,
  served: true,
  storage: true,
  schema: { openAPIV3Schema: { type: 'object', properties: { spec: { type: 'object', properties } } } },
});

export function defineDefinitions(makeSubject: MakeSubject): void {
  describe('custom resource definitions', () => {
    it('are established, with names accepted', async () => {
      const subject = await makeSubject();
      const { group } = await ownGadgets(subject);
      const answer = await vi.waitFor(async () => {
        const stored = await read(subject, `${CRDS}/gadgets.${group}`);
        expect(listAt(stored, 'status.conditions').length).toBeGreaterThanOrEqual(2);
        return stored;
      }, EVENTUALLY);
      expect(answer).toMatchObject({
        metadata: { generation: 1 },
        status: { acceptedNames: { plural: 'gadgets', kind: 'Gadget' }, storedVersions: ['v1'] },
      });
      const conditions = listAt(answer, 'status.conditions').map(
        each => `${textAt(each, 'type')}=${textAt(each, 'status')}`,
      );
      expect(conditions).toEqual(expect.arrayContaining(['NamesAccepted=True', 'Established=True']));
    });

    const refusal = async (subject: ApiServerSubject, spec: object, more: object = {}): Promise<unknown[]> => {
      const definition = gadgetDefinition(`${subject.namespace}.example.com`, {}, spec);
      const answer = await subject.http.call('POST', CRDS, { body: { ...definition, ...more } });
      return [answer.status, ...listAt(answer.body, 'details.causes').map(cause => at(cause, 'field'))];
    };

    it.each([
      ['two storage versions', { versions: [version('v1'), version('v2')] }, 'spec.versions'],
      [
        'no schema',
        { versions: [{ name: 'v1', served: true, storage: true }] },
        'spec.versions[0].schema.openAPIV3Schema',
      ],
      ['a part without a type', { versions: [version('v1', { a: {} })] }, `${SPEC}.properties[a].type`],
      [
        'items without a type',
        { versions: [version('v1', { a: { type: 'array', items: {} } })] },
        `${SPEC}.properties[a].items.type`,
      ],
      ['an unknown scope', { scope: 'Everywhere' }, 'spec.scope'],
      [
        'a default that is not valid',
        { versions: [version('v1', { a: { type: 'integer', default: 'x' } })] },
        `${SPEC}.properties[a].default`,
      ],
    ])('are refused with %s', async (_, spec, field) => {
      const subject = await makeSubject();
      const [status, ...fields] = await refusal(subject, spec);
      expect(status).toBe(422);
      expect(fields).toContain(field);
    });

    it('are refused under a name that is not plural and group', async () => {
      const subject = await makeSubject();
      const metadata = { name: 'gadgets.other.example.com' };
      expect(await refusal(subject, {}, { metadata })).toEqual([422, 'metadata.name']);
    });

    it('are refused with a rule that does not compile', async () => {
      const subject = await makeSubject();
      const a = { type: 'string', 'x-kubernetes-validations': [{ rule: 'self ==' }] };
      const real = [422, `${SPEC}.properties[a].x-kubernetes-validations[0].rule`];
      expect(await refusal(subject, { versions: [version('v1', { a })] })).toEqual(
        subject.differing<unknown[]>('rules-that-do-not-compile', { real, embedded: [201] }),
      );
    });

    it('keep their objects while they serve none of their versions', async () => {
      const subject = await makeSubject();
      const { group, path, make } = await ownGadgets(subject);
      await make('a', { size: 1 });
      const serve = async (isServed: boolean): Promise<number> => {
        const body = [{ op: 'replace', path: '/spec/versions/0/served', value: isServed }];
        const type = 'application/json-patch+json';
        return (await subject.http.call('PATCH', `${CRDS}/gadgets.${group}`, { body, type })).status;
      };
      expect(await serve(false)).toBe(200);
      await vi.waitFor(async () => expect((await subject.http.call('GET', path)).status).toBe(404), EVENTUALLY);
      expect(await serve(true)).toBe(200);
      await vi.waitFor(async () => expect(namesIn(await read(subject, path))).toEqual(['a']), EVENTUALLY);
    });

    it('serve no more when they are deleted, and their objects are gone', async () => {
      const subject = await makeSubject();
      const { group, path, make } = await ownGadgets(subject);
      await make('a', { size: 1 });
      const deleted = await subject.http.call('DELETE', `${CRDS}/gadgets.${group}`);
      // A finalizer of the server's own holds the definition until its objects are gone.
      expect([deleted.status, at(deleted.body, 'kind')]).toEqual(
        subject.differing('definitions-go-at-once', {
          real: [200, 'CustomResourceDefinition'],
          embedded: [200, 'Status'],
        }),
      );
      await vi.waitFor(async () => expect((await subject.http.call('GET', path)).status).toBe(404), EVENTUALLY);
      await vi.waitFor(async () => {
        const answer = await subject.http.call('POST', CRDS, { body: gadgetDefinition(group) });
        expect(answer.status).toBe(201);
      }, EVENTUALLY);
      await vi.waitFor(async () => expect(namesIn(await read(subject, path))).toEqual([]), EVENTUALLY);
    });
  });
}
