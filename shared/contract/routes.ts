/**
 * The routing table: which events reach which function's inbox. Infra makes one EventBridge rule of each row; the simulation and
 * the local bus match with the same patterns. Only exact values are used, which every implementation agrees on.
 */
import type { Envelope } from './envelope.ts';
import { FORWARDER_HEARTBEAT, SOURCES, type FunctionName } from './names.ts';
import { detailTypeFor } from './cluster-event.ts';

export interface EventPattern {
  readonly source: readonly string[];
  readonly 'detail-type': readonly string[];
  /** Of the cluster's own events: those of another cluster on the same bus do not match. */
  readonly detail?: { readonly cluster: readonly string[] };
}

export interface Route {
  readonly name: string;
  readonly target: FunctionName;
  /** @param cluster its name, as the forwarder writes it into `detail.cluster` */
  readonly pattern: (cluster: string) => EventPattern;
}

const fromForwarder =
  (...kinds: string[]) =>
  (cluster: string): EventPattern => ({
    source: [SOURCES.forwarder],
    'detail-type': kinds.map(detailTypeFor),
    detail: { cluster: [cluster] },
  });

/** Which heartbeats count as those of the cluster's forwarder. */
export const heartbeatPattern = (cluster: string): EventPattern => ({
  source: [SOURCES.forwarder],
  'detail-type': [FORWARDER_HEARTBEAT],
  detail: { cluster: [cluster] },
});

/** True when an event is one that the pattern asks for; says what EventBridge would. */
export function matchesPattern(
  pattern: EventPattern,
  event: Pick<Envelope, 'source' | 'detail-type' | 'detail'>,
): boolean {
  const { source, 'detail-type': detailType, detail } = pattern;
  if (!source.includes(event.source) || !detailType.includes(event['detail-type'])) return false;
  return detail === undefined || detail.cluster.some(cluster => cluster === event.detail['cluster']);
}

export const ROUTES: readonly Route[] = [
  {
    name: 'ClusterToRepair',
    target: 'repair',
    pattern: fromForwarder('Node', 'NodeClaim', 'NodePool', 'NodeLifecyclePolicy', 'ConfigMap'),
  },
  {
    name: 'ClusterToGracePeriod',
    target: 'grace-period',
    pattern: fromForwarder('Pod', 'Node', 'NodePool', 'NodeLifecyclePolicy'),
  },
];

/** The functions that are deployed: those with a row above, and the timer. */
const DEPLOYED = ['repair', 'grace-period', 'timer'] as const satisfies readonly FunctionName[];
export type DeployedFunction = (typeof DEPLOYED)[number];
export const DEPLOYED_FUNCTIONS: readonly DeployedFunction[] = DEPLOYED;
