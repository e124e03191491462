/** The embedded Kubernetes API server: its verbs over an in-memory store, without I/O and without a clock of its own. */
import type { KubernetesObject } from './kubernetes-object.ts';
import { definitionRules } from './crd/definition-rules.ts';
import { DEFAULT_WATCH_HISTORY } from './defaults.ts';
import { toObject } from './objects.ts';
import { constantRandom } from './randomness.ts';
import { Lister, select } from './read/list.ts';
import { startWatch } from './read/watch.ts';
import { builtInResources } from './resources/built-in.ts';
import { Registry } from './resources/registry.ts';
import type { ServerContext } from './server-context.ts';
import { existing, inVersion, servedResource, targetOf } from './server-context.ts';
import type { JsonObject } from './json.ts';
import { notServed } from './status-errors.ts';
import { ObjectStore } from './store/object-store.ts';
import type { ApiServerCore, ApiServerOptions } from './types.ts';
import { create } from './write/create.ts';
import { deleteCollection, deleteObject, isStatus } from './write/delete.ts';
import { evict } from './write/evict.ts';
import { INITIAL_NAMESPACES } from './write/namespaces.ts';
import { patchObject } from './write/patch.ts';
import { seed } from './write/seed.ts';
import { restoreSnapshot, takeSnapshot } from './write/snapshot.ts';
import { update } from './write/update.ts';
import type { ServedResource } from './resources/resource-rules.ts';

/**
 * A server with the built-in resources and the namespaces of a new cluster. It does nothing by itself: time comes from the clock,
 * names and uids from the random source, and whatever a controller would do is left to its callers.
 */
export function createApiServer(options: ApiServerOptions): ApiServerCore {
  const { clock, random = constantRandom(), watchHistory = DEFAULT_WATCH_HISTORY } = options;
  const store = new ObjectStore(watchHistory);
  const registry = new Registry();
  const server: ServerContext = { store, registry, clock, random };
  const lister = new Lister(server);
  const warnings = new Set<string>();
  const definitions = definitionRules({ registry, store, skipped: warning => warnings.add(warning) });
  const rulesOfKind = (kind: string) => (kind === 'CustomResourceDefinition' ? definitions : {});
  for (const served of builtInResources(store, rulesOfKind)) registry.serve([served]);
  for (const name of INITIAL_NAMESPACES) {
    const namespaces = registry.find('', 'namespaces');
    if (namespaces !== undefined)
      create(server, namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata: { name } }, {});
  }

  return {
    get resourceVersion() {
      return String(store.version);
    },
    resources: () => registry.all().map(({ info }) => info),
    resource: ({ group, resource, version }) => registry.find(group, resource, version)?.info,
    resourceForKind: (apiVersion, kind) => registry.findKind(apiVersion, kind)?.info,
    get(ref) {
      const target = targetOf(server, ref);
      return view(target.served, existing(target));
    },
    list: (type, list = {}) => lister.list(servedResource(server, type), list),
    create(type, manifest, write = {}) {
      const served = servedResource(server, type);
      return view(served, create(server, served, manifest, write));
    },
    update(ref, object, write = {}) {
      const target = targetOf(server, ref);
      return view(target.served, update(server, target, object, write));
    },
    patch(ref, patch, write = {}) {
      const target = targetOf(server, ref);
      return view(target.served, patchObject(server, target, patch, write));
    },
    delete(ref, deletion = {}) {
      const target = targetOf(server, ref);
      const result = deleteObject(server, target, deletion);
      return isStatus(result) ? result : view(target.served, result);
    },
    deleteCollection(type, list = {}, deletion = {}) {
      const served = servedResource(server, type);
      const items = deleteCollection(server, served, select(served, list), deletion);
      return { resourceVersion: String(store.version), items: items.map(item => view(served, item)) };
    },
    evict(ref, deletion = {}) {
      const target = targetOf(server, ref);
      if (!target.served.info.subresources.includes('eviction')) throw notServed();
      return evict(server, target, deletion);
    },
    watch: (type, watch, deliver) => startWatch(server, servedResource(server, type), watch, deliver),
    sendBookmarks() {
      store.deliverInOrder(() => {
        for (const { storage } of registry.preferred()) {
          for (const watcher of storage.watchers) watcher.bookmark(String(store.version));
        }
      });
    },
    compact() {
      for (const { storage } of registry.preferred()) storage.history.compact(store.version);
      lister.compact();
    },
    snapshot: () => takeSnapshot(server),
    restore(snapshot) {
      lister.compact();
      restoreSnapshot(server, snapshot);
    },
    warnings: () => [...warnings],
    observe: observer => ({ stop: store.observe(observer) }),
    seed(manifest, options = {}) {
      const object = seed(server, manifest, options);
      return toObject(object);
    },
  };
}

/** An object as the request's version shows it. */
function view(served: ServedResource, object: JsonObject): KubernetesObject {
  return toObject(inVersion(object, served));
}
