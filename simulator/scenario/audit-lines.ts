/** The decisions and reasons of audit lines by function, as `docs/observability.md` lists them. A test holds both to the code. */
import { FUNCTION_NAMES, type FunctionName } from '../../shared/contract/names.ts';

/** Among the reasons of a decision: others occur too, errors of Kubernetes and AWS, or outcomes of requests. */
const OTHERS = '…';

export const AUDIT_DECISIONS: Readonly<Record<FunctionName, Readonly<Record<string, readonly string[]>>>> = {
  repair: {
    tolerate: ['WithinToleration'],
    blocked: [
      'AmbiguousNodeClaim',
      'BeingDisrupted',
      'ClusterConcurrencyBudget',
      'ClusterFreeze',
      'ConcurrencyBudget',
      'DisruptionBudget',
      'FutileRepairs',
      'NotConfirmed',
      'RampUp',
      'ReplacementUnavailable',
      'Settling',
      'UnhealthyThreshold',
      'ZoneConcurrencyBudget',
      'ZoneOutage',
    ],
    vetoed: ['DoNotRepair'],
    repair: ['ProtectedPodsTaken', 'TolerationElapsed'],
    wouldRepair: ['TolerationElapsed'],
    refused: [
      'ActionRefused',
      'ChangeRefused',
      'InvalidConfiguration',
      'NoTemplate',
      'NotInAutoScalingGroup',
      'ReplacementUnavailable',
      OTHERS,
    ],
    release: ['ReplacementDeleted', 'ReplacementGone', 'ReplacementKept'],
    retry: ['ActionRefused'],
    settle: ['OutcomeUnknown'],
    recovered: ['Recovered'],
    exhausted: ['ActionsExhausted'],
    finishing: ['NodeClaimTerminating'],
    underWay: ['ActionUnderWay'],
    wait: ['KindNotServed', 'ReadRefused'],
    stuck: ['NodeRepairStuck'],
    close: ['NodeGone'],
    ignore: ['GateOff', 'Healthy', 'InstanceStopped', 'NoNodeClaim', 'NoTransitionTime', 'NotConfigured', 'NotInUse'],
    warn: ['HooksDoNotHold', 'NodesNotReplaced', 'ReplaceNotInForce', 'TransitionTimeDoubted'],
    refuse: ['InvalidRepairConfiguration', 'NodeLifecyclePolicyConflict', 'UnknownConditionType'],
  },
  'grace-period': {
    hold: ['AnnotationRemoved', 'PodsProtected'],
    release: ['GracePeriodElapsed', 'NothingProtected', 'ProtectedByKarpenter'],
    disown: ['AnnotationTakenOver', 'ReplacementHeld'],
    elapsed: ['DoNotDisruptGracePeriodElapsed'],
    expiring: ['DoNotDisruptGracePeriodExpiring'],
    capped: ['DoNotDisruptDurationCapped'],
    invalid: ['InvalidDoNotDisruptAnnotation'],
    until: ['DoNotDisruptUntil'],
    observed: ['DoNotDisruptObserved'],
    notOurs: ['DoNotDisruptNotHeld'],
    refused: ['NodeChangeRefused'],
    refuse: ['InvalidProtectionConfiguration', 'NodeLifecyclePolicyConflict'],
    wait: ['KindNotServed', 'ReadRefused'],
    close: ['NodeGone'],
  },
  drain: {
    take: ['DrainAsked', 'DrainJoined', 'DrainQueued'],
    begin: ['DrainStarted'],
    evict: ['Evicted'],
    delete: ['Disrupted'],
    warn: ['DrainDeletionScheduled'],
    wait: [
      'AwaitingCustomDrain',
      'AwaitingPodCompletion',
      'ChangeRefused',
      'CustomDrainNotServed',
      'DrainPodsComeBack',
      'DrainRecoveryHeld',
      'DrainStuck',
      'DrainWaits',
      'FailedDraining',
      'KindNotServed',
      'NodeChangeRefused',
      'ReadRefused',
      'WaitingBeforeForceDelete',
    ],
    hold: ['DrainHeld'],
    createResource: ['CustomDrainRequested'],
    fallBack: ['CustomDrainFellBack'],
    end: ['DrainCancelled', 'DrainFailed', 'DrainSucceeded'],
    answer: [
      'AnsweredBefore',
      'Covered',
      'CustomDrainComplete',
      'CustomDrainCompleteWithPodsLeft',
      'Drained',
      'DrainedWithPodsLeft',
      'ForeignResource',
      'ManuallyReleased',
      'NoSupportedEntity',
      'NodeGone',
      'NotQuarantined',
      'OtherCluster',
      'Recovered',
      'RenderedYamlInvalid',
      'Skipped',
      'StaleEvent',
      'Withdrawn',
      OTHERS,
    ],
    cancel: ['DrainCancelled'],
    release: ['DrainCancelled'],
    close: ['SubjectGone'],
    refuse: ['InvalidDrainConfiguration', 'NodeLifecyclePolicyConflict'],
  },
  finalizer: {
    prepare: ['FinalizerAdded', 'FinalizerRemoved'],
    hold: ['FinalizerAdded', 'FinalizerRestored'],
    terminate: ['TerminationStarted'],
    delete: ['DeletedTogether'],
    wouldTerminate: ['TerminationObserved'],
    hook: ['HookSucceeded', 'HooksDoNotHold', 'TerminationHookFailed'],
    warn: ['FinalizerWithoutRule', 'ReplaceNotInForce'],
    hookTimedOut: ['TerminationHookFailed'],
    wait: [
      'AwaitingInstanceTermination',
      'AwaitingVolumeDetachment',
      'ChangeRefused',
      'FailedDraining',
      'InstanceTerminationFailed',
      'KindNotServed',
      'NodeChangeRefused',
      'ReadRefused',
      'TerminationAwaitsSettings',
      'TerminationHookFailed',
      'Waiting',
    ],
    evict: ['Evicted'],
    forceDelete: ['Disrupted'],
    terminateInstance: ['InstanceTerminating'],
    moveDeadline: ['TerminationDeadlineMoved'],
    force: ['TerminationForced', 'TerminationHooksForced'],
    passOver: ['ConditionNotWritten', 'NodeChangeRefused'],
    release: ['FinalizationSucceeded', 'TerminationFinished', OTHERS],
    retry: ['ChangeRefused', 'FinalizationError', 'InstanceTerminationFailed', OTHERS],
    refuse: [
      'InvalidFinalizerRule',
      'InvalidTerminationConfiguration',
      'InvalidTerminationTimestamp',
      'NodeLifecyclePolicyConflict',
      OTHERS,
    ],
    overdue: ['FinalizationOverdue', 'TerminationOverdue'],
    stripped: ['FinalizerStripped'],
    orphan: ['PossibleOrphan'],
    forget: [OTHERS],
    ignore: ['NothingWaits', OTHERS],
    close: ['FinalizerGone', 'InstanceEnded', 'InstanceHeld', 'SubjectGone', OTHERS],
  },
  timer: { retry: ['WakeUpsResent'] },
};

/** What an expectation names of an audit line. */
export interface NamedDecision {
  readonly function?: string | undefined;
  readonly decision?: string | undefined;
}

/** The decisions that the named function, or any, takes. */
export const decisionsOf = (name: string | undefined): readonly string[] => [
  ...new Set(
    FUNCTION_NAMES.filter(each => name === undefined || each === name).flatMap(each =>
      Object.keys(AUDIT_DECISIONS[each]),
    ),
  ),
];

/** The functions that take the decision. */
export const functionsOf = (decision: string): readonly FunctionName[] =>
  FUNCTION_NAMES.filter(name => decision in AUDIT_DECISIONS[name]);

/** The reasons that the named decision of the named function has; `isOpen`: others as well. */
export function reasonsOf({ function: name, decision }: NamedDecision): {
  reasons: readonly string[];
  isOpen: boolean;
} {
  const found = FUNCTION_NAMES.filter(each => name === undefined || each === name).flatMap(each =>
    Object.entries(AUDIT_DECISIONS[each]).flatMap(([key, reasons]) =>
      decision === undefined || key === decision ? reasons : [],
    ),
  );
  return { reasons: [...new Set(found.filter(reason => reason !== OTHERS))], isOpen: found.includes(OTHERS) };
}
