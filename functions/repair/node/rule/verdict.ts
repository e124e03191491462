/**
 * The decision on one node, what blocks a due one, the verdict that is reported, and how often a node is looked at
 * again. Types and constants.
 */
import type { ActionType, Attempt, AttemptOf, DueCondition, Replacement } from '../attempt-record.ts';
import type { Veto } from './vetoes.ts';
import type { NodeClaimView } from '../../../../shared/domain/node-claim.ts';
import type { NodeView } from '../../../../shared/domain/node.ts';
import type { ActionOf, termsOf } from '../../../../shared/domain/repair-policy.ts';
import { type DurationMs, type EpochMs, minutes, seconds } from '../../../../shared/domain/time.ts';

/** A node that this pass leaves to the next one is looked at again after this long. */
export const AT_ONCE = seconds(1);
/** A node with something under way is looked at this often. */
export const FOLLOW_CHECK = minutes(5);
/** A launch is looked at this often: no event tells that its instance is there, or that it has failed. */
export const LAUNCH_CHECK = seconds(30);
/** A blocked node is looked at again after this long, since no event may tell that the block has ended. */
export const BLOCKED_CHECK = minutes(5);

/** Codes by which records keep what was reported of a node. Stored records have them, so they stay as they are. */
export const REPORT_CODES = {
  noTransitionTime: 'ignore',
  unclaimed: 'unclaimed',
  ambiguous: 'blocked AmbiguousNodeClaim',
  outcomeUnknown: 'settle',
} as const;

/**
 * An action of the ladder with its time. `DrainThenTerminate` is a drain and a termination, and a reboot whose pods have time is a
 * drain and the reboot.
 */
export type LadderAction =
  | ActionOf<'Reboot' | 'CustomResource' | 'Replace'>
  /** @property reboot the reboot for which the pods leave; absent: they leave for the termination */
  | (ActionOf<'Drain'> & { readonly reboot?: ActionOf<'Reboot'> })
  /** @property after the first half of the same action; absent: the termination is an action of its own */
  | (ActionOf<'Terminate'> & { readonly after?: FirstHalf });

/** The drain or the launch that a termination follows, by its key. */
type FirstHalf =
  | { readonly type: 'Drain'; readonly key: string; readonly timeout: DurationMs }
  | { readonly type: 'Replace'; readonly key: string };

/** The NodeClaim that a launch replaces. @property name that of the new NodeClaim, once the launch is due */
interface Launch {
  readonly claim: ObjectIdentity;
  readonly pool: string;
  readonly name?: string;
}

/**
 * An action that is possible at a node: a launch names the NodeClaim that it replaces, a termination its replacement.
 */
export type PossibleAction = LadderAction &
  (
    | { readonly type: Exclude<ActionType, 'Replace' | 'Terminate'> }
    | { readonly type: 'Replace'; readonly launch: Launch }
    | { readonly type: 'Terminate'; readonly replacement?: Replacement }
  );

/** An attempt, with the action that it is at. */
export type ActionAttempt = {
  readonly [Type in ActionType]: {
    readonly type: Type;
    readonly action: LadderAction & { readonly type: Type };
    readonly attempt: AttemptOf<Type>;
  };
}[ActionType];

/** The repair by the entry that decides: its actions, and which check of EC2 must fail before (`confirm`). */
export interface EntryPolicy extends ReturnType<typeof termsOf> {
  readonly priority: number;
  readonly toleration: DurationMs;
}

/** The verdict on a node that is due. */
export interface OwnDueVerdict {
  readonly kind: 'due';
  readonly dueCondition: DueCondition;
  /** NodeClaim of the node. Absent for a node that Karpenter does not manage, if the block covers those. */
  readonly claim: NodeClaimView | undefined;
  /** Number of repair conditions that are true. */
  readonly severity: number;
  /** The priority and the actions of the entry that decides. */
  readonly entryPolicy: EntryPolicy;
  /** The actions of that entry that are possible here, in their order. */
  readonly ladder: readonly PossibleAction[];
  /** Time since which any entry has been due. */
  readonly dueSince: EpochMs;
  readonly message: string;
}

/** Verdicts that start no repair. */
export type NotDue = { readonly message: string } &
  /** Nothing is to be done: the incident is over, or never was one. */
  (
    | {
        readonly kind: 'ignore';
        readonly reason: 'NoTransitionTime' | 'Healthy' | 'GateOff' | 'NotConfigured' | 'InstanceStopped' | 'NotInUse';
      }
    /** The repair block is not valid: no repair on a guess. */
    | { readonly kind: 'refuse' }
    /** Unhealthy, and not due yet. @property clockSkews what is wrong with the clocks of the machine, in words */
    | { readonly kind: 'tolerate'; readonly dueCondition: DueCondition; readonly clockSkews: readonly string[] }
    /** Due, without a NodeClaim: looked at again when one comes. */
    | { readonly kind: 'unclaimed'; readonly dueCondition: DueCondition }
    /** Due, and something about the node itself forbids a repair now. */
    | { readonly kind: 'blockedByNode'; readonly reason: OwnReason; readonly dueCondition: DueCondition }
    | { readonly kind: 'vetoed'; readonly dueCondition: DueCondition; readonly veto: Veto }
    /** NodeClaim or instance of the node is going away. */
    | { readonly kind: 'finishing'; readonly dueCondition: DueCondition }
  );

/** The verdict on a node by its own state, before an action is chosen and its pool decides. */
export type OwnVerdict = NotDue | OwnDueVerdict;

/** Reason why a node is blocked by itself, whatever its pool allows. */
type OwnReason = 'AmbiguousNodeClaim' | 'BeingDisrupted' | 'ReplacementUnavailable';

/** Setting that a guard rests on, with the numbers. */
export interface GuardSetting {
  /** Object that has the setting, e.g. `NodeLifecyclePolicy limits`; undefined: the one that has the repair block. */
  readonly source?: string;
  /** Dotted, from the top of the object: `spec.repair.zoneOutage`. */
  readonly field: string;
  readonly numbers: Readonly<Record<string, number | string>>;
}

/** Rank of a due node among those of its pool. */
export interface Rank {
  /** Number in the order of repairs; 1 comes first. */
  readonly order: number;
  readonly of: number;
  /** Dense rank of its priority, plus one for each half hour that it has been due. */
  readonly score: number;
}

/** Reason why a due node is not repaired now. */
export type Blocker = {
  readonly message: string;
  /** Time of the next look if nothing changes before. */
  readonly until: EpochMs;
} &
  /** Freeze, a zone or the threshold, whose end is followed by a ramp. */
  (
    | {
        readonly kind: 'guard';
        readonly reason: 'ClusterFreeze' | 'ZoneOutage' | 'UnhealthyThreshold';
        readonly setting: GuardSetting;
        /** Name of the guard in the pool's record. */
        readonly guard: string;
      }
    /** Freeze, a zone or the threshold, counted with nodes that have just come back. */
    | { readonly kind: 'recovering'; readonly reason: 'Settling'; readonly setting: GuardSetting }
    | { readonly kind: 'futility'; readonly reason: 'FutileRepairs'; readonly setting: GuardSetting }
    /** The work of other controllers on the node cannot be read. */
    | { readonly kind: 'others'; readonly reason: 'BeingDisrupted' }
    /** The entry that decides waits for EC2 to confirm the fault. */
    | { readonly kind: 'entry'; readonly reason: 'NotConfirmed'; readonly setting: GuardSetting }
    | {
        readonly kind: 'budget';
        readonly reason:
          'ConcurrencyBudget' | 'DisruptionBudget' | 'ZoneConcurrencyBudget' | 'ClusterConcurrencyBudget';
        readonly setting: GuardSetting;
      }
    /** The record of the reservations is full. */
    | { readonly kind: 'reservations'; readonly reason: 'ClusterConcurrencyBudget' }
    | { readonly kind: 'ramp'; readonly reason: 'RampUp' }
  );

/** A blocker of freeze, zone or threshold. */
export type GuardBlocker = Extract<Blocker, { kind: 'guard' }>;

/** Name and UID of a Node or a NodeClaim that is there, or was. */
export type ObjectIdentity = Pick<NodeView, 'name' | 'uid'>;

/** Act that a node needs, or the reason why it needs none. */
export type Verdict = { readonly node: ObjectIdentity; readonly message: string } & (
  | NotDue
  | (OwnDueVerdict & {
      readonly action: PossibleAction;
      /** Actions that follow it. */
      readonly laterActions: readonly LadderAction[];
      /** An attempt that another run did not carry out, at the same action. */
      readonly unfinished: Attempt | undefined;
    })
  /** Due, and its pool does not allow a repair now. */
  | {
      readonly kind: 'blockedByPool';
      readonly blocker: Blocker;
      readonly dueCondition: DueCondition;
      readonly rank: Rank;
    }
  /** The act on the node was accepted and has not ended yet. */
  | { readonly kind: 'underWay' }
  /** Everything was tried, and the node is still unhealthy. */
  | { readonly kind: 'exhausted' }
  /** The actions that are left were refused, and are tried again. */
  | { readonly kind: 'retry' }
  /** The termination takes longer than it may. */
  | { readonly kind: 'stuck'; readonly attempt: Attempt }
  /** The termination takes longer than it may: the Node is gone, and its NodeClaim is not. */
  | { readonly kind: 'stuckWithoutNode'; readonly attempt: Attempt; readonly claim: ObjectIdentity }
  /** Well again after an act that left the node in place. */
  | { readonly kind: 'recovered'; readonly attempt: Attempt }
  /** The attempt of another run has no known outcome yet. */
  | { readonly kind: 'outcomeUnknown' }
  | { readonly kind: 'repair'; readonly attempt: Attempt }
  /** Due, and not repaired because the mode is `Observe`. */
  | { readonly kind: 'wouldRepair'; readonly attempt: Attempt; readonly laterActions: readonly LadderAction[] }
  | { readonly kind: 'gone' }
);

/** The verdict on a node that is due for an action: the pool has yet to decide. */
export type DueVerdict = Extract<Verdict, { kind: 'due' }>;

/** The verdict as it is reported: of a node that is due only once the pool has decided. */
export type ReportedVerdict = Exclude<Verdict, DueVerdict>;

export type VerdictTrait =
  /** The node counts among those of its pool that are due and not repaired. */
  | 'blocked'
  /** No run has an act under way on the node, so no outcome is waited for. */
  | 'awaitsNoRun'
  /** The next attempt uses what an earlier one has left. */
  | 'reuses'
  /** `FindingWithState.state` follows from this trait. */
  | 'inFlight'
  | 'followed'
  /** `FindingWithState.needsCleanUp` follows from this trait. */
  | 'needsCleanUp';

export const VERDICT_TRAITS: Readonly<Record<Verdict['kind'], readonly VerdictTrait[]>> = {
  ignore: [],
  refuse: [],
  tolerate: [],
  unclaimed: ['blocked'],
  blockedByNode: ['blocked'],
  vetoed: ['blocked'],
  finishing: [],
  due: ['reuses'],
  blockedByPool: ['blocked'],
  repair: ['reuses', 'inFlight'],
  wouldRepair: [],
  outcomeUnknown: ['inFlight'],
  underWay: ['inFlight'],
  retry: ['blocked', 'awaitsNoRun', 'reuses'],
  exhausted: ['blocked', 'awaitsNoRun'],
  stuck: ['awaitsNoRun', 'followed'],
  stuckWithoutNode: ['awaitsNoRun', 'followed'],
  recovered: ['awaitsNoRun', 'needsCleanUp'],
  gone: [],
};
