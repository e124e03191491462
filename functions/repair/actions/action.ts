/** Input of an action of the ladder (`ActionContext`), and its outcome. */
import type { ActionType, AttemptOf } from '../node/attempt-record.ts';
import type { launchCapacityOf } from '../node/rule/replacement.ts';
import type { Act, RepairLeftovers } from '../node/record.ts';
import type { KubernetesObject } from '../../../shared/domain/kubernetes-object.ts';
import type { NodeClaimView } from '../../../shared/domain/node-claim.ts';
import type { NodeView } from '../../../shared/domain/node.ts';
import type { PodView } from '../../../shared/domain/pod.ts';
import type { EpochMs } from '../../../shared/domain/time.ts';
import { messageOf, RetryableError, TerminalError } from '../../../shared/errors.ts';
import type { FunctionDeps } from '../../../shared/ports/function-deps.ts';
import type { InstanceOutcome, Instances } from '../../../shared/ports/instances.ts';

export type ActionDeps = Pick<FunctionDeps, 'kubernetes' | 'bus' | 'instances' | 'clock'>;

/** Objects that an act has made, as they are recorded with its outcome. */
export type MadeObjects = Pick<RepairLeftovers, 'resources' | 'mayHaveMade' | 'replacement'>;

/** A node that was just looked at, and the attempt that its record intends. */
export interface ActionContext<Type extends ActionType = ActionType> {
  readonly deps: ActionDeps;
  readonly now: EpochMs;
  readonly attempt: AttemptOf<Type>;
  /** Objects and marks that this repair has made so far. */
  readonly leftovers: RepairLeftovers | undefined;
  /** Acts at this node that count against the allowance of this action. */
  readonly acts: readonly Act[];
  readonly node: NodeView;
  /** NodeClaim of the node; absent for a node that Karpenter does not manage. */
  readonly claim: NodeClaimView | undefined;
  readonly pool: string | undefined;
  readonly nodePool: KubernetesObject | undefined;
  /** NodeClaims of the pool, and the number of launches that were granted before in this pass. */
  readonly launchCapacity: Parameters<typeof launchCapacityOf>[0];
  /** The pods on the node; those of no interest to the action may be missing. */
  readonly pods: readonly PodView[];
  /** A message about the incident. */
  readonly message: string;
  /** Notes objects that the attempt made, to be recorded with its outcome. */
  readonly recordMade: (made: MadeObjects) => void;
}

/**
 * Outcome of an act that found an object changed since it was judged, and did nothing. The node is judged again at
 * once, as if nothing had been tried.
 */
export interface ObjectChanged {
  readonly kind: 'changed';
}

/** A replacement that is there before it is launched, of a launch that no record has: still kept for its node, or with pods on it. */
export type FoundReplacement = 'reserved' | 'inUse';

export type ActionOutcome =
  /** The act was taken. @property foundReplacement the replacement of a launch that nobody remembers */
  | { readonly kind: 'done'; readonly foundReplacement?: FoundReplacement }
  /** The act certainly was not taken, and is tried again. */
  | { readonly kind: 'notYet'; readonly on: string }
  /** The act cannot be done as things are, and the next action follows. */
  | { readonly kind: 'failed'; readonly reason: string; readonly message: string }
  | ObjectChanged;

/** An action, which throws if it is not known what happened. */
export type Action<Type extends ActionType> = (context: ActionContext<Type>) => Promise<ActionOutcome>;

export const ACTED = { kind: 'done' } as const;
export const CHANGED: ObjectChanged = { kind: 'changed' };

/** Reason of an error that does not pass within seconds: a kind is not served, a node is quarantined. */
export const NOT_PASSING = 'Lasts';

export async function callInstance(
  { deps, node }: Pick<ActionContext, 'deps' | 'node'>,
  call: (instances: Instances, providerID: string) => Promise<InstanceOutcome>,
): Promise<ActionOutcome> {
  const { providerID } = node;
  if (providerID === undefined) {
    return { kind: 'failed', reason: 'NoInstance', message: `Node ${node.name} has no providerID` };
  }
  try {
    const outcome = await call(deps.instances, providerID);
    switch (outcome.kind) {
      case 'ok':
        return ACTED;
      case 'notFound':
        return { kind: 'failed', reason: 'InstanceNotFound', message: `there is no instance ${providerID}` };
      case 'refused':
        return { kind: 'failed', reason: outcome.reason, message: outcome.message };
    }
  } catch (error) {
    if (error instanceof TerminalError) return { kind: 'failed', reason: error.reason, message: error.message };
    // An act that may have taken effect is never repeated.
    if (error instanceof RetryableError && error.outcomeUnknown) throw error;
    return notYet(error);
  }
}

/**
 * The outcome of a failed call that may be tried again: it had no effect, or may have it twice. Throws any other error.
 */
export function notYet(error: unknown): ActionOutcome {
  if (!(error instanceof RetryableError)) throw error;
  return { kind: 'notYet', on: messageOf(error) };
}
