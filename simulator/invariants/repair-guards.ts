/**
 * I3: at each act of repair its guards are counted again, from the objects and their past: threshold, zone and freeze let it pass, and
 * once more with the nodes that came back a moment ago (settling). What changed since the run began counts in its favour.
 */
import type { KubernetesObject } from '../../shared/domain/kubernetes-object.ts';
import { createConditionHistory } from './condition-history.ts';
import type { CheckContext, MakeCheck, Run } from './invariant.ts';
import { createInstanceEndings } from './instance-endings.ts';
import { actOf, type ActSeen } from './ladder-acts.ts';
import { claimOf } from './node-pool.ts';
import { isPolicyReadable, repairBlockFor } from './policy-oracle.ts';
import { dig, nameOf, poolNameOf } from './reading.ts';
import { isRepairReadable } from './repair-block.ts';
import { censusOf, heldBy, type CensusFacts } from './repair-census.ts';
import { unhealthyConditionsOf, repairConditionsOf, type RepairCondition } from './repair-conditions.ts';

/** So long after a fault a run may go on with what an earlier one was granted, and a retry is no new grant; ms. */
const CARRIED_ON = 2 * 60_000;
/** All that a node waits for others to settle, in one incident, but for the time between two looks; ms. */
const LONGEST_SETTLING = 14 * 60_000;
/** Between two clocks; ms. */
const SLACK = 5_000;

export const checkRepairGuards: MakeCheck = context => {
  const { mirror, now, quietSince, violate } = context;
  const history = createConditionHistory(context);
  /** The last act on each node, by UID. */
  const acted = new Map<string, { readonly kind: string; readonly time: number }>();
  const endings = createInstanceEndings(context);
  /** When Curfew said first of a node that is unhealthy that others settle, by name. */
  const settling = new Map<string, number>();
  const began = now();
  let settled = -Infinity;
  const settings = new Map<string, string>();
  mirror.follow((resource, uid, object) => {
    if (resource === 'nodepools' || resource === 'nodelifecyclepolicies') {
      const text = JSON.stringify([object?.spec, object?.metadata.labels, object?.metadata.annotations]);
      // What stands there at the beginning is no change.
      if (settings.get(uid) !== text && (settings.has(uid) || now() > began)) settled = now();
      settings.set(uid, text);
    }
    if (resource === 'nodes' && object === undefined) acted.delete(uid);
  });

  const isDisturbed = (run: Run): boolean => {
    const quiet = quietSince() ?? Infinity;
    return quiet > began && quiet > run.startTime - CARRIED_ON;
  };
  /** Whether what was granted to an earlier run, or refused, is tried again, or goes on by itself. */
  const isCarriedOn = ({ kind, node }: ActSeen, run: Run): boolean => {
    const last = acted.get(node.metadata.uid);
    const isSame = last?.kind === kind && now() - last.time < CARRIED_ON;
    return isSame || last?.kind === 'Drain' || isDisturbed(run);
  };
  const isNew = (time: number, run: Run): boolean => time >= run.startTime - SLACK;

  return {
    onAudit({ function: by, reason, kind, name }) {
      if (by === 'repair' && kind === 'Node' && reason === 'Settling' && !settling.has(name)) settling.set(name, now());
    },
    onCall(call, run) {
      const act = run.by === 'repair' ? actOf(call, mirror) : undefined;
      if (act === undefined) return;
      const why = isCarriedOn(act, run) || isNew(settled, run) ? undefined : complaint(act.node, run);
      acted.set(act.node.metadata.uid, { kind: act.kind, time: now() });
      endings.note(act, call);
      if (why !== undefined) violate('I3', `repair begins ${act.kind} of ${nameOf(act.node)}: ${why}`);
    },
    onMinute() {
      for (const name of settling.keys()) {
        if (mirror.named('nodes', name) === undefined) settling.delete(name);
      }
    },
  };

  function complaint(node: KubernetesObject, run: Run): string | undefined {
    const policies = [...mirror.all('nodelifecyclepolicies').values()];
    const poolName = poolNameOf(claimOf(node, mirror) ?? node);
    const pool = mirror.named('nodepools', poolName);
    const block = repairBlockFor(pool, policies);
    if (!policies.every(isPolicyReadable) || !isRepairReadable(block)) return undefined;
    const neighbours = mirror.ownership().neighboursIn(poolName);
    // A node whose NodeClaim is on its way is on its way itself; one that neither says its pool nor is named is nobody's for certain.
    const isUnclear = (other: KubernetesObject): boolean => {
      const claim = claimOf(other, mirror);
      const isNamed = poolNameOf(other) !== undefined || dig(claim, 'status', 'nodeName') !== undefined;
      return claim !== undefined && (claim.metadata.deletionTimestamp !== undefined || !isNamed);
    };
    const isUncertain = (other: KubernetesObject): boolean =>
      other.metadata.uid !== node.metadata.uid &&
      (isNew(history.changed(other.metadata.uid), run) || isUnclear(other) || endings.isUnclear(other));
    const { endedSince } = endings;
    const facts = { now: now(), mirror, node, poolName, neighbours, isUncertain, endedSince };
    const held = heldBy(block, censusOf(facts));
    if (held !== undefined) return held;
    const since = settling.get(node.metadata.name);
    if (since !== undefined && now() - since >= LONGEST_SETTLING) return undefined;
    const back = heldBy(block, censusOf(withReturned(facts, block, context)));
    return back === undefined ? undefined : `others have come back a moment ago, with them ${back}`;
  }

  function withReturned(facts: CensusFacts, block: unknown, { clockTolerance }: CheckContext): CensusFacts {
    const tolerations = unhealthyConditionsOf(facts.node, repairConditionsOf(block)).map(
      ({ toleration }) => toleration,
    );
    return {
      ...facts,
      settling: {
        window: Math.min(...tolerations) - SLACK - clockTolerance,
        wasIll: ({ metadata }: KubernetesObject, { type, status }: RepairCondition) =>
          history.statusBefore(metadata.uid, type) === status,
        wasActedOn: ({ metadata }: KubernetesObject) => acted.has(metadata.uid),
      },
    };
  }
};
