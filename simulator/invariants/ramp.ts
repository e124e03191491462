/**
 * I3: what an outage of a zone or of the cluster had held begins again slowly: of a pool one repair in the first minute, two in the
 * next, then four … Told by what Curfew says that it holds, and by when it acts on that.
 */
import type { KubernetesObject } from '../../shared/domain/kubernetes-object.ts';
import type { MakeCheck } from './invariant.ts';
import type { Mirror } from './mirror.ts';
import { annotationOf, dig, labelOf, textOf } from './reading.ts';
import { isUnhealthy } from './illnesses.ts';
import { poolOf } from './node-pool.ts';
import { isTermination, targetOf } from './run-journal.ts';

const STEP = 60_000;
/** From a decision to the last of its calls; a run takes no longer. */
const SLACK = 30_000;

/** Reasons of audit lines. */
const OUTAGES: readonly string[] = ['ZoneOutage', 'ClusterFreeze'];

interface Release {
  readonly since: number;
  readonly nodes: Set<string>;
}

export const checkRamp: MakeCheck = ({ mirror, now, violate }) => {
  /** Nodes that an outage holds, or held last, by name: their pool, and which outage. */
  const held = new Map<string, { readonly pool: string; readonly outage: string }>();
  /** By pool: what was repaired since the outage. */
  const releases = new Map<string, Release>();
  /** The minutes count from the first Node that waits for its turn or is repaired, whichever is seen first. */
  const releaseOf = (pool: string, since: number): Release => {
    const release = releases.get(pool) ?? { since, nodes: new Set() };
    releases.set(pool, release);
    return release;
  };
  mirror.follow((resource, _, object) => {
    // Whatever else decides over repairs may end the ramp.
    if (['nodepools', 'nodelifecyclepolicies', 'configmaps'].includes(resource)) held.clear();
    const isDone = object === undefined || !isUnhealthy(object) || annotationOf(object, 'curfew.dev/do-not-repair');
    if (resource === 'nodes' && object !== undefined && isDone) held.delete(object.metadata.name);
    if (resource === 'nodeclaims' && object !== undefined) held.delete(textOf(dig(object, 'status', 'nodeName')) ?? '');
  });
  return {
    onAudit({ function: by, decision, reason, kind, name }) {
      // Neither says that the outage does not hold it any more.
      if (by !== 'repair' || kind !== 'Node' || decision === 'settle') return;
      if (reason === 'RampUp') {
        const hold = held.get(name);
        if (hold !== undefined) releaseOf(hold.pool, now());
        return;
      }
      if (decision !== 'blocked' || !OUTAGES.includes(reason ?? '')) return void held.delete(name);
      const node = named(mirror, 'nodes', name);
      const pool = (node && poolOf(node, mirror)) ?? '';
      const zone = reason === 'ZoneOutage' && node !== undefined ? labelOf(node, 'topology.kubernetes.io/zone') : '';
      const outage = `${reason} ${zone}`;
      for (const [other, hold] of held) if (hold.pool === pool && hold.outage !== outage) held.delete(other);
      releases.delete(pool);
      held.set(name, { pool, outage });
    },
    onCall(call, run) {
      if (run.by !== 'repair' || !isTermination(call)) return;
      const claim = named(mirror, 'nodeclaims', targetOf(call).name);
      const name = textOf(dig(claim, 'status', 'nodeName')) ?? '';
      const hold = held.get(name);
      if (hold === undefined) return;
      const { pool, outage } = hold;
      const release = releaseOf(pool, run.startTime);
      release.nodes.add(name);
      const steps = Math.floor((now() - release.since + SLACK) / STEP) + 1;
      const most = 2 ** steps - 1;
      if (release.nodes.size <= most) return;
      violate(
        'I3',
        `repair begins ${release.nodes.size} repairs within ${steps} min of the end of ${outage} in pool ${pool}, ${most} may be`,
      );
    },
  };
};

function named(
  mirror: Mirror,
  resource: 'nodes' | 'nodeclaims',
  name: string | undefined,
): KubernetesObject | undefined {
  return [...mirror.all(resource).values()].find(({ metadata }) => metadata.name === name);
}
