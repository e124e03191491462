/** What etcd is backed up to and restored from: all that is stored, at one version. */
import type { JsonObject } from '../json.ts';
import { textAt } from '../json.ts';
import type { StoredObject } from '../kubernetes-object.ts';
import { metadataOf } from '../objects.ts';
import type { ServedResource } from '../resources/resource-rules.ts';
import type { ServerContext } from '../server-context.ts';
import { expired } from '../status-errors.ts';
import { CLUSTER } from '../store/collection.ts';
import type { Snapshot } from '../types.ts';

const keyOf = ({ info }: ServedResource): string => `${info.group}/${info.resource}`;

export function takeSnapshot({ store, registry }: ServerContext): Snapshot {
  const objects = [...registry.preferred()].map(served => [keyOf(served), served.storage.collection.list()] as const);
  return { version: store.version, objects: new Map(objects) };
}

/**
 * Goes back to the snapshot: what came since is gone, what went is back under its old UID and version, and the next write gets a version that
 * another one has had. All watches end with 410.
 */
export function restoreSnapshot({ store, registry }: ServerContext, snapshot: Snapshot): void {
  const restore = (served: ServedResource): void => {
    const { storage } = served;
    putBack(served, snapshot.objects.get(keyOf(served)) ?? []);
    storage.history.compact(snapshot.version);
    store.endWatches(storage, expired('the API server went back to a snapshot').status);
  };
  store.goBackTo(snapshot.version);
  // Objects are kept where their definition is served, so definitions come first.
  const definitions = registry.find('apiextensions.k8s.io', 'customresourcedefinitions');
  if (definitions !== undefined) restore(definitions);
  for (const served of registry.preferred()) if (served.storage !== definitions?.storage) restore(served);
  store.flush();
}

function putBack({ storage: { collection }, rules }: ServedResource, objects: readonly StoredObject[]): void {
  const places = new Set(objects.map(object => placeOf(object).join('/')));
  for (const object of collection.list()) {
    const place = placeOf(object);
    if (places.has(place.join('/'))) continue;
    collection.remove(...place);
    rules.removed?.(object);
  }
  for (const object of objects) {
    const place = placeOf(object);
    if (collection.get(...place) === object) continue;
    collection.put(...place, object);
    rules.stored?.(object);
  }
}

function placeOf(object: JsonObject): readonly [namespace: string, name: string] {
  const metadata = metadataOf(object);
  return [textAt(metadata, 'namespace') ?? CLUSTER, textAt(metadata, 'name') ?? ''];
}
