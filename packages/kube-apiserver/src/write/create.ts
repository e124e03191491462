/** Creation: names, namespaces, server-owned metadata, defaults and validation. */
import type { KubernetesManifest } from '../kubernetes-object.ts';
import { trackCreate } from '../apply/tracking.ts';
import { admitMutating } from '../admission/mutating.ts';
import { admitValidating } from '../admission/validating.ts';
import type { JsonObject } from '../json.ts';
import { EMPTY_OBJECT, copyObject, textAt, withField, without } from '../json.ts';
import { metadataOf, nameOf, namespaceOf } from '../objects.ts';
import { generateName, newUid } from '../randomness.ts';
import type { ServedResource } from '../resources/resource-rules.ts';
import type { ServerContext, Target } from '../server-context.ts';
import { kindOf, resourceOf, rfc3339 } from '../server-context.ts';
import { alreadyExists, invalid, methodNotAllowed, serverRefused } from '../status-errors.ts';
import type { WriteOptions } from '../types.ts';
import { commit, finish } from './commit.ts';
import { decodeBody, namespaceFor } from './decode.ts';
import { complainAboutNewMetadata } from './metadata-validation.ts';
import { decodeMetadata } from './metadata.ts';
import { checkNamespaceAcceptsContent } from './namespaces.ts';

type CreateOptions = WriteOptions & { readonly namespace?: string };

/** @throws ApiStatusError 400, 403, 404, 405, 409, 422 as kube-apiserver would */
export function create(
  server: ServerContext,
  served: ServedResource,
  manifest: KubernetesManifest,
  options: CreateOptions,
): JsonObject {
  const body = decodeBody(served, copyObject(manifest));
  const stored = createObject(server, served, { body, options });
  const target: Target = { served, namespace: namespaceOf(stored), name: nameOf(stored) };
  finish(server, target, { verb: 'create', options, body: manifest }, { before: undefined, after: stored });
  return stored;
}

/** What to create. `tracked` when `managedFields` are set already (server-side apply). */
export interface Creation {
  readonly body: JsonObject;
  readonly options: CreateOptions;
  readonly tracked?: true;
}

/** Creates an object and leaves it to the caller to report the request. */
export function createObject(server: ServerContext, served: ServedResource, creation: Creation): JsonObject {
  const { options } = creation;
  const { rules, info } = served;
  if (rules.refusesCreate !== undefined) throw methodNotAllowed(resourceOf(served), rules.refusesCreate);
  const now = rfc3339(server.clock.now());
  const draft = withServerMetadata(server, served, creation, now);
  const kept = info.hasStatus && !rules.keepsStatusOnCreate ? without(draft, 'status') : draft;
  const cleaned = rules.clean(kept, options);
  const transition = { old: undefined, subresource: undefined, context: { now, options } };
  const prepared = rules.prepare?.({ ...transition, next: cleaned }) ?? cleaned;
  const target: Target = { served, namespace: namespaceOf(prepared), name: nameOf(prepared) };
  if (info.namespaced) checkNamespaceAcceptsContent(server, target);
  // Who creates is the manager of what was sent, not of what policies add.
  const tracked = creation.tracked ? prepared : trackCreate(served, prepared, options, now);
  const admission = { target, operation: 'CREATE', subresource: undefined, oldObject: undefined, options } as const;
  const mutated = admitMutating(server, { ...admission, object: tracked });
  const next = mutated === tracked ? tracked : decodedAgain(served, mutated);
  const causes = [
    ...complainAboutNewMetadata(metadataOf(next), served),
    ...(rules.validate?.({ ...transition, next }) ?? []),
  ];
  if (causes.length > 0) throw invalid(kindOf(served), target.name, causes);
  admitValidating(server, { ...admission, object: next });
  const present = served.storage.collection.get(target.namespace, target.name);
  if (present !== undefined) {
    const isDeleted = metadataOf(present).deletionTimestamp !== undefined;
    throw alreadyExists(resourceOf(served), target.name, isDeleted ? 'object is being deleted: ' : '');
  }
  return commit(server, target, { before: undefined, after: next }, options.dryRun);
}

/** What policies made of a new object, with known fields only and defaults in what they added. */
function decodedAgain(served: ServedResource, mutated: JsonObject): JsonObject {
  const metadata = { ...decodeMetadata(mutated, served, { fieldValidation: 'Ignore' }), resourceVersion: '' };
  return served.rules.clean({ ...mutated, metadata }, { fieldValidation: 'Ignore' });
}

/** Fields of ObjectMeta that a creation decides itself. */
const DECIDED = ['name', 'namespace', 'deletionTimestamp', 'deletionGracePeriodSeconds', 'managedFields'];

function withServerMetadata(
  server: ServerContext,
  served: ServedResource,
  { body, options, tracked }: Creation,
  now: string,
): JsonObject {
  const sent = decodeMetadata(body, served, options);
  if (sent.resourceVersion !== undefined) {
    throw serverRefused('resourceVersion should not be set on objects to be created');
  }
  const prefix = textAt(sent, 'generateName');
  const name = textAt(sent, 'name') ?? (prefix === undefined ? undefined : generateName(prefix, server.random));
  const namespace = namespaceFor(served, textAt(sent, 'namespace'), options.namespace);
  const metadata: JsonObject = {
    ...(name === undefined ? EMPTY_OBJECT : { name }),
    ...(namespace === undefined ? EMPTY_OBJECT : { namespace }),
    ...without(sent, ...DECIDED),
    uid: newUid(server.random),
    resourceVersion: '',
    creationTimestamp: now,
    ...(served.rules.counted ? { generation: 1 } : EMPTY_OBJECT),
  };
  return { ...body, metadata: tracked ? withField(metadata, 'managedFields', sent.managedFields) : metadata };
}
