/**
 * A replacement that an earlier launch for the node has left. One in use stays, and takes the place of the node when it is unhealthy
 * again; no other one is launched beside it. One that was not needed goes before another one is launched. After a restore of
 * etcd or the loss of the table, no record knows it, and its NodeClaim alone shows it. Pure.
 */
import type { NodeRecord } from '../record.ts';
import type { StoredNode } from '../../record.ts';
import { newNode } from './attempt.ts';
import { keyOf, terminationOfReplaced } from './ladder.ts';
import { isInUse, type PoolObjects, replacementName, replacementStatusOf } from './replacement.ts';
import type { LadderAction, PossibleAction } from './verdict.ts';
import { type NodeClaimView, replacedNode } from '../../../../shared/domain/node-claim.ts';
import type { NodeView } from '../../../../shared/domain/node.ts';

/** The use of an earlier replacement for a node that is to be replaced. */
export type EarlierReplacement =
  /** It is in use and ready: the unhealthy NodeClaim is terminated. */
  | { readonly kind: 'ready'; readonly isInUse: true; readonly action: PossibleAction }
  /** It is in use and not ready, or it is to be deleted. */
  | { readonly kind: 'waits'; readonly isInUse: boolean; readonly message: string };

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
    return { kind: 'waits', isInUse: false, message: `NodeClaim ${name} of an earlier launch is being deleted` };
  if (status.kind !== 'ready')
    return {
      kind: 'waits',
      isInUse: true,
      message: `NodeClaim ${name}, which was launched for it before, is in use and not ready`,
    };
  const ready = { ...replacement, node: status.node.name };
  return { kind: 'ready', isInUse: true, action: { ...terminationOfReplaced(keyOf(action)), replacement: ready } };
}

/**
 * The records with the replacements that only their NodeClaims show. The record of a node that is gone has its UID for a
 * name. Where a launch for the node may follow, it takes the replacement over.
 * @param nodes the nodes of the pool
 * @param existsElsewhere whether a node that is not of the pool is in the cluster
 * @param mayLaunch whether a launch for this node may follow
 */
export function withShownReplacements(
  records: ReadonlyMap<string, StoredNode>,
  claims: readonly NodeClaimView[],
  {
    pool,
    nodes,
    existsElsewhere,
    mayLaunch,
  }: {
    readonly pool: string | undefined;
    readonly nodes: readonly NodeView[];
    readonly existsElsewhere: (uid: string) => boolean;
    readonly mayLaunch: (node: NodeView) => boolean;
  },
): ReadonlyMap<string, StoredNode> {
  const shown = claims.flatMap((claim): readonly (readonly [string, StoredNode])[] => {
    const uid = replacedNode(claim);
    if (uid === undefined) return [];
    const node = nodes.find(each => each.uid === uid);
    const record = records.get(uid)?.value ?? newNode(node?.name ?? uid, pool);
    const isKnown = record.leftovers?.replacement !== undefined || record.pool !== pool;
    const isLeftAlone = node === undefined ? existsElsewhere(uid) : mayLaunch(node);
    if (isKnown || isLeftAlone) return [];
    const replacement = { name: claim.name, uid: claim.uid };
    return [[uid, { value: { ...record, leftovers: { ...record.leftovers, replacement } }, needsRewrite: true }]];
  });
  return new Map<string, StoredNode>([...records, ...shown]);
}

/**
 * The name of the NodeClaim of a launch: of the one that is marked as the replacement of the node and that no record knows,
 * else the first one that is free.
 */
export function nameOfLaunch(
  { claim, pool }: Extract<PossibleAction, { type: 'Replace' }>['launch'],
  { launched = 0 }: Pick<NodeRecord, 'launched'>,
  { node, claims }: { readonly node: Pick<NodeView, 'uid'>; readonly claims: PoolObjects['claims'] },
): string {
  const all = [...claims.values()];
  const marked = all.find(each => replacedNode(each) === node.uid);
  if (marked !== undefined) return marked.name;
  const taken = new Set(all.map(({ name }) => name));
  for (let number = launched + 1; ; number += 1) {
    const name = replacementName(pool, claim.uid, number);
    if (!taken.has(name)) return name;
  }
}
