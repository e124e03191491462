/**
 * What a pass finds out about one node, and what it may begin there: types, how often things are looked at, and what
 * records say of it.
 */
import type { ActionType, Attempt, DueCondition, EndedDrain, Replacement } from '../attempt-record.ts';
import type { LaunchPause, NodeRecord } from '../record.ts';
import type { NodeClaimView } from '../../../shared/domain/node-claim.ts';
import type { OwnerIndex } from '../../../shared/domain/node-owner.ts';
import type { NodeView } from '../../../shared/domain/node.ts';
import type {
  RepairAction,
  RepairLimits,
  RepairSettings,
  termsOf,
  UnhealthyMatch,
} from '../../../shared/domain/repair-policy.ts';
import { type DurationMs, type EpochMs, minutes, seconds } from '../../../shared/domain/time.ts';

/** A node with something under way is looked at this often. */
export const FOLLOW_CHECK = minutes(5);
/** A launch is looked at this often: no event tells that its instance is there, or that it has failed. */
export const LAUNCH_CHECK = seconds(30);
/** A blocked node is looked at again after this long, since no event may tell that the block has ended. */
export const BLOCKED_CHECK = minutes(5);

/** Codes in which records keep what was said of a node. Stored records have them, so they stay as they are. */
export const REPORT_CODES = {
  noTransitionTime: 'ignore',
  unclaimed: 'unclaimed',
  ambiguous: 'blocked AmbiguousNodeClaim',
  unresolved: 'settle',
} as const;

/** Which repair block is in force for a pool. */
export interface EffectiveRepair {
  /** undefined: no block applies; `invalid`: one applies that cannot be read. */
  readonly settings: RepairSettings | { readonly invalid: string } | undefined;
  readonly mode: 'Enforce' | 'Observe';
  /** Where the block stands, e.g. `NodePool default`. */
  readonly source: string | undefined;
  /** The `repairLimits` of policies; absent while no policy has any. */
  readonly limits?: RepairLimitsInForce | undefined;
}

/** What applies to the nodes of one pool. */
export interface RepairRules extends EffectiveRepair {
  readonly gateOpen: boolean;
  /** The veto of the pool itself. */
  readonly poolVeto: VetoCarrier | undefined;
}

/** What one policy says. */
export interface StatedLimits extends RepairLimits {
  /** `NodeLifecyclePolicy edge`. */
  readonly source: string;
}

/** The limits on repairs that hold for one pool. */
export interface RepairLimitsInForce {
  /**
   * The policies of the cluster that have limits, each with its generation. Between two times without any limit, and
   * between two with this one, nothing was left uncounted.
   */
  readonly basis: string;
  /** Those that bind the pool. */
  readonly binding: readonly StatedLimits[];
  /** A policy that selects the pool has limits that cannot be read: they might forbid what the others allow (I6). */
  readonly fault?: string | undefined;
}

/** An object that may carry a person's veto against the repair of a node. */
export interface VetoCarrier {
  readonly kind: 'Node' | 'NodeClaim' | 'NodePool';
  readonly name: string;
  readonly uid: string;
  /** The value of `curfew.dev/do-not-repair`; undefined: no veto. */
  readonly value: string | undefined;
}

export interface Veto {
  /** When it ends; undefined: when somebody takes it away. */
  readonly until: EpochMs | undefined;
  readonly message: string;
  /** The value says nothing that can be read; it counts nevertheless. */
  readonly invalid: boolean;
  readonly by: VetoCarrier;
}

/** Somebody else at work on the node. */
export interface OtherWork {
  /** Whose mark it is, e.g. `taint karpenter.sh/disrupted`. */
  readonly what: string;
  /** For so long after it was first seen. After that it stops the repair of its own node alone. */
  readonly inFlightFor: DurationMs;
}

/** A statement that is true, and since when. */
export interface UnhealthyStatement extends UnhealthyMatch {
  readonly key: string;
  /** undefined: its condition does not say. */
  readonly start: EpochMs | undefined;
  readonly onset: NodeRecord['onsets'][string] | undefined;
  /** What is wrong with the time that the condition states. */
  readonly doubt?: 'behind' | 'ahead' | undefined;
}

/** An action of the ladder with its time; `DrainThenTerminate` is two. */
export interface LadderAction extends Omit<RepairAction, 'type'> {
  readonly type: ActionType;
  /** Set where a drain or termination is one half of an action. */
  readonly key?: string | undefined;
}

/** One that may be taken at a node: a launch with what it takes the place of, a termination with what is ready for that. */
export type PossibleAction = LadderAction &
  (
    | { readonly type: Exclude<ActionType, 'Replace' | 'Terminate'> }
    | { readonly type: 'Replace'; readonly launch: { readonly claim: NodeName; readonly pool: string } }
    | { readonly type: 'Terminate'; readonly replacement?: Replacement }
  );

/** What the entry that decides says of a repair: what is done, and what EC2 must call impaired before (`confirm`). */
export interface EntryPolicy extends ReturnType<typeof termsOf> {
  readonly priority: number;
}

/** A node that is due, with its NodeClaim. */
export interface DueNode {
  readonly kind: 'due';
  readonly dueCondition: DueCondition;
  /** Absent for a node that Karpenter does not manage, where the block covers those. */
  readonly claim: NodeClaimView | undefined;
  /** How many statements are true. */
  readonly severity: number;
  /** Of the entry that decides: its priority, and what is done. */
  readonly entryPolicy: EntryPolicy;
  /** The actions of that entry that are possible here, in their order. */
  readonly ladder: readonly PossibleAction[];
  /** Since when any entry has been due. */
  readonly dueSince: EpochMs;
  readonly message: string;
}

/** What becomes of a node that nothing is to be done about. */
export type Undue = { readonly message: string } &
  /** Nothing to do: the incident is over, or never was one. */
  (
    | {
        readonly kind: 'ignore';
        readonly reason: 'NoTransitionTime' | 'Healthy' | 'GateOff' | 'NotConfigured' | 'InstanceStopped';
      }
    /** The repair block is not valid: no repair on a guess. */
    | { readonly kind: 'refuse' }
    /** @property doubts of clocks of the machine */
    | { readonly kind: 'tolerate'; readonly dueCondition: DueCondition; readonly doubts: readonly string[] }
    /** Due, without a NodeClaim: looked at again when one comes. */
    | { readonly kind: 'unclaimed'; readonly dueCondition: DueCondition }
    | { readonly kind: 'blocked'; readonly reason: OwnReason; readonly dueCondition: DueCondition }
    | { readonly kind: 'vetoed'; readonly dueCondition: DueCondition; readonly veto: Veto }
    /** Its NodeClaim or its instance is going away. */
    | { readonly kind: 'finishing'; readonly dueCondition: DueCondition }
  );

/** What becomes of a node by itself. */
export type NodeDecision = Undue | DueNode;

/** Why a node by itself is not due. */
type OwnReason = 'AmbiguousNodeClaim' | 'BeingDisrupted' | 'ReplacementUnavailable';

/** What a guard rests on. */
export interface GuardSetting {
  /** Where the setting stands, e.g. `NodeLifecyclePolicy limits`; undefined: where the repair block stands. */
  readonly source?: string;
  /** Dotted, from the top of the object: `spec.repair.zoneOutage`. */
  readonly field: string;
  readonly numbers: Readonly<Record<string, number | string>>;
}

/** How a node that is due stands among those of its pool. */
export interface Rank {
  /** 1: it comes first. */
  readonly place: number;
  readonly of: number;
  /** The dense rank of its priority, and its waiting. */
  readonly score: number;
}

/** Why a node that is due is not repaired now. */
export type Blocker = {
  readonly message: string;
  /** When to look again if nothing changes before. */
  readonly until: EpochMs;
} &
  /** Freeze, a zone or the threshold, whose end is followed by a ramp. */
  (
    | {
        readonly kind: 'guard';
        readonly reason: 'ClusterFreeze' | 'ZoneOutage' | 'UnhealthyThreshold';
        readonly setting: GuardSetting;
        /** As the pool's record names it. */
        readonly guard: string;
      }
    /** The same, counted with nodes that have just come back. */
    | { readonly kind: 'recovering'; readonly reason: 'Settling'; readonly setting: GuardSetting }
    | { readonly kind: 'futility'; readonly reason: 'FutileRepairs'; readonly setting: GuardSetting }
    /** What others are at cannot be read. */
    | { readonly kind: 'others'; readonly reason: 'BeingDisrupted' }
    /** The entry that decides waits for EC2. */
    | { readonly kind: 'entry'; readonly reason: 'NotConfirmed'; readonly setting: GuardSetting }
    | {
        readonly kind: 'budget';
        readonly reason:
          'ConcurrencyBudget' | 'DisruptionBudget' | 'ZoneConcurrencyBudget' | 'ClusterConcurrencyBudget';
        readonly setting: GuardSetting;
      }
    /** The record of the reservations is full. */
    | { readonly kind: 'room'; readonly reason: 'ClusterConcurrencyBudget' }
    | { readonly kind: 'ramp'; readonly reason: 'RampUp' }
  );

/** What is said of freeze, zones and thresholds. */
export type GuardBlocker = Extract<Blocker, { kind: 'guard' }>;

/** A Node, or what is remembered of one that is gone. */
export type NodeName = Pick<NodeView, 'name' | 'uid'>;

/** What is said of a node. */
export type Verdict = { readonly node: NodeName; readonly message: string } & (
  | Undue
  /** Due, and the pool does not allow it now. */
  | {
      readonly kind: 'notAllowed';
      readonly blocker: Blocker;
      readonly dueCondition: DueCondition;
      readonly rank: Rank;
    }
  /** Its act was accepted and has not ended yet. */
  | { readonly kind: 'underWay' }
  /** Everything was tried, and the node is still unhealthy. */
  | { readonly kind: 'exhausted' }
  /** What is left was refused, and is tried again. */
  | { readonly kind: 'retry' }
  /** Its termination takes longer than it may. @property claim the Node is gone, its NodeClaim is not */
  | { readonly kind: 'stuck'; readonly attempt: Attempt; readonly claim?: NodeName }
  /** Well again after an act that left the node in place. */
  | { readonly kind: 'recovered'; readonly attempt: Attempt }
  /** The attempt of another run has no known outcome yet. */
  | { readonly kind: 'unresolved' }
  | { readonly kind: 'repair'; readonly attempt: Attempt }
  /** Mode is Observe. */
  | { readonly kind: 'wouldRepair'; readonly attempt: Attempt; readonly laterActions: readonly LadderAction[] }
  | { readonly kind: 'gone' }
);

/** The node itself may be acted on, and this is the action that it is due for: the pool decides. */
export interface DueAction {
  readonly kind: 'due';
  readonly due: DueNode;
  readonly action: PossibleAction;
  /** What follows it. */
  readonly laterActions: readonly LadderAction[];
  /** An attempt that another run did not carry out, at the same action. */
  readonly unfinished: Attempt | undefined;
}

/** What a verdict, or a due action, says of its node. */
export type VerdictTrait =
  /** Among the nodes of its pool that are due and not repaired. */
  | 'held'
  /** No run is about to act on it. */
  | 'settled'
  /** The next attempt uses what an earlier one has left. */
  | 'reuses'
  /** As `Finding.state` says. */
  | 'inFlight'
  | 'followed'
  /** As `Finding.needsCleanUp` says. */
  | 'needsCleanUp';

export const VERDICT_TRAITS: Readonly<Record<(Verdict | DueAction)['kind'], readonly VerdictTrait[]>> = {
  ignore: [],
  refuse: [],
  tolerate: [],
  unclaimed: ['held'],
  blocked: ['held'],
  vetoed: ['held'],
  finishing: [],
  due: ['reuses'],
  notAllowed: ['held'],
  repair: ['reuses', 'inFlight'],
  wouldRepair: [],
  unresolved: ['inFlight'],
  underWay: ['inFlight'],
  retry: ['held', 'settled', 'reuses'],
  exhausted: ['held', 'settled'],
  stuck: ['settled', 'followed'],
  recovered: ['settled', 'needsCleanUp'],
  gone: [],
};

/** A node that may be repaired now. */
export interface Candidate extends DueAction {
  readonly finding: PresentNode;
}

/** What happened and no run has reported. */
export type News =
  /** An attempt of a run that ended without saying so: it took place, or nothing can show that it did not. */
  | { readonly kind: 'carriedOut'; readonly attempt: Attempt }
  /** The same, and the Node is gone: nothing else will report it. */
  | { readonly kind: 'lost'; readonly attempt: Attempt }
  /** Its replacement did not become ready. */
  | { readonly kind: 'failedLaunch'; readonly attempt: Attempt; readonly why: string };

/**
 * What a pass finds of a node, whether or not the Node is there. `verdict` is what is said, `state` is who is counted,
 * `needsCleanUp` whether something is undone: both follow from the verdict (`toFinding`), and an attempt or a mark may add to that.
 */
export interface Finding {
  /** As it is to be remembered; undefined: not at all. */
  readonly record: NodeRecord | undefined;
  /** What is decided of it, or that it is due and the pool decides; undefined: nothing that is to be said. */
  readonly verdict: Verdict | DueAction | undefined;
  /** When to look again; undefined: when something changes. */
  readonly time: EpochMs | undefined;
  /**
   * `inFlight`: a repair, ours or somebody else's, counts against the limits until it ends or is stuck; `followed`:
   * something is still to be followed, though nobody waits for it.
   */
  readonly state: 'idle' | 'followed' | 'inFlight';
  /** What the repair made is to be taken back. */
  readonly needsCleanUp: boolean;
  /** In the order in which it is reported. */
  readonly news: readonly News[];
}

export interface PresentNode extends Finding {
  readonly kind: 'present';
  readonly node: NodeView;
  /** When somebody else was first seen at work on it, as the pass before has recorded it. */
  readonly otherWorkTime?: EpochMs | undefined;
}

/** What is remembered of a Node that is gone. */
export interface GoneNode extends Finding {
  readonly kind: 'gone';
  readonly node: NodeName;
}

export type NodeFinding = PresentNode | GoneNode;

/** What nodes are judged by. */
export interface JudgeContext {
  readonly now: EpochMs;
  readonly pool: string | undefined;
  readonly rules: RepairRules;
  readonly owners: OwnerIndex;
  readonly claims: ReadonlyMap<string, NodeClaimView>;
  /** By UID: when the forwarder saw the change of the node that this pass is for. */
  readonly observedTimes: ReadonlyMap<string, EpochMs>;
  /** The same for every node, where the pass is for changes alone. */
  readonly changesTime: EpochMs | undefined;
  /** Whether no event has named the node since the last pass; absent: this pass treats no node so. */
  readonly isUnprompted?: ((uid: string) => boolean) | undefined;
  /** By UID: how a drain that was asked for ended. */
  readonly drainEnds: ReadonlyMap<string, EndedDrain>;
  readonly nodesByName: ReadonlyMap<string, NodeView>;
  /** Until when the pool launches no replacement; undefined: it launches. */
  readonly launchPause?: LaunchPause | undefined;
  /** What stands for a node in other systems, by its name. */
  readonly otherRequests: ReadonlyMap<string, string>;
  /** What a refused act rests on, beside its NodeClaim. */
  readonly basisOf: (claim: NodeClaimView | undefined) => string;
}

/** One node, while it is judged. */
export interface NodeFacts {
  readonly context: JudgeContext;
  readonly node: NodeView;
  readonly record: NodeRecord;
  /** A statement was true at the last look. */
  readonly wasUnhealthy: boolean;
  readonly decision: NodeDecision;
  readonly isUnhealthy: boolean;
  /** Something may be repaired. */
  readonly isOn: boolean;
}
