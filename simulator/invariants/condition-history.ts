/**
 * Since when the conditions of nodes stand as they do, as the cluster has shown it. A status that stays while its time moves keeps its
 * first start; a clock that is behind or ahead is not believed.
 */
import type { KubernetesObject } from '../../shared/domain/kubernetes-object.ts';
import type { CheckContext } from './invariant.ts';
import { conditionOf } from './unhealthy-conditions.ts';
import { dig, fieldsOf, instantOf, listOf, textOf } from './reading.ts';

/** A transition that lies further back than this before the news of it was written by a clock that is behind. */
const OLDEST_NEWS = 10 * 60_000;

/** A status that stood so long, with nothing disturbed, was seen. */
const SURELY_SEEN = 65_000;

interface Standing {
  readonly status: unknown;
  readonly before: unknown;
  /** When the status before was shown first, and since when this status had stood before that one. */
  readonly beforeSeen: number;
  readonly stood: { readonly status: unknown; readonly stated: number | undefined } | undefined;
  /** The first transition time that was stated with this status. */
  readonly stated: number | undefined;
  /** The same of the status before, or of one before that, if what lay between may not have been seen. */
  readonly statedBefore: number | undefined;
  /** When the cluster showed this status first, and this reason. */
  readonly seen: number;
  readonly reason: string;
  readonly reasonSeen: number;
  /** It stood there when the run began. */
  readonly isInitial: boolean;
}

/** Between which instants an incident began, by what is left open of how its time is read. */
export interface Start {
  readonly earliest: number;
  readonly latest: number;
}

export interface ConditionHistory {
  /** Of a condition that stands on the node; undefined when its time cannot be read. */
  startOf(node: KubernetesObject, type: string, hasReason: boolean): Start | undefined;
  /** Which status the condition had before the one it has. */
  statusBefore(nodeUid: string, type: string): unknown;
  /** When a condition of the node, or what else decides who counts, changed last. */
  changed(nodeUid: string): number;
}

export function createConditionHistory({
  mirror,
  now,
  quietSince,
}: Pick<CheckContext, 'mirror' | 'now' | 'quietSince'>): ConditionHistory {
  const began = now();
  const nodes = new Map<string, Map<string, Standing>>();
  const texts = new Map<string, { readonly text: string; readonly time: number }>();
  mirror.follow((resource, uid, object) => {
    if (resource !== 'nodes') return;
    if (object === undefined) {
      nodes.delete(uid);
      return void texts.delete(uid);
    }
    const text = JSON.stringify([
      object.metadata.annotations,
      object.metadata.labels,
      object.spec,
      conditionsOf(object),
    ]);
    if (texts.get(uid)?.text === text) return;
    // What stands there at the beginning is no change.
    texts.set(uid, { text, time: texts.has(uid) || now() > began ? now() : -Infinity });
    nodes.set(uid, standingsOf(object, nodes.get(uid) ?? new Map()));
  });

  function standingsOf(node: KubernetesObject, known: ReadonlyMap<string, Standing>): Map<string, Standing> {
    const standings = new Map<string, Standing>();
    for (const { type, status, reason, lastTransitionTime } of conditionsOf(node)) {
      if (typeof type !== 'string' || standings.has(type)) continue;
      const old = known.get(type);
      const stated = instantOf(lastTransitionTime);
      const why = textOf(reason) ?? '';
      if (old === undefined || old.status !== status) {
        const isInitial = known.size === 0 && now() === began;
        const since = { stated, seen: now(), reason: why, reasonSeen: now(), isInitial };
        const past = {
          before: old?.status,
          beforeSeen: old?.seen ?? now(),
          stood: old && { status: old.before, stated: old.statedBefore },
        };
        standings.set(type, { status, ...past, statedBefore: old && unseenStart(old), ...since });
      } else if (old.reason !== why || old.stated === undefined) {
        const reasonSeen = old.reason === why ? old.reasonSeen : now();
        standings.set(type, { ...old, stated: old.stated ?? stated, reason: why, reasonSeen });
      } else standings.set(type, old);
    }
    return standings;
  }

  const changed = (uid: string): number => texts.get(uid)?.time ?? -Infinity;

  return {
    startOf(node, type, hasReason) {
      const shown = conditionOf(node, type);
      const told = instantOf(shown?.['lastTransitionTime']);
      const standing = nodes.get(node.metadata.uid)?.get(type);
      if (standing === undefined || standing.status !== shown?.['status'])
        return told === undefined ? undefined : { earliest: told, latest: told };
      const { stated, seen, reasonSeen, isInitial } = standing;
      if (stated === undefined) return undefined;
      const created = instantOf(node.metadata.creationTimestamp) ?? -Infinity;
      const isBehind = stated < seen - OLDEST_NEWS;
      // What has lasted since before anybody looked is news to nobody.
      const isOld = isInitial && stated < seen;
      const least = Math.max(created, stated > seen || (isBehind && !isOld) ? seen : stated);
      const quiet = quietSince() ?? Infinity;
      // Who looks for another reason, before the news of it has come, has nothing to doubt the time by.
      // A Node that is made unhealthy already is believed to have been unhealthy from its creation, which is a whole second.
      const isNew = created >= Math.floor(seen / 1000) * 1000;
      const first = isBehind && (quiet > seen || isNew) ? Math.max(created, stated) : least;
      // Who has not seen the short time in between takes it for a status that stayed.
      const { stood, beforeSeen } = standing;
      const wasUnseen = seen - beforeSeen < SURELY_SEEN || quiet > beforeSeen;
      const older =
        wasUnseen && stood !== undefined && stood.status === standing.status ? (stood.stated ?? Infinity) : Infinity;
      const start = Math.min(first, Math.max(created, older));
      // Times of conditions are whole seconds; and the entry may be one that the reason before met, too.
      const firstReason = reasonSeen > seen ? seen : reasonSeen;
      const earliest = hasReason ? Math.max(start, Math.floor(firstReason / 1000) * 1000) : start;
      // Who was cut off learns of it late, and cannot tell that from a clock that is behind.
      const isLate = quiet > seen || (hasReason && quiet > reasonSeen);
      // The first look may be for a later change of the Node, and then takes what is old for the news.
      const isNews = !isOld || changed(node.metadata.uid) > began;
      const latest = Math.max(least, hasReason ? reasonSeen : -Infinity, isLate && isNews ? quiet : -Infinity);
      return { earliest, latest };
    },
    statusBefore: (uid, type) => nodes.get(uid)?.get(type)?.before,
    changed,
  };
}

/** Since when a status has stood for whoever has not seen what lay between it and the last time that it stood. */
function unseenStart({ status, stated, stood, seen, beforeSeen }: Standing): number | undefined {
  if (stated === undefined || stood === undefined || stood.status !== status || seen - beforeSeen >= SURELY_SEEN)
    return stated;
  return Math.min(stated, stood.stated ?? stated);
}

const conditionsOf = (node: KubernetesObject) => listOf(dig(node, 'status', 'conditions')).map(fieldsOf);
