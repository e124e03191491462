/** `KubernetesApi` on the embedded API server in the same process: the same table of refusals as over HTTP, without the HTTP. */
import { isNotFound, toApiFailure } from '../../shared/adapters/kubernetes/api-failure.ts';
import {
  toCreateOutcome,
  toDeleteOutcome,
  toEvictOutcome,
  toObjectAnswer,
  toThrown,
  toWriteOutcome,
} from '../../shared/adapters/kubernetes/errors.ts';
import { describeCall, hasTestOperation } from '../../shared/adapters/kubernetes/kubernetes-api.ts';
import {
  apiVersionOf,
  type GroupKind,
  type GroupResource,
  type KubernetesManifest,
  type KubernetesObject,
} from '../../shared/domain/kubernetes-object.ts';
import type { KubernetesApi, ObjectProjection } from '../../shared/ports/kubernetes-api.ts';
import { ApiStatusError, type ApiServerCore } from '../../packages/kube-apiserver/src/types.ts';

/** What the adapters of this folder use of the server. */
export type InProcessServer = Pick<
  ApiServerCore,
  'get' | 'list' | 'create' | 'patch' | 'delete' | 'evict' | 'watch' | 'resources' | 'resourceForKind'
>;

/** @param user whom the API server sees as the writer */
export function createInProcessKubernetesApi(core: InProcessServer, user: string): KubernetesApi {
  return {
    async get(ref) {
      try {
        return { kind: 'there', object: core.get(ref) };
      } catch (error) {
        return toObjectAnswer(failureOf(error), ref, describeCall('reading', ref));
      }
    },
    async list(type, query = {}, { project } = {}) {
      try {
        const { items } = core.list(type, query);
        return { kind: 'there', objects: project === undefined ? items : items.map(projectedOnce(project)) };
      } catch (error) {
        const failure = failureOf(error);
        if (isNotFound(failure)) return { kind: 'notServed', type };
        throw toThrown(failure, { doing: `listing ${type.resource}`, write: false });
      }
    },
    async create(type, manifest) {
      const { namespace, name = `${manifest.metadata.generateName ?? ''}*` } = manifest.metadata;
      const options = { user, ...(namespace === undefined ? {} : { namespace }) };
      try {
        return { kind: 'ok', object: core.create(type, overTheWire(manifest), options) };
      } catch (error) {
        const ref = { type, name, ...(namespace === undefined ? {} : { namespace }) };
        return toCreateOutcome(failureOf(error), describeCall('creating', ref));
      }
    },
    async patch(ref, patch, options) {
      try {
        return { kind: 'ok', object: core.patch(ref, patch, { user, ...options }) };
      } catch (error) {
        const doing = describeCall('patching', ref);
        return toWriteOutcome(failureOf(error), { ...ref, ...options }, doing, hasTestOperation(patch));
      }
    },
    async delete(ref, options) {
      try {
        core.delete(ref, { user, ...options });
        return { kind: 'ok' };
      } catch (error) {
        return toDeleteOutcome(failureOf(error), ref, describeCall('deleting', ref));
      }
    },
    async evict(ref, options) {
      try {
        core.evict(ref, { user, ...options });
        return { kind: 'ok' };
      } catch (error) {
        return toEvictOutcome(failureOf(error), describeCall('evicting', ref));
      }
    },
    async resolve({ group, version, kind }) {
      const info = core.resourceForKind(apiVersionOf({ group, version }), kind);
      return info === undefined ? undefined : { group, version, resource: info.resource };
    },
    async versionsOf(what) {
      return versionsIn(core, what);
    },
  };
}

/** The versions that serve a kind or resource, the preferred one first. */
export const versionsIn = (
  core: Pick<InProcessServer, 'resources'>,
  what: GroupKind | GroupResource,
): readonly string[] =>
  core
    .resources()
    .filter(
      ({ group, kind, resource }) =>
        group === what.group && ('kind' in what ? kind === what.kind : resource === what.resource),
    )
    .map(({ version }) => version);

/** As a client sends it: of an integer that keeps all its digits (`exactJson`) this server reads a double. */
const overTheWire = (manifest: KubernetesManifest): KubernetesManifest => JSON.parse(JSON.stringify(manifest));

/** Objects of the embedded server never change: what was kept of one is kept. */
const projections = new WeakMap<ObjectProjection, WeakMap<KubernetesObject, KubernetesObject>>();

function projectedOnce(project: ObjectProjection): ObjectProjection {
  const known = projections.get(project) ?? new WeakMap<KubernetesObject, KubernetesObject>();
  projections.set(project, known);
  return object => {
    const before = known.get(object);
    if (before !== undefined) return before;
    const kept = project(object);
    known.set(object, kept);
    return kept;
  };
}

/** What is not a refusal is a bug of the server and goes up as it is. */
export function failureOf(error: unknown): ReturnType<typeof toApiFailure> {
  if (!(error instanceof ApiStatusError)) throw error;
  return toApiFailure(error.status.code, error.status);
}
