/**
 * I6: a repair that is due and held by a guard or a veto is a wait that can be seen: an Event on the Node, recorded again every
 * hour.
 */
import { EVENT_REASONS } from '../../shared/contract/reasons.ts';
import type { KubernetesObject } from '../../shared/domain/kubernetes-object.ts';
import { toEpochMs, toIsoText } from '../../shared/domain/time.ts';
import { createConditionHistory } from './condition-history.ts';
import { LONGEST_DELAY, type MakeCheck } from './invariant.ts';
import { createInstanceEndings } from './instance-endings.ts';
import { actOf } from './ladder-acts.ts';
import { isPolicyReadable } from './policy-oracle.ts';
import { dig, nameOf, textOf } from './reading.ts';
import { isUnhealthy } from './unhealthy-conditions.ts';
import { factsOf, holdOf } from './repair-overdue.ts';
import { isKubernetes, targetOf } from './run-journal.ts';
import { followConfiguration } from './refused-configuration.ts';

/** An Event of one reason about one object an hour. */
const SAID_FOR = 60 * 60_000;

const HOLDS: readonly string[] = [EVENT_REASONS.nodeRepairBlocked, EVENT_REASONS.nodeRepairVetoed];

export const checkHeldSaid: MakeCheck = context => {
  const { mirror, now, quietSince, violate } = context;
  const history = createConditionHistory(context);
  const endings = createInstanceEndings(context);
  const unhealthy = new Map<string, KubernetesObject>();
  const everReadable = new Set<string>();
  /** UIDs of nodes that repair has acted on: what holds the rest of it is told otherwise. */
  const acted = new Set<string>();
  const configuration = followConfiguration(mirror);
  /** By UID of the Node: when its hold was said last, and since when it holds. */
  const said = new Map<string, number>();
  const heldSince = new Map<string, number>();
  mirror.follow((resource, uid, object) => {
    if (resource === 'nodelifecyclepolicies' && object !== undefined && isPolicyReadable(object)) everReadable.add(uid);
    if (resource !== 'nodes') return;
    if (object !== undefined && isUnhealthy(object)) unhealthy.set(uid, object);
    else unhealthy.delete(uid);
  });
  const note = (event: unknown): void => {
    if (HOLDS.includes(textOf(dig(event, 'reason')) ?? ''))
      said.set(textOf(dig(event, 'involvedObject', 'uid')) ?? '', now());
  };
  return {
    onCall(call, run) {
      if (run.by !== 'repair') return;
      const act = actOf(call, mirror);
      if (act !== undefined) {
        acted.add(act.node.metadata.uid);
        endings.note(act, call);
      }
      // One that gets lost is not said again before its hour is over.
      if (isKubernetes(call, 'create') && targetOf(call).resource === 'events') note(call.args[1]);
    },
    onAudit: configuration.onAudit,
    onMinute() {
      const quiet = quietSince();
      if (quiet === undefined || configuration.isRefused()) return heldSince.clear();
      for (const uid of heldSince.keys()) if (!unhealthy.has(uid)) heldSince.delete(uid);
      const waiting = [...unhealthy].filter(([uid]) => !acted.has(uid));
      if (waiting.length === 0) return;
      const facts = {
        ...factsOf(context, everReadable, history),
        repaired: new Map<string, never>(),
        ended: new Set<string>(),
        endings,
        wasActedOn: ({ metadata }: KubernetesObject) => acted.has(metadata.uid),
      };
      for (const [uid, node] of waiting) {
        const why = holdOf(node, facts, now());
        if (why === undefined) {
          heldSince.delete(uid);
          continue;
        }
        const since = heldSince.get(uid) ?? now();
        heldSince.set(uid, since);
        const lastSaid = said.get(uid);
        const silent = Math.max(since, quiet, lastSaid === undefined ? 0 : lastSaid + SAID_FOR);
        if (now() - silent <= LONGEST_DELAY) continue;
        violate('I6', `the repair of ${nameOf(node)} is held, and no Event says so since ${text(silent)}: ${why}`);
        heldSince.set(uid, Infinity);
      }
    },
  };
};

const text = (ms: number): string => toIsoText(toEpochMs(ms));
