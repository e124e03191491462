/**
 * I3: what a guard that counts had held begins again slowly, however the hold ended and whatever was switched off in between: of a pool
 * one repair in the first minute, two in the next, then four … Told by what Curfew says that it holds, and by when it acts on that.
 */
import type { MakeCheck } from './invariant.ts';
import { actOf } from './ladder-acts.ts';
import { isVetoed } from './repair-census.ts';
import { poolOf } from './node-pool.ts';
import { isUnhealthy } from './unhealthy-conditions.ts';

const STEP = 60_000;
/** From a decision to the last of its calls; a run takes no longer. */
const SLACK = 30_000;

/** Reasons of audit lines. */
const HOLDS: readonly string[] = ['ZoneOutage', 'ClusterFreeze', 'UnhealthyThreshold'];

interface Release {
  readonly since: number;
  readonly nodes: Set<string>;
}

export const checkRamp: MakeCheck = ({ mirror, now, quietSince, violate }) => {
  /** By UID of the node that was due and held: its pool, and why it was held last. */
  const held = new Map<string, { readonly pool: string; readonly reason: string; readonly time: number }>();
  /** By pool: what was repaired since the hold. */
  const releases = new Map<string, Release>();
  mirror.follow((resource, uid, object) => {
    if (resource !== 'nodes') return;
    if (object === undefined || !isUnhealthy(object) || isVetoed(object, mirror, now())) held.delete(uid);
  });
  return {
    onAudit({ function: by, decision, reason, kind, name, uid }) {
      if (by !== 'repair' || kind !== 'Node' || decision !== 'blocked' || !HOLDS.includes(reason)) return;
      const node = uid === undefined ? mirror.named('nodes', name) : mirror.all('nodes').get(uid);
      if (node === undefined) return;
      const pool = poolOf(node, mirror) ?? '';
      releases.delete(pool);
      held.set(node.metadata.uid, { pool, reason, time: now() });
    },
    onCall(call, run) {
      const act = run.by === 'repair' ? actOf(call, mirror) : undefined;
      if (act === undefined) return;
      const pool = poolOf(act.node, mirror) ?? '';
      const hold = held.get(act.node.metadata.uid);
      if (hold === undefined && ![...held.values()].some(each => each.pool === pool)) return;
      // The first minute begins with the first act, whichever node it is of.
      const release = releases.get(pool) ?? { since: run.startTime, nodes: new Set() };
      releases.set(pool, release);
      // A run that died may have begun the first minute.
      if (hold === undefined || (quietSince() ?? Infinity) > hold.time) return;
      release.nodes.add(act.node.metadata.uid);
      const steps = Math.floor((now() - release.since + SLACK) / STEP) + 1;
      const most = 2 ** steps - 1;
      if (release.nodes.size <= most) return;
      violate(
        'I3',
        `repair begins ${release.nodes.size} repairs within ${steps} min of the end of ${hold.reason} in pool ${pool}, ${most} may be`,
      );
    },
  };
};
