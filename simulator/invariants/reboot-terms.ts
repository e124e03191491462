/**
 * How long pods have before a reboot, told from the raw block, the raw NodeClaim and the calls. The bound of the entry counts, and never more
 * than the NodeClaim's own; `Inherit` is the NodeClaim's own, and without one the timeout of the action; with `0s` there is no drain.
 * - I2 a machine is rebooted when the pods that could go are gone, or when their time is over, and not without a drain
 * - I5 a node that is closed for its reboot is rebooted, or opened again, when that time is over
 */
import type { KubernetesObject } from '../../shared/domain/kubernetes-object.ts';
import { toEpochMs, toIsoText } from '../../shared/domain/time.ts';
import { isDrainable, isLeftBehind } from './drain-oracle.ts';
import { LONGEST_DELAY, type CheckContext, type PortCall } from './invariant.ts';
import type { ActSeen } from './ladder-acts.ts';
import { rungsOf } from './ladder-past.ts';
import { claimOf } from './node-pool.ts';
import { annotationOf, dig, listOf, millisecondsOf, nameOf, textOf } from './reading.ts';
import type { RepairCondition } from './repair-conditions.ts';

const CLOSED_BY_US = 'curfew.dev/cordoned-by-repair';

/** What the terms of an act rest on. */
export interface Terms {
  /** Entries of the block in force; undefined: it cannot be told. */
  readonly repairConditionsIn: (node: KubernetesObject) => readonly RepairCondition[] | undefined;
  /** When what the user states changed last. */
  readonly changed: () => number;
  readonly tolerance: number;
}

interface Drain {
  readonly begin: number;
  /** The most that pods may have, by what was there at the begin. */
  readonly most: number;
}

export interface RebootTerms {
  /** @param deciding entries that decide for certain; undefined: it cannot be told */
  onAct(act: ActSeen, deciding: readonly RepairCondition[] | undefined): void;
  /** One that took effect before anybody looked. */
  onPastAct(act: ActSeen): void;
  onCall(call: PortCall): void;
  readonly onMinute: () => void;
}

export function createRebootTerms(context: CheckContext, terms: Terms): RebootTerms {
  const { mirror, now, quietSince, violate, lastDenial } = context;
  const { tolerance, repairConditionsIn, changed } = terms;
  const began = now();
  /** Nodes that are drained for what they are rebooted for, by UID. */
  const drains = new Map<string, Drain>();
  /** Those of which a drain has ended that leaves pods, or is none of success: that is the drain's own. So is one that nobody saw begin. */
  const ended = new Set<string>();
  mirror.follow((resource, uid, object) => {
    if (resource !== 'nodes' || object !== undefined) return;
    drains.delete(uid);
    ended.delete(uid);
  });

  /** What each entry gives the pods; ms. None: it does not reboot. */
  const timesOf = (node: KubernetesObject, { bound, ...list }: RepairCondition): readonly number[] => {
    const own = millisecondsOf(dig(claimOf(node, mirror), 'spec', 'terminationGracePeriod'));
    const timeouts = rungsOf({ ...list, bound }).flatMap(({ kind, timeout }) => (kind === 'Reboot' ? [timeout] : []));
    return timeouts.map(timeout => (bound === 'Inherit' ? (own ?? timeout) : Math.min(bound, own ?? bound)));
  };
  const allTimesIn = (node: KubernetesObject): readonly number[] =>
    (repairConditionsIn(node) ?? []).flatMap(each => timesOf(node, each));
  const podLeftOn = (node: KubernetesObject): KubernetesObject | undefined =>
    mirror.podsOn(node.metadata.name).find(pod => isDrainable(pod) && !isLeftBehind(pod, now() + tolerance));

  const judgeReboot = (node: KubernetesObject, deciding: readonly RepairCondition[] | undefined): void => {
    const drain = drains.get(node.metadata.uid);
    if ((quietSince() ?? Infinity) > began || changed() >= (drain?.begin ?? began)) return;
    const left = podLeftOn(node);
    if (left === undefined) return;
    const complain = (why: string): void =>
      violate('I2', `repair reboots ${nameOf(node)} ${why}, and ${nameOf(left)} is still there`);
    if (drain === undefined) {
      if (ended.has(node.metadata.uid) || deciding === undefined) return;
      const times = deciding.flatMap(each => timesOf(node, each));
      if (times.length > 0 && Math.min(...times) > tolerance) complain('without the drain that its pods have time for');
      return;
    }
    // Whichever entry decides.
    const times = allTimesIn(node);
    if (times.length > 0 && now() + tolerance < drain.begin + Math.min(...times))
      complain('before the time of its pods is over');
  };

  return {
    onAct({ kind, node }, deciding) {
      const { uid } = node.metadata;
      if (kind === 'Drain') {
        drains.set(uid, drains.get(uid) ?? { begin: now(), most: Math.max(...allTimesIn(node)) });
        return;
      }
      if (kind === 'Reboot') judgeReboot(node, deciding);
      drains.delete(uid);
      ended.delete(uid);
    },
    onPastAct({ kind, node: { metadata } }) {
      if (kind === 'Drain') ended.add(metadata.uid);
      else ended.delete(metadata.uid);
    },
    onCall({ port, args }) {
      for (const entry of port === 'bus' ? listOf(args[0]) : []) {
        if (dig(entry, 'detailType') !== 'DrainCompleted') continue;
        const left = listOf(dig(entry, 'detail', 'left'));
        const uid = textOf(dig(entry, 'detail', 'node', 'uid'));
        if (uid === undefined || (dig(entry, 'detail', 'status') === 'Succeeded' && left.length === 0)) continue;
        drains.delete(uid);
        ended.add(uid);
      }
    },
    onMinute() {
      const quiet = quietSince();
      for (const [uid, drain] of drains) {
        const node = mirror.all('nodes').get(uid);
        if (node === undefined || quiet === undefined || changed() >= drain.begin) continue;
        const claim = claimOf(node, mirror);
        const isClosed = dig(node, 'spec', 'unschedulable') === true && annotationOf(node, CLOSED_BY_US) !== undefined;
        const isGoing = [node, claim].some(each => each?.metadata.deletionTimestamp !== undefined);
        const times = allTimesIn(node);
        if (!isClosed || isGoing || times.length === 0) continue;
        const end = drain.begin + Math.max(drain.most, ...times);
        if (now() - tolerance - Math.max(end, quiet, lastDenial('nodes', node.metadata)) <= LONGEST_DELAY) continue;
        const text = toIsoText(toEpochMs(end));
        violate('I5', `the time of the pods on ${nameOf(node)} is over since ${text}, and it is not rebooted`);
        drains.delete(uid);
      }
    },
  };
}
