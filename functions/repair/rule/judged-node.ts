/** What nodes are judged by, and what is known of one while it is judged. Types. */
import type { NodeClaimView } from '../../../shared/domain/node-claim.ts';
import type { OwnerIndex } from '../../../shared/domain/node-owner.ts';
import type { NodeView } from '../../../shared/domain/node.ts';
import type { EpochMs } from '../../../shared/domain/time.ts';
import type { Ill } from './illness.ts';
import type { Rung } from './ladder.ts';
import type { NodeDecision, RepairRules } from './node-verdict.ts';
import type { Attempt, NodeRecord } from './record.ts';
import type { NodeLook } from './verdict.ts';

/** What nodes are judged by. */
export interface LookContext {
  readonly now: EpochMs;
  readonly pool: string | undefined;
  readonly rules: RepairRules;
  readonly owners: OwnerIndex;
  readonly claims: ReadonlyMap<string, NodeClaimView>;
  /** By UID: when the forwarder saw the change of the node that this pass is for. */
  readonly observedTimes: ReadonlyMap<string, EpochMs>;
  /** The same for every node, where the pass is for changes alone. */
  readonly changesTime: EpochMs | undefined;
  /** By UID: how a drain that was asked for ended. */
  readonly drainEnds: ReadonlyMap<
    string,
    { readonly requestId: string; readonly answer: NonNullable<Attempt['answer']> }
  >;
  readonly nodesByName: ReadonlyMap<string, NodeView>;
  /** When the pool launches replacements again; undefined: now. */
  readonly launchesFrom?: EpochMs | undefined;
  /** What stands for a node in other systems, by its name. */
  readonly asked: ReadonlyMap<string, string>;
  /** What a refused act rests on, beside its NodeClaim. */
  readonly basisOf: (claim: NodeClaimView | undefined) => string;
}

export interface JudgedNode {
  readonly context: LookContext;
  readonly node: NodeView;
  readonly record: NodeRecord;
  readonly held: NodeRecord | undefined;
  readonly decision: NodeDecision;
  readonly ills: readonly Ill[];
  readonly isIll: boolean;
  readonly isOn: boolean;
  /** Of the entry that decides now. */
  readonly rungs: readonly Rung[];
  /** Of every entry. */
  readonly allRungs: readonly Rung[];
}

export type LookResult = Omit<NodeLook, 'node' | 'view'>;

/** Nothing of it is under way, and nothing is to be said. */
export const QUIET = { verdict: undefined, time: undefined, state: 'quiet', takesBack: false, unsaid: [] } as const;
/** Its repair is under way. */
export const IN_FLIGHT = { ...QUIET, state: 'inFlight' } as const;
