/**
 * How Karpenter 1.15 reboots a node in place, for its own repair and for whoever sets `Rebooting=True/RebootRequested` on a NodeClaim: it fences
 * the Node off, has its pods evicted until a bound, notes the boot ID, asks the provider, and waits for another boot that is Ready. A reboot that
 * fails becomes a replacement. Here it looks once in 10 s. Where it cannot tell, it waits.
 */
import { formatDuration, nanosecondsToDuration, parseGoDuration } from '../../shared/domain/go-duration.ts';
import type { JsonObject, KubernetesObject } from '../../shared/domain/kubernetes-object.ts';
import {
  addDuration,
  hours,
  latest,
  minutes,
  parseTimestamp,
  seconds,
  toTimestamp,
  type DurationMs,
  type EpochMs,
} from '../../shared/domain/time.ts';
import { arrayAt, isObject, objectAt, textAt } from '../../packages/kube-apiserver/src/json.ts';
import { says, textIn, type ActorApi, type ActorWorld } from './actor.ts';
import { hasTaint, type KarpenterCluster, type Managed } from './karpenter-cluster.ts';
import { createActs } from './karpenter-commands.ts';
import { evictPods, firstGroup, podsToDrain } from './karpenter-drain.ts';

const TAINT = 'karpenter.sh/rebooting';
const GRACE = 'karpenter.sh/reboot-termination-grace-period';
const BOOT_BEFORE = 'karpenter.sh/reboot-pre-boot-id';
const INITIALIZED = 'karpenter.sh/initialized';
const LEAST_DRAIN = seconds(5);
const ISSUED_WITHIN = minutes(5);
const BACK_WITHIN = minutes(20);
/** So many of one NodeClaim within a day: then it is replaced. */
const MAX_REBOOTS = 2;
const REMEMBERED_FOR = hours(24);

export interface KarpenterReboots {
  /** Whether the NodeClaim has had none too many. In memory: a Karpenter that starts again has forgotten. */
  readonly isAllowed: (managed: Managed, now: EpochMs) => boolean;
  /** @param bound how long pods have, from now on; undefined: as long as they take */
  readonly request: (managed: Managed, bound: DurationMs | undefined, now: EpochMs) => void;
  /** Carries on what has begun. */
  readonly look: (now: EpochMs) => void;
}

export function createKarpenterReboots(
  { core, reboot }: { readonly core: ActorApi; readonly reboot: ActorWorld['reboot'] },
  user: string,
  cluster: KarpenterCluster,
): KarpenterReboots {
  const acts = createActs(core, user);
  /** When each was requested, by UID of the NodeClaim. */
  const requests = new Map<string, readonly EpochMs[]>();
  /** Since when the provider is asked, by UID of the NodeClaim. */
  const asked = new Map<string, EpochMs>();

  const requestsOf = ({ claim }: Managed, now: EpochMs): readonly EpochMs[] =>
    (requests.get(claim.metadata.uid) ?? []).filter(time => addDuration(time, REMEMBERED_FOR) > now);

  const say = (claim: KubernetesObject, type: string, condition: JsonObject, now: EpochMs): void =>
    acts.setCondition(claim, type, { ...condition, lastTransitionTime: toTimestamp(now) });

  const unfence = (node: KubernetesObject): void => {
    if (hasTaint(node, TAINT)) acts.setTaint(node, TAINT, false);
  };

  /** Its memory of this one goes, so that the next begins anew. */
  const settle = ({ node, claim }: Managed, reason: 'RebootSucceeded' | 'RebootFailed', now: EpochMs): void => {
    asked.delete(claim.metadata.uid);
    unfence(node);
    acts.mark('nodeclaims', claim, { annotations: { [BOOT_BEFORE]: null } });
    say(claim, 'Rebooting', { status: 'False', reason }, now);
    acts.setCondition(claim, 'DisruptionReason', undefined);
  };

  const giveUp = ({ node, claim }: Managed, bound: DurationMs | undefined, now: EpochMs): void => {
    asked.delete(claim.metadata.uid);
    unfence(node);
    acts.terminate(claim, bound, now);
  };

  /** Whether no pod is waited for any more; those that are left ride the reboot. */
  const drain = ({ node }: Managed, bound: DurationMs | undefined, since: EpochMs, now: EpochMs): boolean => {
    if (bound === 0) return true;
    const deadline =
      bound === undefined ? undefined : latest(addDuration(since, bound), addDuration(since, LEAST_DRAIN));
    const pods = podsToDrain(core, [node], now);
    if (pods.length === 0) return addDuration(since, LEAST_DRAIN) <= now;
    if (deadline !== undefined && deadline <= now) return true;
    evictPods(core, firstGroup(pods), { now, isDue: () => true, onAsked: () => undefined });
    return false;
  };

  const issued = ({ node, claim }: Managed, now: EpochMs): void => {
    say(claim, 'Rebooting', { status: 'True', reason: 'RebootIssued' }, now);
    say(claim, 'Initialized', { status: 'Unknown', reason: 'Rebooting' }, now);
    if (node.metadata.labels?.[INITIALIZED] !== undefined)
      acts.mark('nodes', node, { labels: { [INITIALIZED]: null } });
  };

  const carryOut = (managed: Managed, since: EpochMs, now: EpochMs): void => {
    const { node, claim } = managed;
    const { uid, annotations = {} } = claim.metadata;
    const bound = boundOf(claim);
    if (bound === 'unreadable') return settle(managed, 'RebootFailed', now);
    const before = annotations[BOOT_BEFORE];
    if (before !== undefined && before !== bootOf(node)) return issued(managed, now);
    const beganAsking = asked.get(uid);
    if (beganAsking !== undefined && addDuration(beganAsking, ISSUED_WITHIN) < now) return giveUp(managed, bound, now);
    if (!hasTaint(node, TAINT)) acts.setTaint(node, TAINT, true);
    if (before === undefined && !drain(managed, bound, since, now)) return;
    if (beganAsking === undefined) asked.set(uid, now);
    if (before === undefined) acts.mark('nodeclaims', claim, { annotations: { [BOOT_BEFORE]: bootOf(node) } });
    const instance = textIn(claim.status, 'providerID');
    if (instance !== undefined && reboot?.(instance) === true) issued(managed, now);
  };

  const observe = (managed: Managed, now: EpochMs): void => {
    const { node, claim } = managed;
    const since = sinceOf(claim, 'Initialized');
    const bound = boundOf(claim);
    if (since !== undefined && addDuration(since, BACK_WITHIN) < now)
      return giveUp(managed, bound === 'unreadable' ? undefined : bound, now);
    if (bootOf(node) === claim.metadata.annotations?.[BOOT_BEFORE]) return;
    if (!says(node, 'Ready')) return unfence(node);
    settle(managed, 'RebootSucceeded', now);
    acts.mark('nodes', node, { labels: { [INITIALIZED]: 'true' } });
    say(claim, 'Initialized', { status: 'True', reason: 'Initialized' }, now);
  };

  return {
    isAllowed: (managed, now) => requestsOf(managed, now).length < MAX_REBOOTS,
    request(managed, bound, now) {
      const { claim } = managed;
      const grace = bound === undefined ? null : formatDuration(bound);
      acts.mark('nodeclaims', claim, { annotations: { [GRACE]: grace } });
      say(claim, 'DisruptionReason', { status: 'True', reason: 'Unhealthy' }, now);
      say(claim, 'Rebooting', { status: 'True', reason: 'RebootRequested' }, now);
      requests.set(claim.metadata.uid, [...requestsOf(managed, now), now]);
    },
    look(now) {
      for (const managed of cluster.managed()) {
        const { claim } = managed;
        if (claim.metadata.deletionTimestamp !== undefined || !says(claim, 'Rebooting')) continue;
        const { reason } = conditionOf(claim, 'Rebooting');
        const since = sinceOf(claim, 'Rebooting') ?? now;
        if (reason === 'RebootRequested') carryOut(managed, since, now);
        if (reason === 'RebootIssued') observe(managed, now);
      }
    },
  };
}

/** When the last reboot of it ended; undefined: it was never rebooted, or is being. */
export function lastRebootEnd(claim: KubernetesObject): EpochMs | undefined {
  return conditionOf(claim, 'Rebooting')['status'] === 'False' ? sinceOf(claim, 'Rebooting') : undefined;
}

const conditionOf = ({ status = {} }: KubernetesObject, type: string): JsonObject =>
  arrayAt(status, 'conditions').find((each): each is JsonObject => isObject(each) && each['type'] === type) ?? {};

const sinceOf = (claim: KubernetesObject, type: string): EpochMs | undefined =>
  parseTimestamp(textAt(conditionOf(claim, type), 'lastTransitionTime') ?? '');

const bootOf = ({ status = {} }: KubernetesObject): string => textAt(objectAt(status, 'nodeInfo'), 'bootID') ?? '';

/** How long pods have; undefined: as long as they take. */
function boundOf({ metadata }: KubernetesObject): DurationMs | 'unreadable' | undefined {
  const stated = metadata.annotations?.[GRACE];
  if (stated === undefined) return undefined;
  const parsed = parseGoDuration(stated);
  return parsed.ok && parsed.nanoseconds >= 0n ? nanosecondsToDuration(parsed.nanoseconds) : 'unreadable';
}
