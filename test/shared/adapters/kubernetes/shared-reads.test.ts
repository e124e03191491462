/** Reads of one process that are shared. */
import { describe, expect, it } from 'vitest';
import { shareReads } from '../../../../shared/adapters/kubernetes/shared-reads.ts';
import { RESOURCES } from '../../../../shared/contract/resources.ts';
import type { KubernetesObject } from '../../../../shared/domain/kubernetes-object.ts';
import type { KubernetesApi } from '../../../../shared/ports/kubernetes-api.ts';
import { objectOf, type ObjectAnswer } from '../../../../shared/ports/read-answer.ts';

const nodeOf = (uid: string): KubernetesObject => ({
  apiVersion: 'v1',
  kind: 'Node',
  metadata: { name: 'n1', uid, resourceVersion: '1', creationTimestamp: '2024-11-01T15:00:00Z' },
});

/** An API whose reads end when the test says so; each answers the world as it was when the read began. */
function createWorld() {
  let version = 0;
  const begun: (() => void)[] = [];
  const failing = new Set<number>();
  const read = (): Promise<ObjectAnswer> => {
    const seen = version;
    const number = begun.length;
    return new Promise((resolve, reject) => {
      begun.push(() => {
        if (failing.has(number)) reject(new Error('lost'));
        else resolve({ kind: 'there', object: nodeOf(String(seen)) });
      });
    });
  };
  const api = { get: read, list: read } as unknown as KubernetesApi;
  return {
    api: shareReads(api),
    change: () => (version += 1),
    begun,
    failing,
    end: async (number: number) => {
      begun[number]?.();
      await new Promise(setImmediate);
    },
  };
}

const ref = { type: RESOURCES.Node, name: 'n1' };
const uidIn = (answer: ObjectAnswer) => objectOf(answer, { notServed: 'notKnown' })?.metadata.uid;

describe('a shared read', () => {
  it('answers all who asked before it began, and nobody with what was read before he asked', async () => {
    const { api, change, begun, end } = createWorld();
    const first = api.get(ref);
    change();
    const others = [api.get(ref), api.get(ref), api.get(ref)];
    await end(0);
    expect(begun).toHaveLength(2);
    change();
    const last = api.get(ref);
    await end(1);
    await end(2);
    const seen = await Promise.all([first, ...others, last]);
    expect(seen.map(uidIn)).toEqual(['0', '1', '1', '1', '2']);
    expect(begun).toHaveLength(3);
  });

  it('begins at once when none is under way', async () => {
    const { api, begun, end } = createWorld();
    const first = api.list(RESOURCES.Node);
    await end(0);
    await first;
    void api.list(RESOURCES.Node);
    expect(begun).toHaveLength(2);
  });

  it('is one of the very same thing: another name, selector or projection is read beside it', () => {
    const { api, begun } = createWorld();
    const project = (object: KubernetesObject): KubernetesObject => object;
    void api.get(ref);
    void api.get({ ...ref, name: 'n2' });
    void api.list(RESOURCES.Node);
    void api.list(RESOURCES.Node, { labelSelector: 'a=b' });
    void api.list(RESOURCES.Node, {}, { project });
    expect(begun).toHaveLength(5);
  });

  it('that fails, fails for those whom it would have answered, and holds nobody up', async () => {
    const { api, failing, begun, end } = createWorld();
    failing.add(0);
    const first = api.get(ref);
    const second = api.get(ref);
    const [outcome] = await Promise.all([first.catch((error: unknown) => error), end(0)]);
    expect(outcome).toEqual(new Error('lost'));
    expect(begun).toHaveLength(2);
    await end(1);
    expect(uidIn(await second)).toBe('0');
  });
});
