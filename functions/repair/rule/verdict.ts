/** What a pass finds out about one node, and what it may begin there. Types only. */
import type { NodeView } from '../../../shared/domain/node.ts';
import type { EpochMs } from '../../../shared/domain/time.ts';
import type { Rung } from './ladder.ts';
import type { DueNode, NodeDecision } from './node-verdict.ts';
import type { Attempt, NodeRecord, RepairIncident, Replacement } from './record.ts';

export type BlockedReason =
  | 'ClusterFreeze'
  | 'ZoneOutage'
  | 'UnhealthyThreshold'
  | 'Settling'
  | 'FutileRepairs'
  | 'ConcurrencyBudget'
  | 'DisruptionBudget'
  | 'ZoneConcurrencyBudget'
  | 'ClusterConcurrencyBudget'
  | 'RampUp'
  | 'AmbiguousNodeClaim'
  | 'BeingDisrupted'
  | 'NotConfirmed'
  | 'ReplacementUnavailable';

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

export interface Blocker {
  readonly reason: BlockedReason;
  readonly message: string;
  /** The setting that holds, and the numbers that it met; absent: no setting does. */
  readonly setting?: GuardSetting;
  /** When to look again if nothing changes before. */
  readonly until: EpochMs;
  /** Set for freeze, zone and threshold, whose end is followed by a ramp. */
  readonly guard?: string;
}

/** A Node, or what is remembered of one that is gone. */
export type NodeName = Pick<NodeView, 'name' | 'uid'>;

export type Verdict = { readonly node: NodeName; readonly message: string } & (
  | { readonly kind: 'tolerate'; readonly incident: RepairIncident; readonly doubts: readonly string[] }
  | {
      readonly kind: 'ignore';
      readonly reason: 'NoTransitionTime' | 'Healthy' | 'GateOff' | 'NotConfigured' | 'InstanceStopped';
    }
  | { readonly kind: 'refuse' }
  | {
      readonly kind: 'blocked';
      readonly reason: BlockedReason;
      readonly incident: RepairIncident;
      readonly setting?: GuardSetting | undefined;
      readonly rank?: Rank | undefined;
    }
  | { readonly kind: 'vetoed'; readonly decision: Extract<NodeDecision, { kind: 'vetoed' }> }
  /** Due, without a NodeClaim. */
  | { readonly kind: 'unclaimed'; readonly incident: RepairIncident }
  /** Its act was accepted and has not ended yet. */
  | { readonly kind: 'underWay' }
  /** Its NodeClaim or its instance is going away. */
  | { readonly kind: 'finishing' }
  /** Everything was tried, and the node is still unhealthy. */
  | { readonly kind: 'exhausted' }
  /** What is left was refused, and is tried again. */
  | { readonly kind: 'retry' }
  /** Its termination takes longer than it may. @param claim the Node is gone, its NodeClaim is not */
  | { readonly kind: 'stuck'; readonly attempt: Attempt; readonly claim?: NodeName | undefined }
  /** Well again after an act that left the node in place. */
  | { readonly kind: 'recovered'; readonly attempt: Attempt }
  /** The attempt of another run has no known outcome yet. */
  | { readonly kind: 'settle' }
  | { readonly kind: 'repair'; readonly attempt: Attempt }
  /** Mode is Observe. */
  | { readonly kind: 'wouldRepair'; readonly attempt: Attempt; readonly rest: readonly Rung[] }
  | { readonly kind: 'gone' }
);

/** The action that a node is due for. */
interface NextAction {
  readonly rung: Rung;
  /** The list that it is of. */
  readonly rungs: readonly Rung[];
  /** What follows it. */
  readonly rest: readonly Rung[];
  /** An attempt that another run did not carry out, at the same action. */
  readonly stale: Attempt | undefined;
  /** It is ready, and opened before the node goes. */
  readonly replacement?: Replacement | undefined;
}

/** A node that is due, and whose turn it is. */
export interface Candidate extends NextAction {
  readonly look: NodeLook & { readonly view: NodeView };
  readonly due: DueNode;
}

/** Nothing is against acting on it, as far as the node itself goes: the pool decides. */
export interface DueTurn extends NextAction {
  readonly kind: 'due';
  readonly decision: DueNode;
}

/** What happened and no run has said. */
export type Unsaid =
  /** An attempt of a run that ended without saying so: it took place, or nothing can show that it did not. */
  | { readonly kind: 'carriedOut'; readonly attempt: Attempt }
  /** The same, and the Node is gone: nothing else will say it. */
  | { readonly kind: 'lost'; readonly attempt: Attempt }
  /** Its replacement did not become ready. */
  | { readonly kind: 'failedLaunch'; readonly attempt: Attempt; readonly why: string };

/** What a pass finds of one node. */
export interface NodeLook {
  readonly node: NodeName;
  /** undefined: the Node is gone. */
  readonly view: NodeView | undefined;
  /** As it is to be remembered; undefined: not at all. */
  readonly record: NodeRecord | undefined;
  /** What is decided of it, or that it is due and the pool decides; undefined: nothing that is to be said. */
  readonly verdict: Verdict | DueTurn | undefined;
  /** When to look again; undefined: when something changes. */
  readonly time: EpochMs | undefined;
  /**
   * `inFlight`: a repair, ours or somebody else's, counts against the limits until it ends or is stuck; `followed`: something is still to be
   * followed, though it holds nobody.
   */
  readonly state: 'quiet' | 'followed' | 'inFlight';
  /** What the repair made is to be taken back. */
  readonly takesBack: boolean;
  /** In the order in which it is said. */
  readonly unsaid: readonly Unsaid[];
}

/** Whether a limit lets one more repair begin. */
export interface Gate {
  /** undefined: it may begin, and takes its place. */
  take(node: Spot): Blocker | undefined;
}

export type Spot = Pick<NodeView, 'uid' | 'labels'>;
