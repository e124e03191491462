/**
 * I7: what repair puts on a Node for a reboot, its cordon and `MaintenanceInProgress`, goes when the time of the reboot is over, whether it has
 * helped or not, and whoever has called the repair off in the meantime.
 */
import type { KubernetesObject } from '../../shared/domain/kubernetes-object.ts';
import { LONGEST_DELAY, type MakeCheck } from './invariant.ts';
import type { Mirror } from './mirror.ts';
import { claimOf } from './node-pool.ts';
import {
  LAST_REBOOT,
  annotationOf,
  dig,
  fieldsOf,
  listOf,
  millisecondsOf,
  nameOf,
  poolNameOf,
  textOf,
} from './reading.ts';

/** A reboot that is not accepted is given up after so long; ms. */
const ACCEPTED_WITHIN = 5 * 60_000;
/** A reboot without a timeout of its own; ms. */
const DEFAULT_TIMEOUT = 10 * 60_000;

export const checkMaintenanceLeft: MakeCheck = ({ mirror, now, quietSince, lastDenial, violate }) => {
  /** By UID of the Node: since when repair maintains it for the reboot that it says there. */
  const since = new Map<string, { readonly begin: number; readonly reboot: string | undefined }>();
  /** The longest that any reboot may take, by what any block has said. */
  let longest = DEFAULT_TIMEOUT;
  /** The longest that its pods may have before; where nothing says, as long as the reboot, or what the provider says. */
  let longestDrain = DEFAULT_TIMEOUT;
  mirror.follow((resource, uid, object) => {
    if (resource === 'nodepools' || resource === 'nodelifecyclepolicies') {
      const block = dig(object, 'spec', 'repair');
      const parts = [block, ...listOf(dig(block, 'policies')), ...listOf(dig(block, 'conditions'))];
      const timeouts = parts.flatMap(part => listOf(dig(part, 'actions'))).map(each => dig(each, 'timeout'));
      longest = Math.max(longest, ...timeouts.flatMap(timeout => millisecondsOf(timeout) ?? []));
      const bounds = parts.map(part => dig(part, 'terminationGracePeriod'));
      longestDrain = Math.max(longestDrain, ...bounds.flatMap(bound => millisecondsOf(bound) ?? []));
    }
    if (resource === 'nodeclaims')
      longestDrain = Math.max(longestDrain, millisecondsOf(dig(object, 'spec', 'terminationGracePeriod')) ?? 0);
    if (resource !== 'nodes') return;
    if (object === undefined || !isMaintained(object)) return void since.delete(uid);
    // The next reboot may follow at once, and has a time of its own.
    const reboot = annotationOf(object, LAST_REBOOT);
    const known = since.get(uid);
    if (known === undefined || known.reboot !== reboot) since.set(uid, { begin: now(), reboot });
  });
  return {
    onMinute() {
      const quiet = quietSince();
      if (quiet === undefined) return;
      for (const [uid, { begin, reboot }] of since) {
        const node = mirror.all('nodes').get(uid);
        if (node === undefined || isTerminated(node, mirror)) continue;
        const end = Math.max(
          begin + Math.max(longest, longestDrain) + ACCEPTED_WITHIN + longest,
          quiet,
          lastDenial('nodes', node.metadata),
        );
        if (now() - end <= LONGEST_DELAY) continue;
        violate('I7', `repair left its maintenance on ${nameOf(node)}, although the time of its reboot is over`);
        since.set(uid, { begin: Infinity, reboot });
      }
    },
  };
};

/** It keeps its cordon to its end; one that is left over, its NodeClaim gone, has none. */
function isTerminated(node: KubernetesObject, mirror: Mirror): boolean {
  const claim = claimOf(node, mirror);
  if (claim === undefined && poolNameOf(node) !== undefined) return true;
  return [node, claim].some(object => object?.metadata.deletionTimestamp !== undefined);
}

/** Ours by a reason that begins so. */
const isMaintained = (node: KubernetesObject): boolean =>
  listOf(dig(node, 'status', 'conditions'))
    .map(fieldsOf)
    .some(
      ({ type, status, reason }) =>
        type === 'MaintenanceInProgress' && status === 'True' && textOf(reason)?.startsWith('Curfew') === true,
    );
