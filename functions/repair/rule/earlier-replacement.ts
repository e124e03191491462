/**
 * A replacement that an earlier launch for the node has left. One in use stays, and takes the place of the node when it is unhealthy
 * again; no other one is launched beside it. One that was not needed goes before another one is launched. Pure.
 */
import type { NodeRecord } from '../node-record.ts';
import { terminationOfReplaced } from './ladder.ts';
import { isInUse, type PoolObjects, replacementStatusOf } from './replacement.ts';
import type { LadderAction, PossibleAction } from './verdict.ts';

/** The use of an earlier replacement for a node that is to be replaced. */
export type EarlierReplacement =
  /** It is in use and ready: the unhealthy NodeClaim is terminated. */
  | { readonly kind: 'ready'; readonly action: PossibleAction }
  /** It is in use and not ready, or it is to be deleted. */
  | { readonly kind: 'waits'; readonly message: string };

/** @param action the launch that would follow. @returns undefined: there is none, or its NodeClaim is gone */
export function earlierReplacement(
  { leftovers }: Pick<NodeRecord, 'leftovers'>,
  action: LadderAction,
  objects: PoolObjects,
): EarlierReplacement | undefined {
  const replacement = leftovers?.replacement;
  if (replacement === undefined) return undefined;
  const { name } = replacement;
  const status = replacementStatusOf(replacement, objects);
  if (status.kind === 'gone') return undefined;
  if (!isInUse(replacement, status))
    return { kind: 'waits', message: `NodeClaim ${name} of an earlier launch is being deleted` };
  if (status.kind !== 'ready')
    return { kind: 'waits', message: `NodeClaim ${name}, which was launched for it before, is in use and not ready` };
  const ready = { ...replacement, node: status.node.name };
  return { kind: 'ready', action: { ...terminationOfReplaced(action), replacement: ready } };
}
