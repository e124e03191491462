/**
 * The NodeClaim that Karpenter launches a replacement for: of the NodePool's template, with the size of the unhealthy node and in its zone, capacity type
 * and architecture; closed by a taint and not to be disrupted until it is ready. The NodePool must have room for it: its limits are not
 * asked for a NodeClaim that somebody else makes. Pure.
 */
import { KARPENTER } from '../../shared/contract/names.ts';
import { isJsonObject } from '../../shared/domain/json.ts';
import type {
  JsonObject,
  JsonValue,
  KubernetesManifest,
  KubernetesObject,
} from '../../shared/domain/kubernetes-object.ts';
import { type NodeView, REPLACES_ANNOTATION, RESERVED_TAINT } from '../../shared/domain/node.ts';

/** As the unhealthy node has them. */
const KEPT_LABELS = ['topology.kubernetes.io/zone', 'karpenter.sh/capacity-type', 'kubernetes.io/arch'];

const HOSTNAME = 'kubernetes.io/hostname';

const HASHES = ['karpenter.sh/nodepool-hash', 'karpenter.sh/nodepool-hash-version'];

/** Fields of the template. */
const OF_TEMPLATE = ['nodeClassRef', 'expireAfter', 'terminationGracePeriod', 'startupTaints'] as const;

interface NewClaim {
  readonly name: string;
  readonly pool: KubernetesObject;
  /** The NodeClaim of the unhealthy node. */
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

/** What would be launched, and how many replacements the NodePool's status does not know of yet. */
interface Launching {
  readonly like: KubernetesObject;
  readonly unknown: number;
  /** NodeClaims of the pool. */
  readonly claims: number;
}

/** Why there is none; undefined: there is. */
export function roomFault(pool: KubernetesObject, { like, unknown, claims }: Launching): string | undefined {
  const { replicas } = pool.spec ?? {};
  if (typeof replicas === 'number' && claims >= replicas)
    return `NodePool ${pool.metadata.name} is static, and has its ${replicas} nodes`;
  const limits = objectIn(pool.spec, 'limits');
  const used = objectIn(pool.status, 'resources');
  const need: JsonObject = {
    ...objectIn(objectIn(like.spec, 'resources'), 'requests'),
    ...objectIn(like.status, 'capacity'),
    nodes: 1,
  };
  for (const [name, value] of Object.entries(limits)) {
    const limit = milli(value);
    const one = milli(need[name]) ?? 0n;
    if (limit === undefined) return `limit ${name} of NodePool ${pool.metadata.name} cannot be read`;
    const after = (milli(used[name]) ?? 0n) + one * BigInt(unknown + 1);
    if (after > limit)
      return `limit ${name} of NodePool ${pool.metadata.name} is ${JSON.stringify(value)}: there is no room for one more`;
  }
  return undefined;
}

/** What stands there; nothing where that is no object. */
const objectIn = (object: JsonObject | undefined, key: string): JsonObject => {
  const value = object?.[key];
  return isJsonObject(value) ? value : {};
};

const QUANTITY = /^(\d+)(?:\.(\d*))?(?:([KMGTPE]i)|([numkMGTPE])|[eE](\d{1,2}))?$/;

const POWERS: Readonly<Record<string, number>> = { n: -9, u: -6, m: -3, k: 3, M: 6, G: 9, T: 12, P: 15, E: 18 };

const BINARY = ['Ki', 'Mi', 'Gi', 'Ti', 'Pi', 'Ei'];

/** Thousandths of a quantity, rounded up; undefined: it is none. */
function milli(value: unknown): bigint | undefined {
  const match = typeof value === 'string' || typeof value === 'number' ? QUANTITY.exec(String(value)) : null;
  if (match === null) return undefined;
  const [, whole = '', fraction = '', binary, decimal, exponent] = match;
  const factor = binary === undefined ? 1n : 1024n ** BigInt(BINARY.indexOf(binary) + 1);
  const power = (decimal === undefined ? Number(exponent ?? 0) : (POWERS[decimal] ?? 0)) + 3 - fraction.length;
  const digits = BigInt(`${whole}${fraction}`) * factor;
  if (power >= 0) return digits * 10n ** BigInt(power);
  const by = 10n ** BigInt(-power);
  return (digits + by - 1n) / by;
}
