/**
 * Reads that callers of one process share. A call that finds the same read under way waits for the next one, with all other such calls.
 * A read answers only calls made before it began, so its answer is never older than a read of the caller's own. Fifty pools that are
 * looked at in the same second cost two lists of the cluster.
 */
import type { KubernetesApi } from '../../ports/kubernetes-api.ts';

interface Reads {
  running: Promise<unknown>;
  /** Begins when the one that runs has ended. */
  next: Promise<unknown> | undefined;
}

/** The same API with shared `get` and `list`. Who shares it must not change what it answers. */
export function shareReads(api: KubernetesApi): KubernetesApi {
  const reads = new Map<string, Reads>();
  const share = <Value>(key: string, read: () => Promise<Value>): Promise<Value> => {
    const known = reads.get(key);
    if (known?.next !== undefined) return known.next as Promise<Value>;
    const begin = (): Promise<Value> => {
      const running = read();
      const current: Reads = { running, next: undefined };
      reads.set(key, current);
      const end = (): void => {
        if (reads.get(key) === current && current.next === undefined) reads.delete(key);
      };
      running.then(end, end);
      return running;
    };
    if (known === undefined) return begin();
    const next = known.running.then(begin, begin);
    known.next = next;
    return next;
  };
  const projections = new Map<unknown, number>();
  const numberOf = (project: unknown): number => {
    if (!projections.has(project)) projections.set(project, projections.size);
    return projections.get(project) ?? 0;
  };
  return {
    ...api,
    get: ref => share(JSON.stringify(['get', ref.type, ref.namespace, ref.name]), () => api.get(ref)),
    list: (type, query, options) =>
      share(JSON.stringify(['list', type, query, numberOf(options?.project)]), () => api.list(type, query, options)),
  };
}
