/** Discovery documents: `/version`, `/api`, `/apis` and below, plain and aggregated. */
import { apiVersionOf } from '../kubernetes-object.ts';
import type { JsonObject } from '../json.ts';
import type { ResourceInfo } from '../types.ts';
import { parseAccept } from './accept.ts';
import type { ServedGroup } from './served-resources.ts';

/** The Kubernetes version whose behaviour the server follows. */
export const gitVersion = 'v1.36.3+curfew';

/** `/version`. */
export const serverVersion: JsonObject = {
  major: '1',
  minor: '36',
  gitVersion,
  gitCommit: '',
  gitTreeState: 'clean',
  buildDate: '1970-01-01T00:00:00Z',
  goVersion: '',
  compiler: '',
  platform: `${process.platform}/${process.arch === 'x64' ? 'amd64' : process.arch}`,
};

interface Subresource {
  readonly name: string;
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  readonly verbs: readonly string[];
}

function subresourceOf(resource: ResourceInfo, name: string): Subresource {
  switch (name) {
    case 'eviction':
      return { name, group: 'policy', version: 'v1', kind: 'Eviction', verbs: ['create'] };
    case 'binding':
      return { name, group: '', version: 'v1', kind: 'Binding', verbs: ['create'] };
    case 'scale':
      return { name, group: 'autoscaling', version: 'v1', kind: 'Scale', verbs: ['get', 'patch', 'update'] };
    case 'finalize':
      return { name, group: resource.group, version: resource.version, kind: resource.kind, verbs: ['update'] };
    default:
      return {
        name,
        group: resource.group,
        version: resource.version,
        kind: resource.kind,
        verbs: ['get', 'patch', 'update'],
      };
  }
}

/** `/api/v1`, `/apis/GROUP/VERSION`. */
export function resourceList(group: string, version: string, resources: readonly ResourceInfo[]): JsonObject {
  return {
    kind: 'APIResourceList',
    apiVersion: 'v1',
    groupVersion: apiVersionOf({ group, version }),
    resources: resources.flatMap(resource => [
      {
        name: resource.resource,
        singularName: resource.singular,
        namespaced: resource.namespaced,
        kind: resource.kind,
        verbs: resource.verbs,
        ...(resource.shortNames.length === 0 ? {} : { shortNames: resource.shortNames }),
        ...(resource.categories.length === 0 ? {} : { categories: resource.categories }),
      },
      ...resource.subresources.map(name => {
        const sub = subresourceOf(resource, name);
        const foreign = sub.group !== group || sub.version !== version;
        return {
          name: `${resource.resource}/${name}`,
          singularName: '',
          namespaced: resource.namespaced,
          ...(foreign ? { group: sub.group, version: sub.version } : {}),
          kind: sub.kind,
          verbs: sub.verbs,
        };
      }),
    ]),
  };
}

function groupFields({ group, versions }: ServedGroup): JsonObject {
  const entries = versions.map(({ version }) => ({ groupVersion: apiVersionOf({ group, version }), version }));
  return { name: group, versions: entries, preferredVersion: entries[0] ?? { groupVersion: '', version: '' } };
}

/** `/apis/GROUP`. */
export function groupDocument(group: ServedGroup): JsonObject {
  return { kind: 'APIGroup', apiVersion: 'v1', ...groupFields(group) };
}

/** `/apis`. */
export function groupList(groups: readonly ServedGroup[]): JsonObject {
  const named = groups.filter(({ group }) => group !== '');
  return { kind: 'APIGroupList', apiVersion: 'v1', groups: named.map(groupFields) };
}

/** `/api`. `host` is what the client called the server. */
export function coreVersions(host: string): JsonObject {
  return {
    kind: 'APIVersions',
    versions: ['v1'],
    serverAddressByClientCIDRs: [{ clientCIDR: '0.0.0.0/0', serverAddress: host }],
  };
}

function aggregatedResource(resource: ResourceInfo): JsonObject {
  const { group, version, kind } = resource;
  return {
    resource: resource.resource,
    responseKind: { group, version, kind },
    scope: resource.namespaced ? 'Namespaced' : 'Cluster',
    singularResource: resource.singular,
    verbs: resource.verbs,
    ...(resource.shortNames.length === 0 ? {} : { shortNames: resource.shortNames }),
    ...(resource.categories.length === 0 ? {} : { categories: resource.categories }),
    ...(resource.subresources.length === 0
      ? {}
      : {
          subresources: resource.subresources.map(name => {
            const sub = subresourceOf(resource, name);
            const responseKind = { group: sub.group, version: sub.version, kind: sub.kind };
            return { subresource: name, responseKind, verbs: sub.verbs };
          }),
        }),
  };
}

/** Aggregated discovery of some groups: all resources in one answer. */
export function aggregatedDiscovery(groups: readonly ServedGroup[], version: 'v2' | 'v2beta1'): JsonObject {
  return {
    kind: 'APIGroupDiscoveryList',
    apiVersion: `apidiscovery.k8s.io/${version}`,
    metadata: {},
    items: groups.map(({ group, versions }) => ({
      metadata: group === '' ? {} : { name: group },
      versions: versions.map(served => ({
        version: served.version,
        resources: served.resources.map(aggregatedResource),
        freshness: 'Current',
      })),
    })),
  };
}

/** The version of aggregated discovery that a client prefers over the plain documents, or undefined. */
export function aggregatedVersion(accept: string | undefined): 'v2' | 'v2beta1' | undefined {
  for (const { type, parameters } of parseAccept(accept)) {
    if (type !== 'application/json' && type !== '*/*') continue;
    const as = parameters.get('as');
    if (as === undefined) return undefined;
    const version = parameters.get('v');
    const known = as === 'APIGroupDiscoveryList' && parameters.get('g') === 'apidiscovery.k8s.io';
    if (known && parameters.get('profile') === undefined && (version === 'v2' || version === 'v2beta1')) return version;
  }
  return undefined;
}
