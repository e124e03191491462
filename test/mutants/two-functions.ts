/** Mistakes that show only when two functions write to one object at the same time. */
import type { JsonObject, KubernetesObject } from '../../shared/domain/kubernetes-object.ts';
import type { FunctionName } from '../../shared/contract/names.ts';
import type { Mutation } from '../../simulator/swarm/seed.ts';
import { isA, withKubernetes, withPortsOfRun, methodsOf, type ResourceName } from './mutant.ts';

/** Without version, so that whoever came between is not noticed. */
function withoutVersion(body: JsonObject): JsonObject {
  const metadata = body['metadata'];
  if (typeof metadata !== 'object' || metadata === null || Array.isArray(metadata)) return body;
  const { resourceVersion: _, ...rest } = metadata as JsonObject;
  return { ...body, metadata: rest };
}

/** What takes the annotations back to what was read. */
function backTo(read: KubernetesObject, live: KubernetesObject, body: JsonObject): JsonObject {
  const { metadata } = body as { readonly metadata?: { readonly annotations?: JsonObject } };
  const gone = Object.fromEntries(Object.keys(live.metadata.annotations ?? {}).map(key => [key, null]));
  const annotations = { ...gone, ...read.metadata.annotations, ...metadata?.annotations };
  return { ...body, metadata: { ...metadata, annotations } };
}

/** Writes an object back as it read it, with its own change: as with `PUT`, and without a version. */
export const writesBack = (name: FunctionName, resource: ResourceName = 'Node'): Mutation =>
  withKubernetes(name, api => {
    let read: KubernetesObject | undefined;
    return {
      async get(ref) {
        const answer = await api.get(ref);
        if (answer.kind === 'there' && isA(resource, ref)) read = answer.object;
        return answer;
      },
      async patch(ref, patch, options) {
        if (!isA(resource, ref) || patch.type !== 'merge' || options?.subresource !== undefined)
          return await api.patch(ref, patch, options);
        const live = await api.get(ref);
        const body = withoutVersion(patch.body);
        const whole = read !== undefined && live.kind === 'there' ? backTo(read, live.object, body) : body;
        return await api.patch(ref, { type: 'merge', body: whole }, options);
      },
    };
  });

/** Takes what is refused, since somebody else has changed the NodeClaim meanwhile, for done. */
export const TAKES_CONFLICTS_FOR_DONE: Mutation = withKubernetes('repair', api => ({
  async patch(ref, patch, options) {
    const outcome = await api.patch(ref, patch, options);
    if (outcome.kind !== 'conflict' || !isA('NodeClaim', ref)) return outcome;
    const live = await api.get(ref);
    return live.kind === 'there' ? { kind: 'ok', object: live.object } : { kind: 'notFound' };
  },
  async delete(ref, options) {
    const outcome = await api.delete(ref, options);
    return outcome.kind === 'conflict' && isA('NodeClaim', ref) ? { kind: 'ok' } : outcome;
  },
}));

/** Gives a condition up when somebody else has written to the object meanwhile. */
export const GIVES_CONDITIONS_UP: Mutation = withPortsOfRun('finalizer', ({ kubernetes }) => {
  let isOvertaken = false;
  return {
    kubernetes: {
      ...methodsOf(kubernetes),
      async patch(ref, patch, options) {
        if (options?.subresource !== 'status') return await kubernetes.patch(ref, patch, options);
        if (isOvertaken) return { kind: 'conflict', message: 'somebody else wrote' };
        const outcome = await kubernetes.patch(ref, patch, options);
        isOvertaken = outcome.kind === 'conflict';
        return outcome;
      },
    },
  };
});
