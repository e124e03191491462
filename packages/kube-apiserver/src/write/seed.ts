/** Fixtures: objects stored as they are given, without the rules of a request. */
import type { KubernetesManifest } from '../kubernetes-object.ts';
import type { JsonObject } from '../json.ts';
import { EMPTY_OBJECT, copyObject, numberAt, objectAt, textAt, withField } from '../json.ts';
import { metadataOf, withMetadata } from '../objects.ts';
import { newUid } from '../randomness.ts';
import { DEFAULT_TERMINATION_GRACE_PERIOD_SECONDS } from '../resources/kind-rules.ts';
import type { ServedResource } from '../resources/resource-rules.ts';
import type { ServerContext, Target } from '../server-context.ts';
import { inVersion, kindOf, rfc3339 } from '../server-context.ts';
import { badRequest, invalid, notServed } from '../status-errors.ts';
import { CLUSTER } from '../store/collection.ts';
import type { SeedOptions } from '../types.ts';
import { commit } from './commit.ts';
import { namespaceFor } from './decode.ts';
import { decodeMetadata } from './metadata.ts';

/**
 * Stores an object with its own uid, timestamps and status; what is missing of the metadata is filled in. An object of that name
 * is replaced, and stays the same object unless another uid is given. No admission, no validation beyond a name and a served kind, and
 * transition rules where they are to be kept; watches are told as of any write.
 * @throws ApiStatusError 400 without a name or with a field that cannot be decoded, 404 for a kind that is not served, 422
 */
export function seed(server: ServerContext, manifest: KubernetesManifest, options: SeedOptions): JsonObject {
  const served = server.registry.findKind(manifest.apiVersion, manifest.kind);
  if (served === undefined) throw notServed();
  const body = copyObject(manifest);
  const sent = decodeMetadata(body, served, {});
  const name = textAt(sent, 'name');
  if (name === undefined) throw badRequest('metadata.name is required');
  const namespace = namespaceFor(served, textAt(sent, 'namespace'), undefined);
  const target: Target = { served, namespace: namespace ?? CLUSTER, name };
  const stored = served.storage.collection.get(target.namespace, name);
  const before = stored === undefined ? undefined : inVersion(stored, served);
  const old = metadataOf(before ?? EMPTY_OBJECT);
  const now = rfc3339(server.clock.now());
  const metadata: JsonObject = {
    name,
    ...(namespace === undefined ? {} : { namespace }),
    uid: old.uid ?? newUid(server.random),
    creationTimestamp: old.creationTimestamp ?? now,
    ...(served.rules.counted ? { generation: old.generation ?? 1 } : {}),
    ...sent,
    resourceVersion: old.resourceVersion ?? '',
  };
  const after = filled(served, served.rules.clean({ ...body, metadata }, {}), now);
  if (options.keepsTransitions === true && before !== undefined && metadata.uid === old.uid) {
    const causes = served.rules.transitions?.(after, before) ?? [];
    if (causes.length > 0) throw invalid(kindOf(served), name, causes);
  }
  const seeded = commit(server, target, { before, after });
  server.store.flush();
  return seeded;
}

/** The object with what a creation fills in. Only the status is left as it was given: a pod without one is not pending. */
function filled({ rules }: ServedResource, object: JsonObject, now: string): JsonObject {
  const context = { now, options: {} };
  const prepared = rules.prepare?.({ next: object, old: undefined, subresource: undefined, context }) ?? object;
  if (rules.graceful) return withGracePeriod(withField(prepared, 'status', object.status));
  return object.status === undefined ? prepared : { ...prepared, status: object.status };
}

/** A pod that is given as terminating gets the grace period that a delete would have given it. */
function withGracePeriod(pod: JsonObject): JsonObject {
  const { deletionTimestamp, deletionGracePeriodSeconds } = metadataOf(pod);
  if (deletionTimestamp === undefined || deletionGracePeriodSeconds !== undefined) return pod;
  const seconds = numberAt(objectAt(pod, 'spec'), 'terminationGracePeriodSeconds');
  return withMetadata(pod, { deletionGracePeriodSeconds: seconds ?? DEFAULT_TERMINATION_GRACE_PERIOD_SECONDS });
}
