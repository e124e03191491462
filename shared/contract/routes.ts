/**
 * The routing table: which events reach which function's inbox. Infra makes one EventBridge rule of each row; the simulation and
 * the local bus match with the same patterns. Only exact values are used, which every implementation agrees on.
 */
import { HOOK_ANSWERED, SOURCES, type FunctionName } from './names.ts';
import { detailTypeFor } from './cluster-event.ts';

export interface EventPattern {
  readonly source: readonly string[];
  readonly 'detail-type': readonly string[];
}

export interface Route {
  readonly name: string;
  readonly target: FunctionName;
  readonly pattern: EventPattern;
}

const fromForwarder = (...kinds: string[]): EventPattern => ({
  source: [SOURCES.forwarder],
  'detail-type': kinds.map(detailTypeFor),
});

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
  {
    name: 'ClusterToFinalizer',
    target: 'finalizer',
    pattern: fromForwarder(
      'Node',
      'NodeClaim',
      'NodePool',
      'NodeLifecyclePolicy',
      'Pod',
      'PodDisruptionBudget',
      'VolumeAttachment',
    ),
  },
  {
    name: 'WorkersToFinalizer',
    target: 'finalizer',
    pattern: { source: [SOURCES.worker], 'detail-type': [HOOK_ANSWERED] },
  },
];

/** The functions that are deployed: those with a row above, and the timer. */
export const DEPLOYED_FUNCTIONS: readonly FunctionName[] = ['finalizer', 'repair', 'grace-period', 'timer'];
