/** Reasons of Kubernetes Events that Curfew records; one CamelCase word each. */
export const EVENT_REASONS = {
  /** Warning on a Node: it is due for repair, and nothing is done; the message says why: a guard, or no action that may be taken. */
  nodeRepairBlocked: 'NodeRepairBlocked',
  /** Normal on a Node: an unhealthy condition is tolerated until the instant in the message. */
  nodeRepairScheduled: 'NodeRepairScheduled',
  /** Warning on Node and NodeClaim: an action of the repair has begun, as a rule the forceful termination of the NodeClaim. */
  nodeRepairStarted: 'NodeRepairStarted',
  /** Normal on a Node whose pool is in `Observe` mode: a repair would have begun. */
  nodeRepairObserved: 'NodeRepairObserved',
  /** Normal on a Node that is due (Warning when the value cannot be read): `curfew.dev/do-not-repair` forbids its repair. */
  nodeRepairVetoed: 'NodeRepairVetoed',
  /** Normal on a Node: it is well again after an action that left it in place. */
  nodeRepairSucceeded: 'NodeRepairSucceeded',
  /** Warning on a Node: an action of its repair could not be carried out; the message says what happens next. */
  nodeRepairActionFailed: 'NodeRepairActionFailed',
  /** Warning on a Node (gone: on its NodeClaim): its termination takes longer than it may; the message names the finalizers. */
  nodeRepairStuck: 'NodeRepairStuck',
  /** Warning on a Node: its condition states a time that cannot be right. */
  transitionTimeDoubted: 'TransitionTimeDoubted',
  /** Warning on a NodePool: no node came for some that repairs have terminated. */
  nodesNotReplaced: 'NodesNotReplaced',
  /** Warning on a Node, NodeClaim or NodePool: the value of `curfew.dev/do-not-repair` is neither `"true"` nor an instant. */
  invalidDoNotRepair: 'InvalidDoNotRepairAnnotation',
  /** Warning on a NodeLifecyclePolicy or NodePool: `repair.policies` names a condition type that nothing watches. */
  unknownConditionType: 'UnknownConditionType',
  /** Warning on a NodePool or NodeLifecyclePolicy: its repair block is not valid. What was accepted of a policy before alone repairs its nodes. */
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
  /** Warning on a Node: nothing is drained for an event that is too old; the message says how to ask again. */
  staleEvent: 'StaleEvent',
  /** Warning on a Node: somebody's own do-not-disrupt annotation stands where Curfew would hold one for protected pods. */
  protectionNotHeld: 'DoNotDisruptNotHeld',
  /** Normal on a Node: Curfew holds it no longer, no pod on it is protected. */
  nodeDisruptable: 'NodeDisruptable',
  /** Normal on a Node in `Observe` mode: it would have been held for its protected pods. */
  protectionObserved: 'DoNotDisruptObserved',
  /** Warning on a Node: a webhook or policy refuses the change of its annotations. */
  nodeChangeRefused: 'NodeChangeRefused',
  /** Warning on a FinalizerRule, a NodeLifecyclePolicy, or the custom resource of a drain whose Node is gone: a policy refuses a change of it. */
  changeRefused: 'ChangeRefused',
  /** Warning on a NodeLifecyclePolicy: its protection block is not valid. */
  invalidProtectionConfiguration: 'InvalidProtectionConfiguration',
  /** Warning on a NodeLifecyclePolicy: its drain block is not valid. */
  invalidDrainConfiguration: 'InvalidDrainConfiguration',
  /** Warning on a NodeLifecyclePolicy that lost against an equally specific one. */
  policyConflict: 'NodeLifecyclePolicyConflict',
  /** Normal on NodeClaim and Node: the termination has begun. */
  terminationStarted: 'TerminationStarted',
  /** On NodeClaim and Node: the deadline is another than was said; a Warning where it is nearer. */
  terminationDeadlineMoved: 'TerminationDeadlineMoved',
  /** Warning on NodeClaim and Node: the deadline has come: neither pods, volumes nor hooks are waited for any more. */
  terminationForced: 'TerminationForced',
  /** In audit and metrics alone, for no object is left for an Event: our finalizer is off. */
  terminationFinished: 'TerminationFinished',
  /** Normal on NodeClaim and Node in `Observe` mode: the deletion waits, Curfew would terminate. */
  terminationObserved: 'TerminationObserved',
  /** Warning on NodeClaim and Node: what the termination has to do first cannot be read, so it does not begin. */
  terminationAwaitsSettings: 'TerminationAwaitsSettings',
  /** Warning on NodeClaim and Node: Karpenter's deadline annotation is not RFC 3339 and counts as absent. */
  invalidTerminationTimestamp: 'InvalidTerminationTimestamp',
  /** Warning on a NodePool or NodeLifecyclePolicy: what it says of terminations is not valid. */
  invalidTerminationConfiguration: 'InvalidTerminationConfiguration',
  /**
   * Warning on an object that our finalizer kept: it went before its clean-up or termination was over. On a NodeClaim: it went while its
   * termination was under way, and its instance still runs. Also the reason in the audit for an instance that neither a NodeClaim nor a Node has.
   */
  possibleOrphan: 'PossibleOrphan',
  /** Warning on a NodeClaim: one of its Nodes went while its termination was under way. */
  finalizerStripped: 'FinalizerStripped',
  /** Warning on NodeClaim and Node: the termination is long past its deadline, or waits for more than a day without one. */
  terminationOverdue: 'TerminationOverdue',
  /** Normal, as Karpenter says: a pod was evicted. Of a termination on the Pod, of a drain on the Node with the names of the pods. */
  evicted: 'Evicted',
  /** Normal on a Pod, as Karpenter says: deleted by a drain or termination because of its deadline. */
  disrupted: 'Disrupted',
  /** Warning on a Node, as Karpenter says: pods are left that cannot be evicted now. On a Pod: its forced deletion is denied. */
  failedDraining: 'FailedDraining',
  /** Normal on a Node, as Karpenter says: the drain is over, volumes are still attached. */
  awaitingVolumeDetachment: 'AwaitingVolumeDetachment',
  /** Warning on NodeClaim and Node: a hook failed or ran out of time; the message says what happens next. */
  terminationHookFailed: 'TerminationHookFailed',
  /** Warning on NodeClaim and Node: the deadline has come; which hooks were called without waiting, and which were not. */
  terminationHooksForced: 'TerminationHooksForced',
  /** Warning on a policy, and on NodeClaim and Node: hooks were called that delay nothing, because Karpenter ends the instance by itself. */
  hooksDoNotHold: 'HooksDoNotHold',
  /** Warning on an object: its finalizer is that of a FinalizerRule which is gone or cannot be read, and nothing cleans up. Daily. */
  finalizerWithoutRule: 'FinalizerWithoutRule',
  /** Warning on a policy and a NodeClaim: `builtin: Replace` has not replaced Karpenter's finalizer there. */
  replaceNotInForce: 'ReplaceNotInForce',
  /** Warning on a Node or NodeClaim: the instance could not be terminated, or not even looked at; it is tried again. */
  instanceTerminationFailed: 'InstanceTerminationFailed',
  /** Normal on a Node: a drain has begun. */
  drainStarted: 'DrainStarted',
  /** Normal on a Node: all pods that the drain is about have gone. */
  drainSucceeded: 'DrainSucceeded',
  /** Warning on a Node: the message says why. */
  drainFailed: 'DrainFailed',
  /** Normal on a Node: the quarantine was taken back, or the fault is over. */
  drainCancelled: 'DrainCancelled',
  /** Warning on a Node: no configuration says how, the policy says `Observe`, or its `drain` block or the list of what keeps it quarantined cannot be read. */
  drainHeld: 'DrainHeld',
  /** Warning on a Node: it, its pods or its settings cannot be read. */
  readRefused: 'ReadRefused',
  /** Warning on a Node: a fault comes and goes, and its recovery has to last before it ends anything. */
  drainRecoveryHeld: 'DrainRecoveryHeld',
  /** Normal on a Node: as many nodes of its pool are drained as a policy allows; it is cordoned and waits. */
  drainWaits: 'DrainWaits',
  /** Warning on a Node: its drain has made no progress for hours; the message says what blocks it. */
  drainStuck: 'DrainStuck',
  /** Warning on a Node: pods come back onto it however often they are evicted. */
  drainPodsComeBack: 'DrainPodsComeBack',
  /** Warning on a Node: these pods should have gone and were not waited for. */
  drainLeftPods: 'DrainLeftPods',
  /** Warning on a Pod and on its controller: it will be deleted at the instant in the message. */
  deletionScheduled: 'DrainDeletionScheduled',
  /** Normal on a Node, as NVSentinel says: pods in mode AllowCompletion still run. */
  awaitingPodCompletion: 'AwaitingPodCompletion',
  /** Normal on a Node, as NVSentinel says: pods in mode DeleteAfterTimeout still run. */
  waitingBeforeForceDelete: 'WaitingBeforeForceDelete',
  /** Normal on a Node: the custom resource is not complete yet. Warning: it cannot be read, so nobody knows. */
  awaitingCustomDrain: 'AwaitingCustomDrain',
  /** Warning on a Node: the CustomResourceDefinition of the custom drain is missing. */
  customDrainNotServed: 'CustomDrainNotServed',
  /** Warning on a Node: the custom drain has failed, the built-in modes take over. */
  customDrainFellBack: 'CustomDrainFellBack',
  /** Warning on an object of a FinalizerRule: its clean-up failed and is tried again. */
  finalizationError: 'FinalizationError',
  /** Warning on an object of a FinalizerRule: its deadline passed, and it is kept. */
  finalizationOverdue: 'FinalizationOverdue',
  /** Warning on a FinalizerRule: it cannot be used. */
  invalidFinalizerRule: 'InvalidFinalizerRule',
  /** Warning on the ConfigMap: refused, the last good configuration stays in force. */
  invalidConfiguration: 'InvalidConfiguration',
  /** Warning on a Node or NodeClaim with something under way: the API server does not serve a kind that tells about it. */
  kindNotServed: 'KindNotServed',
} as const;
