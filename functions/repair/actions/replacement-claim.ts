/**
 * The NodeClaim that Karpenter launches a replacement for: of the NodePool's template, with the size of the ill node and in its zone, capacity type
 * and architecture; closed by a taint and not to be disrupted until it is ready. Pure.
 */
import { KARPENTER } from '../../../shared/contract/names.ts';
import { isJsonObject } from '../../../shared/domain/json.ts';
import type {
  JsonObject,
  JsonValue,
  KubernetesManifest,
  KubernetesObject,
} from '../../../shared/domain/kubernetes-object.ts';
import { REPLACES_ANNOTATION, RESERVED_TAINT, type NodeView } from '../../../shared/domain/node.ts';
import { objectIn } from '../rule/room.ts';

/** As the ill node has them. */
const KEPT_LABELS = ['topology.kubernetes.io/zone', 'karpenter.sh/capacity-type', 'kubernetes.io/arch'];
const HOSTNAME = 'kubernetes.io/hostname';
const HASHES = ['karpenter.sh/nodepool-hash', 'karpenter.sh/nodepool-hash-version'];
/** Fields of the template. */
const OF_TEMPLATE = ['nodeClassRef', 'expireAfter', 'terminationGracePeriod', 'startupTaints'] as const;

interface NewClaim {
  readonly name: string;
  readonly pool: KubernetesObject;
  /** The NodeClaim of the ill node. */
  readonly like: KubernetesObject;
  readonly node: NodeView;
}

export function replacementClaim({ name, pool, like, node }: NewClaim): KubernetesManifest {
  const template = objectIn(pool.spec, 'template');
  const { metadata } = template;
  const spec = objectIn(template, 'spec');
  const stated = isJsonObject(metadata) ? metadata : {};
  const kept = Object.fromEntries(
    OF_TEMPLATE.flatMap(field => {
      const value = spec[field] ?? (field === 'nodeClassRef' ? like.spec?.[field] : undefined);
      return value === undefined ? [] : [[field, value]];
    }),
  );
  const hashes = Object.entries(like.metadata.annotations ?? {}).filter(([key]) => HASHES.includes(key));
  const { apiVersion, kind } = pool;
  return {
    apiVersion: like.apiVersion,
    kind: 'NodeClaim',
    metadata: {
      name,
      labels: { ...textsIn(stated, 'labels'), [KARPENTER.nodePoolLabel]: pool.metadata.name },
      annotations: {
        ...textsIn(stated, 'annotations'),
        ...Object.fromEntries(hashes),
        [KARPENTER.doNotDisruptAnnotation]: 'true',
        [REPLACES_ANNOTATION]: node.uid,
      },
      ownerReferences: [{ apiVersion, kind, name: pool.metadata.name, uid: pool.metadata.uid }],
    },
    spec: {
      ...kept,
      taints: [...listIn(spec, 'taints'), { key: RESERVED_TAINT, effect: 'NoSchedule' }],
      requirements: requirementsOf(like, node),
      ...(like.spec?.['resources'] !== undefined && { resources: like.spec['resources'] }),
    },
  };
}

function requirementsOf(like: KubernetesObject, { labels }: NodeView): readonly JsonObject[] {
  const pinned = KEPT_LABELS.flatMap((key): JsonObject[] => {
    const value = labels[key];
    return value === undefined ? [] : [{ key, operator: 'In', values: [value] }];
  });
  const keys = new Set([HOSTNAME, ...pinned.map(({ key }) => key)]);
  const others = listIn(like.spec, 'requirements').flatMap((each): JsonObject[] =>
    isJsonObject(each) && !(typeof each['key'] === 'string' && keys.has(each['key'])) ? [each] : [],
  );
  return [...others, ...pinned];
}

const listIn = (object: JsonObject | undefined, key: string): readonly JsonValue[] => {
  const value = object?.[key];
  return Array.isArray(value) ? value : [];
};

const textsIn = (object: JsonObject, key: string): Readonly<Record<string, string>> =>
  Object.fromEntries(
    Object.entries(objectIn(object, key)).flatMap(([name, value]) =>
      typeof value === 'string' ? [[name, value]] : [],
    ),
  );
