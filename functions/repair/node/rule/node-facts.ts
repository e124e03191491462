/** Facts by which a node is judged. Types only. */
import type { RepairInForce } from './settings-in-force.ts';
import type { OwnVerdict } from './verdict.ts';
import type { EndedDrain } from '../attempt-record.ts';
import type { NodeRecord } from '../record.ts';
import type { LaunchPause } from '../../pool-record.ts';
import type { NodeClaimView } from '../../../../shared/domain/node-claim.ts';
import type { OwnerIndex } from '../../../../shared/domain/node-owner.ts';
import type { NodeView } from '../../../../shared/domain/node.ts';
import type { EpochMs } from '../../../../shared/domain/time.ts';

/** A change of a node's conditions, as the forwarder has seen it. */
export interface SeenChange {
  readonly time: EpochMs;
  /** The status of a condition changed, not its time or reason alone; undefined: nobody says. */
  readonly statusChanged?: boolean | undefined;
}

/** Events about nodes for which a pass is. */
export interface NodeEvents {
  /** The change of a node that this pass is for, by UID. */
  readonly seenChanges: ReadonlyMap<string, SeenChange>;
  /**
   * Time at which the forwarder saw the latest of these changes, for every node; undefined: the pass is not for changes
   * alone.
   */
  readonly changesTime: EpochMs | undefined;
  /** End of a drain that a repair had requested, by UID of the node. */
  readonly drainEnds: ReadonlyMap<string, EndedDrain>;
}

/** Facts of a pool by which all of its nodes are judged. */
export interface JudgeContext extends NodeEvents {
  readonly now: EpochMs;
  readonly pool: string | undefined;
  readonly repair: RepairInForce;
  readonly owners: OwnerIndex;
  readonly claims: ReadonlyMap<string, NodeClaimView>;
  /** Whether no event has named the node since the last pass; undefined: an event may have named any of them. */
  readonly isUnprompted: ((uid: string) => boolean) | undefined;
  /** Whether the custom resource of a node's attempt is there, though no run recorded that. */
  readonly isMade: (uid: string) => boolean;
  readonly nodesByName: ReadonlyMap<string, NodeView>;
  /** The NodePool is gone: a policy that selects every pool still repairs its nodes. */
  readonly isPoolGone: boolean;
  /** Pause in which the pool launches no replacement; undefined: it launches. */
  readonly launchPause: LaunchPause | undefined;
  /** Request for a node by another system, in words, by name of the node. */
  readonly externalRequests: ReadonlyMap<string, string>;
  /** Hash of the settings and NodeClaim fields. If it changes, a refused act is tried at once. */
  readonly basisOf: (claim: NodeClaimView | undefined) => string;
}

/** Facts of one node while it is judged. */
export interface NodeFacts {
  readonly context: JudgeContext;
  readonly node: NodeView;
  readonly record: NodeRecord;
  /** A repair condition was true at the last look. */
  readonly wasUnhealthy: boolean;
  /** The verdict on the node by its own state. */
  readonly own: OwnVerdict;
  readonly isUnhealthy: boolean;
  /** The gate is open, and a repair block applies to the pool. */
  readonly isOn: boolean;
}
