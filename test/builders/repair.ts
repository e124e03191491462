/** Builders for repair tests: good defaults, override what matters. */
import type { NodeClaimView } from '../../shared/domain/node-claim.ts';
import type { NodeCondition, NodeView } from '../../shared/domain/node.ts';
import type { RepairSettings } from '../../shared/domain/repair-policy.ts';
import { minutes, parseTimestamp, type DurationMs, type EpochMs } from '../../shared/domain/time.ts';
import type { RepairObservation } from '../../functions/repair/decide.ts';

/** An instant from RFC 3339 text; a test's own mistake throws. */
export function at(text: string): EpochMs {
  const instant = parseTimestamp(text);
  if (instant === undefined) throw new Error(`not a timestamp: ${text}`);
  return instant;
}

/** The instant T of the worked examples. */
export const T = at('2024-11-01T15:02:48Z');

export function aCondition(type: string, status: string, since: EpochMs = T): NodeCondition {
  return { type, status, reason: 'Test', message: '', lastTransitionTime: since };
}

export function aNode(conditions: readonly NodeCondition[], overrides: Partial<NodeView> = {}): NodeView {
  return {
    name: 'n1',
    uid: 'uid-n1',
    providerID: 'aws:///us-west-2a/i-1',
    labels: { 'karpenter.sh/nodepool': 'default' },
    annotations: {},
    conditions,
    deletionTime: undefined,
    ...overrides,
  };
}

export function aNodeClaim(overrides: Partial<NodeClaimView> = {}): NodeClaimView {
  return {
    name: 'nc1',
    uid: 'uid-nc1',
    resourceVersion: '7',
    providerID: 'aws:///us-west-2a/i-1',
    labels: { 'karpenter.sh/nodepool': 'default' },
    annotations: {},
    finalizers: ['karpenter.sh/termination'],
    deletionTime: undefined,
    ...overrides,
  };
}

export function someSettings(
  tolerations: Readonly<Record<string, DurationMs>> = {},
  overrides: Partial<RepairSettings> = {},
): RepairSettings {
  return {
    tolerations: new Map(Object.entries(tolerations)),
    defaultToleration: undefined,
    maxUnhealthy: { percent: 20 },
    ...overrides,
  };
}

/** A node due for repair, alone in its pool, with its NodeClaim. */
export function anObservation(overrides: Partial<RepairObservation> = {}): RepairObservation {
  const node = overrides.node ?? aNode([aCondition('Ready', 'False')]);
  return {
    now: (T + minutes(30)) as EpochMs,
    node,
    gateOpen: true,
    settings: someSettings(),
    observeOnly: false,
    record: undefined,
    ownsAttempt: false,
    surroundings: { nodeClaims: [aNodeClaim()], poolNodes: [node], scope: 'NodePool default' },
    terminationTimestampAnnotation: 'karpenter.sh/nodeclaim-termination-timestamp',
    ...overrides,
  };
}
