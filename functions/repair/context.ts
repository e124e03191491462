/** The context of a pass, and the outcome of an act. Types only. */
import type { RepairDeps } from './common/context.ts';
import type { decide } from './decide.ts';
import type { FoundReplacement, MadeObjects } from './actions/action.ts';
import type { PlannedResource } from './actions/custom-resource.ts';
import type { Attempt } from './node/attempt-record.ts';
import type { decideNode, judgeNode } from './node/decide.ts';
import type { NodeRecord } from './node/record.ts';
import type { PassRequest } from './rule/pass-requests.ts';
import type { GrantedRepair } from './rule/pool-decision.ts';
import type { PodView } from '../../shared/domain/pod.ts';
import type { RefusalCause } from '../../shared/domain/refusal.ts';
import type { Reporter } from '../../shared/lifecycle/reporter.ts';

/** The rules of the concern. Mutants put mistakes in their place. */
export interface ReplaceableRules {
  readonly decide: typeof decide;
  readonly judgeNode: typeof judgeNode;
  readonly decideNode: typeof decideNode;
}

/** Ports, rules and helpers of a pass. */
export type PassDeps = RepairDeps &
  ReplaceableRules & {
    readonly reporter: Reporter;
    /** The number of blocked or running repairs has changed; `zero`: to or from zero. */
    readonly repairsChanged: (urgency: 'count' | 'zero') => Promise<void>;
    /** Asks for a pass of another pool. */
    readonly requestPass: (pool: string | undefined, request: PassRequest) => Promise<void>;
  };

export type ActOutcome =
  /**
   * The act was taken.
   * @property pods the pods of the node, as far as they were looked up
   * @property foundReplacement the replacement of a launch that nobody remembers
   */
  | {
      readonly kind: 'accepted';
      readonly pods: readonly PodView[];
      readonly attempt: Attempt;
      readonly foundReplacement?: FoundReplacement;
    }
  /** Somebody else terminates the node forcefully by now. */
  | { readonly kind: 'overtaken' }
  /** The act is no longer wanted; nothing was done. */
  | { readonly kind: 'calledOff' }
  /** The act was certainly not carried out. */
  | ({ readonly kind: 'refused' } & Failure)
  /** Some call failed: the next pass finds out what happened. */
  | { readonly kind: 'unknown'; readonly error: unknown };

/** Reason why an act was not carried out. */
export interface Failure {
  readonly message: string;
  readonly cause: RefusalCause;
  readonly reason: string;
}

/** A granted repair, with the record that has its intent. `planned`: the custom resource that it is going to make. */
export type IntendedAct = { readonly record: NodeRecord } & (
  | { readonly granted: Exclude<GrantedRepair, { type: 'CustomResource' }> }
  | { readonly granted: GrantedRepair & { readonly type: 'CustomResource' }; readonly planned: PlannedResource }
);

/** An act of a pass, with its outcome. */
export interface ActResult {
  readonly granted: GrantedRepair;
  /** The record with the intent. */
  readonly record: NodeRecord;
  readonly made: MadeObjects;
  readonly outcome: ActOutcome;
}

/** Origin of a decision: the pool, and the object that has the repair block. */
export interface DecisionOrigin {
  readonly pool: string | undefined;
  readonly source: string | undefined;
}
