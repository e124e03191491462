/** Fixtures: objects stored as they are given, without the rules of a request. */
import type { KubernetesManifest } from '../../../shared/domain/kubernetes-object.ts';
import type { JsonObject } from '../json.ts';
import { copyObject, numberAt, objectAt, textAt } from '../json.ts';
import { metadataOf, withMetadata } from '../objects.ts';
import { newUid } from '../randomness.ts';
import { DEFAULT_TERMINATION_GRACE_PERIOD_SECONDS } from '../resources/kind-rules.ts';
import type { ServerContext, Target } from '../server-context.ts';
import { rfc3339 } from '../server-context.ts';
import { badRequest, notServed } from '../status-errors.ts';
import { CLUSTER } from '../store/collection.ts';
import { namespaceFor } from './decode.ts';
import { commit } from './commit.ts';
import { decodeMetadata } from './metadata.ts';

/**
 * Stores an object with its own uid, timestamps and status; what is missing of the metadata is filled in. An object of that name
 * is replaced. No admission, no validation beyond a name and a served kind; watches are told as of any write.
 * @throws ApiStatusError 400 without a name, 404 for a kind that is not served
 */
export function seed(server: ServerContext, manifest: KubernetesManifest): JsonObject {
  const served = server.registry.findKind(manifest.apiVersion, manifest.kind);
  if (served === undefined) throw notServed();
  const body = copyObject(manifest);
  const sent = decodeMetadata(body, served, {});
  const name = textAt(sent, 'name');
  if (name === undefined) throw badRequest('metadata.name is required');
  const namespace = namespaceFor(served, textAt(sent, 'namespace'), undefined);
  const target: Target = { served, namespace: namespace ?? CLUSTER, name };
  const before = served.storage.collection.get(target.namespace, name);
  const metadata: JsonObject = {
    name,
    ...(namespace === undefined ? {} : { namespace }),
    uid: textAt(sent, 'uid') ?? newUid(server.random),
    creationTimestamp: rfc3339(server.clock.now()),
    ...(served.rules.counted ? { generation: 1 } : {}),
    ...sent,
    resourceVersion: '',
  };
  const next = served.rules.clean({ ...body, metadata }, {});
  const filled = served.rules.graceful ? withGracePeriod(next) : next;
  const stored = commit(server, target, { before, after: filled });
  server.store.flush();
  return stored;
}

/** A pod that is given as terminating gets the grace period that a delete would have given it. */
function withGracePeriod(pod: JsonObject): JsonObject {
  const { deletionTimestamp, deletionGracePeriodSeconds } = metadataOf(pod);
  if (deletionTimestamp === undefined || deletionGracePeriodSeconds !== undefined) return pod;
  const seconds = numberAt(objectAt(pod, 'spec'), 'terminationGracePeriodSeconds');
  return withMetadata(pod, { deletionGracePeriodSeconds: seconds ?? DEFAULT_TERMINATION_GRACE_PERIOD_SECONDS });
}
