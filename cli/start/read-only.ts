/**
 * `KubernetesApi` for a cluster that is watched without `--enforce`: reads go through, writes are reported and not made. The answer is
 * what the write would plausibly have got, looked up by reading: a missing object is `notFound`, an unmet precondition a `conflict`.
 */
import { isKubernetesObject } from '../../shared/adapters/kubernetes/objects.ts';
import { isJsonObject } from '../../shared/domain/json.ts';
import type {
  JsonObject,
  KubernetesManifest,
  KubernetesObject,
  ObjectRef,
} from '../../shared/domain/kubernetes-object.ts';
import type { KubernetesApi, ObjectPatch, Preconditions } from '../../shared/ports/kubernetes-api.ts';

/** A write that was not made. */
export interface WithheldWrite {
  readonly verb: 'create' | 'patch' | 'delete' | 'evict';
  readonly ref: ObjectRef;
  readonly subresource?: 'status';
  readonly gracePeriodSeconds?: number;
  /** Manifest or patch, as it would have been sent. */
  readonly body?: KubernetesManifest | ObjectPatch['body'];
}

/** A withheld merge patch answers with the object as it would be, and changes nothing that is read later. */
export function toReadOnly(api: KubernetesApi, onWrite: (write: WithheldWrite) => void): KubernetesApi {
  /** The object the write would hit, or the outcome that would keep it from happening. */
  async function find(ref: ObjectRef, expected: Preconditions) {
    const answer = await api.get(ref);
    if (answer.kind !== 'there') return { kind: 'notFound' } as const;
    const { object } = answer;
    const { uid, resourceVersion } = object.metadata;
    if ((expected.uid ?? uid) !== uid) return { kind: 'conflict', message: `the UID is ${uid}` } as const;
    if ((expected.resourceVersion ?? resourceVersion) !== resourceVersion) {
      return { kind: 'conflict', message: `the resourceVersion is ${resourceVersion}` } as const;
    }
    return { kind: 'ok', object } as const;
  }

  return {
    get: ref => api.get(ref),
    list: (type, query, options) => api.list(type, query, options),
    resolve: kind => api.resolve(kind),
    versionsOf: kind => api.versionsOf(kind),

    async create(type, manifest) {
      const { namespace, name = `${manifest.metadata.generateName ?? ''}00000` } = manifest.metadata;
      const ref = { type, ...(namespace === undefined ? {} : { namespace }), name };
      const { kind } = await api.get(ref);
      if (kind === 'there') return { kind: 'exists' };
      // As the API server answers where the kind is missing; that a namespace is there, nobody has looked.
      if (kind === 'notServed') return { kind: 'notFound' };
      onWrite({ verb: 'create', ref, body: manifest });
      const metadata = { uid: '', resourceVersion: '', creationTimestamp: '', ...manifest.metadata, name };
      return { kind: 'ok', object: { ...manifest, metadata } };
    },

    async patch(ref, patch, options) {
      const found = await find(ref, patch.type === 'merge' ? preconditionsIn(patch.body) : {});
      if (found.kind !== 'ok') return found;
      onWrite({ verb: 'patch', ref, ...options, body: patch.body });
      return patch.type === 'merge' ? { kind: 'ok', object: merged(found.object, patch.body) } : found;
    },

    async delete(ref, { preconditions, gracePeriodSeconds }) {
      const found = await find(ref, preconditions);
      if (found.kind !== 'ok') return found;
      onWrite({ verb: 'delete', ref, ...(gracePeriodSeconds === undefined ? {} : { gracePeriodSeconds }) });
      return { kind: 'ok' };
    },

    async evict(ref, { preconditions, gracePeriodSeconds }) {
      const found = await find(ref, preconditions);
      if (found.kind !== 'ok') return found;
      onWrite({ verb: 'evict', ref, ...(gracePeriodSeconds === undefined ? {} : { gracePeriodSeconds }) });
      return { kind: 'ok' };
    },
  };
}

function preconditionsIn(body: JsonObject): Preconditions {
  const metadata = body['metadata'];
  if (!isJsonObject(metadata)) return {};
  const { uid, resourceVersion } = metadata;
  return {
    ...(typeof uid === 'string' ? { uid } : {}),
    ...(typeof resourceVersion === 'string' ? { resourceVersion } : {}),
  };
}

/** The object as RFC 7386 would leave it; the object itself where that is no longer one. */
function merged(object: KubernetesObject, patch: JsonObject): KubernetesObject {
  const result: unknown = mergePatch(object, patch);
  return isKubernetesObject(result) ? result : object;
}

function mergePatch(target: unknown, patch: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const result: Record<string, unknown> = isJsonObject(target) ? { ...target } : {};
  for (const [key, value] of Object.entries(patch)) {
    if (value === null) delete result[key];
    else if (value !== undefined) result[key] = isJsonObject(value) ? mergePatch(result[key], value) : value;
  }
  return result;
}
