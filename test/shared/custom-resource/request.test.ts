import { describe, expect, it } from 'vitest';
import { lookUpResource, uidWithMark } from '../../../shared/custom-resource/follow.ts';
import { makeResource, requestResource } from '../../../shared/custom-resource/request.ts';
import type { KubernetesManifest } from '../../../shared/domain/kubernetes-object.ts';
import type { CreateOutcome, KubernetesApi } from '../../../shared/ports/kubernetes-api.ts';

const TYPE = { group: 'a.example.com', version: 'v1', resource: 'things' };
const REF = { type: TYPE, namespace: 'ns', name: 'x' };
const MARK = { annotation: 'curfew.dev/made-for', value: 'node-1' };
const MANIFEST: KubernetesManifest = {
  apiVersion: 'a.example.com/v1',
  kind: 'Thing',
  metadata: { name: 'x', namespace: 'ns', annotations: { note: 'of the template', [MARK.annotation]: 'forged' } },
};
const marked = (value: string) => ({
  apiVersion: 'a.example.com/v1',
  kind: 'Thing',
  metadata: { name: 'x', uid: 'u1', resourceVersion: '1', annotations: { [MARK.annotation]: value } },
});

const api = (methods: object) => methods as unknown as KubernetesApi;

describe('a custom resource', () => {
  it('is made with the mark of what it is for, which no template can forge', async () => {
    const created: KubernetesManifest[] = [];
    const kubernetes = api({
      async create(_: unknown, manifest: KubernetesManifest) {
        created.push(manifest);
        return { kind: 'ok', object: marked('node-1') };
      },
    });
    expect(await requestResource(kubernetes, TYPE, MANIFEST, MARK)).toMatchObject({ kind: 'created' });
    expect(created.map(({ metadata }) => metadata.annotations)).toEqual([
      { note: 'of the template', [MARK.annotation]: 'node-1' },
    ]);
  });

  it.each<[string, CreateOutcome, object]>([
    ['one of its name is there', { kind: 'exists' }, { kind: 'exists' }],
    [
      'its namespace is missing',
      { kind: 'notFound' },
      { kind: 'refused', reason: 'NamespaceNotFound', message: 'Thing cannot be created: namespace ns is missing' },
    ],
    [
      'the API server refuses it',
      { kind: 'invalid', message: 'spec: Required value' },
      { kind: 'refused', reason: 'ResourceRefused', message: 'the API server refuses the Thing: spec: Required value' },
    ],
  ])('is not made where %s', async (_, outcome, expected) => {
    const kubernetes = api({ create: async () => outcome });
    expect(await requestResource(kubernetes, TYPE, MANIFEST, MARK)).toEqual(expected);
  });

  it.each([
    ['node-1', true],
    ['node-2', false],
  ])('marked %s is ours: %s', async (value, ours) => {
    const kubernetes = api({
      get: async () => ({ kind: 'there', object: marked(value) }),
      versionsOf: async () => ['v1'],
    });
    const known = { mark: MARK, uid: undefined };
    expect(await lookUpResource(kubernetes, REF, known)).toMatchObject({ kind: 'present', isOurs: ours });
    expect(await uidWithMark(kubernetes, REF, MARK)).toBe(ours ? 'u1' : undefined);
  });

  it.each([
    ['u1', true],
    ['u2', false],
  ])('whose mark somebody took off is ours by the UID %s: %s', async (uid, isOurs) => {
    const kubernetes = api({ get: async () => ({ kind: 'there', object: marked('node-2') }) });
    expect(await lookUpResource(kubernetes, REF, { mark: MARK, uid })).toMatchObject({ kind: 'present', isOurs });
  });

  it.each([
    ['that an earlier try made is taken', 'node-1', 'created'],
    ['that was made for something else is left alone', 'node-2', 'foreign'],
  ])('%s, and nothing is created', async (_, value, kind) => {
    const kubernetes = api({ get: async () => ({ kind: 'there', object: marked(value) }) });
    expect(await makeResource(kubernetes, REF, MANIFEST, MARK)).toEqual({ kind, object: marked(value) });
  });

  it.each([
    ['node-1', 'created'],
    ['node-2', 'foreign'],
  ])('that another run makes for %s in between is %s', async (value, kind) => {
    const answers = [{ kind: 'notThere' }, { kind: 'there', object: marked(value) }];
    const kubernetes = api({ get: async () => answers.shift(), create: async () => ({ kind: 'exists' }) });
    expect(await makeResource(kubernetes, REF, MANIFEST, MARK)).toEqual({ kind, object: marked(value) });
  });

  it('is not gone where its version is not served', async () => {
    const kubernetes = api({ get: async () => ({ kind: 'notServed' }), versionsOf: async () => ['v2'] });
    expect(await lookUpResource(kubernetes, REF, { mark: MARK, uid: undefined })).toEqual({
      kind: 'notServed',
      versions: ['v2'],
    });
  });
});
