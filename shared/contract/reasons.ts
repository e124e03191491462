/** Reasons of Kubernetes Events that Curfew records; one CamelCase word each. */
export const EVENT_REASONS = {
  /** Warning on a Node: it is due for repair, and a guard holds. */
  nodeRepairBlocked: 'NodeRepairBlocked',
  /** Normal on a Node: an unhealthy condition is tolerated until the instant in the message. */
  nodeRepairScheduled: 'NodeRepairScheduled',
  /** Warning on Node and NodeClaim: the NodeClaim is terminated forcefully. */
  nodeRepairStarted: 'NodeRepairStarted',
  /** Normal on a Node whose pool is in `Observe` mode: a repair would have begun. */
  nodeRepairObserved: 'NodeRepairObserved',
  /** Warning on a NodePool or NodeLifecyclePolicy: its repair block is not valid, its nodes are not repaired. */
  invalidRepairConfiguration: 'InvalidRepairConfiguration',
  /** Warning on a NodeLifecyclePolicy that lost against an equally specific one. */
  policyConflict: 'NodeLifecyclePolicyConflict',
  /** Warning on the ConfigMap: refused, the last good configuration stays in force. */
  invalidConfiguration: 'InvalidConfiguration',
} as const;
