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
  /** Normal on a Node that is due (Warning when the value cannot be read): `curfew.dev/do-not-repair` holds its repair. */
  nodeRepairVetoed: 'NodeRepairVetoed',
  /** Normal on a Node: it is well again after an action that left it in place. */
  nodeRepairSucceeded: 'NodeRepairSucceeded',
  /** Warning on a Node, NodeClaim or NodePool: the value of `curfew.dev/do-not-repair` is neither `"true"` nor an instant. */
  invalidDoNotRepair: 'InvalidDoNotRepairAnnotation',
  /** Warning on a NodeLifecyclePolicy or NodePool: `repair.policies` names a condition type that nothing watches. */
  unknownConditionType: 'UnknownConditionType',
  /** Warning on a NodePool or NodeLifecyclePolicy: its repair block is not valid, its nodes are not repaired. */
  invalidRepairConfiguration: 'InvalidRepairConfiguration',
  /** Normal on a Pod: its do-not-disrupt protection has ended. */
  protectionElapsed: 'DoNotDisruptGracePeriodElapsed',
  /** Warning on a Pod: its protection ends soon (`protection.warnBefore`). */
  protectionExpiring: 'DoNotDisruptGracePeriodExpiring',
  /** Normal on a Pod, as Karpenter does (`compatibility: Karpenter`): protected until the instant in the message. */
  protectedUntil: 'DoNotDisruptUntil',
  /** Warning on a Pod: the annotation is neither `"true"` nor a positive Go duration. */
  invalidDoNotDisrupt: 'InvalidDoNotDisruptAnnotation',
  /** Warning on a Pod: it asks for more protection than `protection.maxDuration` grants. */
  protectionCapped: 'DoNotDisruptDurationCapped',
  /** Warning on a Node: somebody's own do-not-disrupt annotation stands where Curfew would hold one for protected pods. */
  protectionNotHeld: 'DoNotDisruptNotHeld',
  /** Normal on a Node in `Observe` mode: it would have been held for its protected pods. */
  protectionObserved: 'DoNotDisruptObserved',
  /** Warning on a Node: a webhook or policy refuses the change of its annotations. */
  nodeChangeRefused: 'NodeChangeRefused',
  /** Warning on a NodeLifecyclePolicy: its protection block is not valid. */
  invalidProtectionConfiguration: 'InvalidProtectionConfiguration',
  /** Warning on a NodeLifecyclePolicy that lost against an equally specific one. */
  policyConflict: 'NodeLifecyclePolicyConflict',
  /** Warning on the ConfigMap: refused, the last good configuration stays in force. */
  invalidConfiguration: 'InvalidConfiguration',
} as const;
