/** What a pass finds out about one node. Types only. */
import type { NodeView } from '../../../shared/domain/node.ts';
import type { EpochMs } from '../../../shared/domain/time.ts';
import type { NodeDecision } from '../decide.ts';
import type { Candidate } from './grant.ts';
import type { Basis, HoldReason } from './guards.ts';
import type { RepairAttempt } from './pool.ts';

export type Verdict = { readonly node: NodeView; readonly message: string } & (
  | {
      readonly kind: 'repair';
      readonly attempt: RepairAttempt;
      /** At the rung before; it stands again when this one is called off. */
      readonly previous?: RepairAttempt | undefined;
    }
  /** Mode is Observe. */
  | { readonly kind: 'wouldRepair'; readonly attempt: RepairAttempt }
  | { readonly kind: 'blocked'; readonly reason: HoldReason; readonly basis?: Basis | undefined }
  | { readonly kind: 'vetoed'; readonly decision: Extract<NodeDecision, { kind: 'vetoed' }> }
  /** Due, and without a NodeClaim. */
  | { readonly kind: 'unclaimed' }
  /** Its attempt was accepted and has not ended yet, or its NodeClaim is going away anyhow. */
  | { readonly kind: 'finishing' }
  /** Everything was tried, and the node is still unhealthy. */
  | { readonly kind: 'exhausted' }
  /** Well again after a rung that left the node in place. */
  | { readonly kind: 'recovered'; readonly attempt: RepairAttempt }
  /** The attempt of another run has no known outcome yet. */
  | { readonly kind: 'settle' }
  /** The act was refused, and is tried again. */
  | { readonly kind: 'retry' }
);

/** What a pass finds of one node: a verdict of its own, or a candidate for repair. */
export interface NodeLook {
  readonly verdict?: Verdict;
  readonly candidate?: Candidate;
  /** When to look again. */
  readonly time?: EpochMs;
  /** The attempt has ended, with the node well: what is left of it is taken back. */
  readonly over?: RepairAttempt;
  /** It goes on as an attempt that mode `Observe` shows: what was asked for is taken back. */
  readonly calledOff?: RepairAttempt;
  /** The attempt as it is remembered from now on. */
  readonly changed?: RepairAttempt;
  /** What is remembered of an attempt that another run did not carry out, unless it is taken over. */
  readonly place?: RepairAttempt;
}
