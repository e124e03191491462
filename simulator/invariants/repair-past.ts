/**
 * What repair must remember, told apart from its records: how long a node was unhealthy in all, and which repairs of a pool did not help. Only
 * what Curfew certainly knows counts: nothing from before the last fault, and of incidents nothing from before its settings changed last.
 */
import type { KubernetesObject } from '../../shared/domain/kubernetes-object.ts';
import type { CheckContext } from './invariant.ts';
import type { Mirrored } from './mirror.ts';
import { dig, instanceOfClaim, instantOf, poolNameOf } from './reading.ts';
import { unhealthyConditionsOf, type UnhealthyCondition } from './unhealthy-conditions.ts';
import { claimOf } from './node-pool.ts';

/** What is over sooner may be published as over only. */
const SHORTEST = 60_000;
/** Clocks differ, and a window may end between a decision and its act. */
const SLACK = 5_000;

interface Span {
  readonly start: number;
  readonly end: number;
}

interface History {
  spans: readonly Span[];
  open: (UnhealthyCondition & { readonly start: number }) | undefined;
  /** Something else than one incident that comes and goes: what Curfew makes of it is not judged until it is over. */
  isUnclear: boolean;
}

interface Repair {
  readonly pool: string | undefined;
  readonly condition: string;
  readonly time: number;
}

export interface RepairPast {
  /** How long the node was certainly unhealthy within the time before now; ms. */
  illFor(node: KubernetesObject, window: number): number;
  /** A NodeClaim is deleted by repair. */
  noteRepair(claim: KubernetesObject): void;
  /** A repair may have begun in that pool. */
  noteTry(pool: string | undefined): void;
  /** Repairs that certainly count as futile for a node of the pool that is unhealthy like this now. */
  futile(node: KubernetesObject, pool: string | undefined, by: { condition: string; window: number }): number;
  /** At most, whatever for. */
  tried(pool: string | undefined): number;
}

/** What changes how nodes are judged; the rest of these objects is a report. */
const partsOf: Partial<Record<Mirrored, (object: KubernetesObject) => readonly unknown[]>> = {
  nodepools: ({ metadata, spec }) => [metadata.labels, spec],
  nodelifecyclepolicies: ({ spec }) => [spec],
  configmaps: object => [dig(object, 'data')],
  nodeclaims: object => [object.metadata.labels, instanceOfClaim(object), dig(object, 'status', 'nodeName')],
};

export function createRepairPast(context: CheckContext): RepairPast {
  const { mirror, now, quietSince, clockTolerance } = context;
  const histories = new Map<string, History>();
  const repairs: Repair[] = [];
  const tries = new Map<string | undefined, number>();
  /** The settings as they are, by UID. */
  const settings = new Map<string, string>();
  /** Since when each NodeClaim is there. */
  const claims = new Map<string, number>();
  let settled = now();
  mirror.follow((resource, uid, object) => {
    if (resource === 'nodes') return object === undefined ? void histories.delete(uid) : look(uid, object);
    const parts = partsOf[resource];
    if (parts === undefined) return;
    const text = object && JSON.stringify(parts(object));
    const isNew = !settings.has(uid);
    if (settings.get(uid) === text) return;
    if (text === undefined) settings.delete(uid);
    else settings.set(uid, text);
    if (resource !== 'nodeclaims') settled = now();
    else if (text === undefined) claims.delete(uid);
    else if (isNew) claims.set(uid, now());
    else settled = now();
  });

  function look(uid: string, node: KubernetesObject): void {
    const history = histories.get(uid) ?? { spans: [], open: undefined, isUnclear: false };
    histories.set(uid, history);
    const [condition, ...others] = unhealthyConditionsOf(node);
    const { open } = history;
    if (condition === undefined) {
      if (open !== undefined) history.spans = [...history.spans, ...spanOf(open, node)];
      history.open = undefined;
      history.isUnclear = false;
      return;
    }
    const isSame = open !== undefined && open.type === condition.type && open.since === condition.since;
    const isClear = others.length === 0 && condition.since !== undefined && condition.since <= now();
    if (isSame && isClear && open.status === condition.status) return;
    const isFirst = open === undefined && !history.isUnclear && isClear;
    history.open = isFirst ? { ...condition, start: now() } : undefined;
    history.isUnclear = !isFirst;
    if (!isFirst) history.spans = [];
  }

  function spanOf(
    { type, start }: UnhealthyCondition & { readonly start: number },
    node: KubernetesObject,
  ): readonly Span[] {
    const end = Math.min(now(), transitionOf(node, type) ?? -Infinity);
    return end - start >= SHORTEST ? [{ start, end }] : [];
  }

  /** From when on what happened is certainly known. */
  const knownSince = (claim: KubernetesObject | undefined): number =>
    Math.max(settled, quietSince() ?? Infinity, (claim && claims.get(claim.metadata.uid)) ?? Infinity);

  return {
    illFor(node, window) {
      const { spans, open } = histories.get(node.metadata.uid) ?? {};
      if (spans === undefined || open === undefined) return 0;
      const known = knownSince(claimOf(node, mirror));
      const from = now() - window;
      return [...spans, { start: open.start, end: now() }]
        .filter(({ start }) => start >= known)
        .reduce((sum, { start, end }) => sum + Math.max(0, end - Math.max(start, from)), 0);
    },
    noteRepair(claim) {
      const [node] = mirror.ownership().nodesOf(instanceOfClaim(claim) ?? '');
      const [condition, ...others] = node === undefined ? [] : unhealthyConditionsOf(node);
      if (condition === undefined || others.length > 0) return;
      const pool = poolNameOf(claim);
      repairs.push({ pool, condition: `${condition.type}=${condition.status}`, time: now() });
    },
    noteTry: pool => void tries.set(pool, (tries.get(pool) ?? 0) + 1),
    tried: pool => tries.get(pool) ?? 0,
    futile(node, pool, { condition, window }) {
      const created = instantOf(node.metadata.creationTimestamp);
      // Whatever was edited or switched off in between.
      const known = quietSince() ?? Infinity;
      if (created === undefined || unhealthyConditionsOf(node).length !== 1) return 0;
      return repairs.filter(
        each =>
          each.pool === pool &&
          each.condition === condition &&
          each.time >= known &&
          each.time + clockTolerance <= created &&
          each.time + window - SLACK > now(),
      ).length;
    },
  };
}

function transitionOf(node: KubernetesObject, type: string): number | undefined {
  const conditions = dig(node, 'status', 'conditions');
  const condition = Array.isArray(conditions) ? conditions.find(each => dig(each, 'type') === type) : undefined;
  return instantOf(dig(condition, 'lastTransitionTime'));
}
