import { describe, expect, it } from 'vitest';
import { deleteExactly } from '../../../shared/custom-resource/delete.ts';
import type { ObjectRef } from '../../../shared/domain/kubernetes-object.ts';
import { RetryableError } from '../../../shared/errors.ts';
import type { DeleteOutcome, KubernetesApi } from '../../../shared/ports/kubernetes-api.ts';

const REF = { type: { group: 'a.example.com', version: 'v1', resource: 'things' }, namespace: 'ns', name: 'x' };
const CONFLICT: DeleteOutcome = { kind: 'conflict', message: 'the object has been modified' };
const metadata = { name: 'x', uid: 'u1', resourceVersion: '1' };

function run(outcome: DeleteOutcome, object: object | undefined): ReturnType<typeof deleteExactly> {
  const kubernetes = {
    delete: async () => outcome,
    get: async () => (object ? { kind: 'there', object } : { kind: 'notThere' }),
    versionsOf: async () => ['v1'],
  };
  return deleteExactly(kubernetes as unknown as KubernetesApi, REF, 'u1');
}

describe('deleting one object', () => {
  it.each<[string, DeleteOutcome, object | undefined]>([
    ['it is deleted', { kind: 'ok' }, undefined],
    ['it was gone', { kind: 'notFound' }, undefined],
    ['it went meanwhile', CONFLICT, undefined],
    ['another has its name', CONFLICT, { metadata: { ...metadata, uid: 'u2' } }],
    ['somebody else deletes it', CONFLICT, { metadata: { ...metadata, deletionTimestamp: '2024-11-01T15:00:00Z' } }],
  ])('is done when %s', async (_, outcome, object) => {
    await expect(run(outcome, object)).resolves.toBe('done');
  });

  it('is tried again when a write came in between', async () => {
    await expect(run(CONFLICT, { metadata })).rejects.toThrow(RetryableError);
  });

  it.each<[string, readonly string[], readonly string[]]>([
    ['is looked for in the version that is served instead', ['v2', 'v3'], ['v1', 'v2']],
    ['is gone when its version is served', ['v2', 'v1'], ['v1']],
    ['is gone when nothing of its kind is served', [], ['v1']],
  ])('that is not found %s', async (_, versions, asked) => {
    const calls: string[] = [];
    const kubernetes = {
      delete: async ({ type }: ObjectRef) => (calls.push(type.version), { kind: 'notFound' }),
      versionsOf: async () => versions,
    };
    await deleteExactly(kubernetes as unknown as KubernetesApi, REF, 'u1');
    expect(calls).toEqual(asked);
  });
});
