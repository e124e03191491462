/** The shorthand `nodes` of a scenario: for each entry so many Nodes of a NodePool, each with its NodeClaim, named after the pool and numbered from 0. */
import type { JsonObject } from '../../shared/domain/kubernetes-object.ts';
import {
  claimStatusOf,
  DEFAULT_ZONE,
  NODE_POOL_LABEL,
  nodeOf,
  ZONE_LABEL,
  type LaunchedNode,
} from '../launched-nodes.ts';
import type { Manifest } from './scenario.ts';

export interface NodesEntry {
  readonly pool: string;
  readonly count: number;
  /** In turn; default: one zone. */
  readonly zones?: readonly string[] | undefined;
  readonly labels?: Readonly<Record<string, string>> | undefined;
}

/** Labels that other fields of an entry state. */
export const STATED_LABELS: Readonly<Record<string, keyof NodesEntry>> = {
  [NODE_POOL_LABEL]: 'pool',
  [ZONE_LABEL]: 'zones',
};

/**
 * The manifests of each entry. A pool that stands in several entries goes on with its numbers.
 *
 * @param start RFC 3339; all are as they are since then
 */
export function manifestsOfNodes(entries: readonly NodesEntry[], start: string): readonly (readonly Manifest[])[] {
  const numbers = new Map<string, number>();
  return entries.map(({ pool, count, zones = [DEFAULT_ZONE], labels = {} }) => {
    const first = numbers.get(pool) ?? 0;
    numbers.set(pool, first + count);
    return Array.from({ length: count }, (_, index) => ({
      name: `${pool}-${first + index}`,
      zone: zones[index % zones.length] ?? DEFAULT_ZONE,
      labels: { ...labels, [NODE_POOL_LABEL]: pool },
      launchTime: start,
    })).flatMap(launched => [toManifest(claimOf(launched)), toManifest(nodeOf(launched))]);
  });
}

function claimOf(launched: LaunchedNode) {
  const { name, zone, labels } = launched;
  const requirement = (key: string, value: string): JsonObject => ({ key, operator: 'In', values: [value] });
  return {
    apiVersion: 'karpenter.sh/v1',
    kind: 'NodeClaim',
    metadata: { name, labels: { ...labels, [ZONE_LABEL]: zone }, finalizers: ['karpenter.sh/termination'] },
    spec: {
      nodeClassRef: { group: 'karpenter.k8s.aws', kind: 'EC2NodeClass', name: 'default' },
      requirements: [
        requirement('kubernetes.io/arch', 'amd64'),
        requirement('karpenter.sh/capacity-type', 'on-demand'),
        requirement(ZONE_LABEL, zone),
      ],
    },
    status: claimStatusOf(launched),
  };
}

const toManifest = (body: JsonObject & NamedBody): Manifest => ({
  apiVersion: body.apiVersion,
  kind: body.kind,
  namespace: undefined,
  name: body.metadata.name,
  body,
});

interface NamedBody {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string };
}
