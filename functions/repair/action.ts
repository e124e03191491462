/** What an action of the ladder gets (`ActionContext`), and what it answers. */
import type { AttemptOf, ActionType } from './attempt-record.ts';
import type { Act, RepairLeftovers } from './node-record.ts';
import type { KubernetesObject } from '../../shared/domain/kubernetes-object.ts';
import type { NodeClaimView } from '../../shared/domain/node-claim.ts';
import type { NodeView } from '../../shared/domain/node.ts';
import type { PodView } from '../../shared/domain/pod.ts';
import type { EpochMs } from '../../shared/domain/time.ts';
import { messageOf, RetryableError, TerminalError } from '../../shared/errors.ts';
import type { FunctionDeps } from '../../shared/ports/function-deps.ts';
import type { InstanceOutcome, Instances } from '../../shared/ports/instances.ts';

export type ActionDeps = Pick<FunctionDeps, 'kubernetes' | 'bus' | 'instances' | 'clock'>;

/** What an act has made, as it is recorded with its outcome. */
export type MadeObjects = Pick<RepairLeftovers, 'resources' | 'mayHaveMade' | 'replacement'>;

/** A node that was just looked at, and the attempt that its record intends. */
export interface ActionContext<Type extends ActionType = ActionType> {
  readonly deps: ActionDeps;
  readonly now: EpochMs;
  readonly attempt: AttemptOf<Type>;
  /** What this repair has made so far. */
  readonly leftovers: RepairLeftovers | undefined;
  /** Those at this node that allowances count. */
  readonly acts: readonly Act[];
  readonly node: NodeView;
  /** Absent for a node that Karpenter does not manage. */
  readonly claim: NodeClaimView | undefined;
  readonly pool: string | undefined;
  readonly nodePool: KubernetesObject | undefined;
  /** NodeClaims of the pool, and replacements that its status does not know of yet. */
  readonly room: { readonly claims: number; readonly unknown: number };
  /** The pods on the node; those of no interest to the action may be missing. */
  readonly pods: readonly PodView[];
  /** The incident in words. */
  readonly message: string;
  /** What of the attempt is recorded with its outcome. */
  readonly recordMade: (made: MadeObjects) => void;
}

/**
 * An object is not what was judged any more, so nothing was done: it is judged again at once, as if nothing had been
 * tried.
 */
export interface Changed {
  readonly kind: 'changed';
}

export type ActOutcome =
  /** The act was taken. */
  | { readonly kind: 'done' }
  /** It certainly was not, and is tried again. */
  | { readonly kind: 'notYet'; readonly on: string }
  /** It cannot be done as things are, and the next action follows. */
  | { readonly kind: 'failed'; readonly reason: string; readonly message: string }
  | Changed;

/** Throws when it is not known what happened. */
export type Action<Type extends ActionType> = (context: ActionContext<Type>) => Promise<ActOutcome>;

export const ACTED = { kind: 'done' } as const;
export const CHANGED: Changed = { kind: 'changed' };

/** Reason of the error for what does not pass within seconds: a kind is not served, a node is quarantined. */
export const NOT_PASSING = 'Lasts';

export async function callInstance(
  { deps, node }: Pick<ActionContext, 'deps' | 'node'>,
  call: (instances: Instances, providerID: string) => Promise<InstanceOutcome>,
): Promise<ActOutcome> {
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
    // What may have taken effect is never repeated.
    if (error instanceof RetryableError && error.outcomeUnknown) throw error;
    return notYet(error);
  }
}

/** What failed may be tried again: it had no effect, or may have it twice. Throws any other error. */
export function notYet(error: unknown): ActOutcome {
  if (!(error instanceof RetryableError)) throw error;
  return { kind: 'notYet', on: messageOf(error) };
}
