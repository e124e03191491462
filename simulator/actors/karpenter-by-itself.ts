/**
 * karpenter-1.14, karpenter-1.15: Karpenter's own decisions, in both releases: expiry, drift, emptiness and consolidation by the budgets of a NodePool,
 * each with a replacement before the end where pods need one. And its repair, with the provider's conditions and tolerations: 1.14 ends a node by
 * force, whatever its pods; 1.15 as the first of the disruptions, within budgets, bounds, vetoes and with a replacement, or by a reboot in place
 * (`karpenter-reboots.ts`). Both know a breaker of 20 %. What is decided once in 10 s here is decided at once there. Where pods fit is not simulated.
 */
import {
  addDuration,
  minutes,
  parseTimestamp,
  seconds,
  toDurationMs,
  type DurationMs,
  type EpochMs,
} from '../../shared/domain/time.ts';
import { says, type ActorWorld, type StartActor } from './actor.ts';
import {
  disruptionOf,
  durationIn,
  followCluster,
  isHeld,
  isLeaving,
  roomIn,
  type KarpenterCluster,
  type Managed,
} from './karpenter-cluster.ts';
import { createActs, createCommands, type Command } from './karpenter-commands.ts';
import { illnessOf, type Release } from './karpenter-policies.ts';
import { createKarpenterReboots, lastRebootEnd, type KarpenterReboots } from './karpenter-reboots.ts';

const PASS = seconds(10);
/** Of a big cluster, whose passes take Karpenter longer, too. */
const PASS_OF_MANY = minutes(1);
const MANY_NODES = 200;
const LOOKED_AT_AGAIN = minutes(5);
const DO_NOT_REPAIR = 'karpenter.sh/do-not-repair';
const BREAKER = 0.2;

export const startKarpenter114: StartActor = world => start(world, '1.14');
export const startKarpenter115: StartActor = world => start(world, '1.15');

interface Ill {
  readonly managed: Managed;
  readonly due: EpochMs;
  readonly bound: DurationMs | undefined;
  readonly isReboot: boolean;
}

function start({ core, scheduler, reboot }: ActorWorld, release: Release): void {
  const user = `actor:karpenter-${release}`;
  const cluster = followCluster(core);
  const acts = createActs(core, user);
  const commands = createCommands(core, user);
  const reboots = createKarpenterReboots({ core, reboot }, user, cluster);
  /** By pool: when a breaker that was open is looked at again. */
  const blockedUntil = new Map<string | undefined, EpochMs>();
  /** By UID of the NodeClaim: since when no pod of its Node has to be moved. */
  const emptySince = new Map<string, EpochMs>();

  /** Those that may be repaired, the longest due first. */
  const ill = (all: readonly Managed[], now: EpochMs): readonly Ill[] => {
    const pools = Map.groupBy(all, ({ pool }) => pool);
    const found = [...pools].flatMap(([pool, members]) => {
      const ailing = members.flatMap(managed => {
        const illness = illnessOf(
          managed.node,
          release,
          now,
          release === '1.15' ? lastRebootEnd(managed.claim) : undefined,
        );
        return illness === undefined ? [] : [{ managed, illness }];
      });
      const due = ailing.flatMap(({ managed, illness }): readonly Ill[] =>
        illness.due === undefined || isVetoed(managed, release) ? [] : [{ managed, ...illness.due }],
      );
      if (due.length === 0 || (blockedUntil.get(pool) ?? now) > now) return [];
      if (ailing.length <= Math.ceil(BREAKER * members.length)) return due;
      blockedUntil.set(pool, addDuration(now, LOOKED_AT_AGAIN));
      return [];
    });
    return found.toSorted((a, b) => a.due - b.due);
  };

  const repairByForce = (all: readonly Managed[], now: EpochMs): void => {
    for (const { managed } of ill(all, now)) {
      if (managed.claim.metadata.deletionTimestamp === undefined) acts.terminate(managed.claim, toDurationMs(0), now);
    }
  };

  const expire = (now: EpochMs): void => {
    for (const claim of cluster.claims()) {
      if (claim.metadata.deletionTimestamp !== undefined) continue;
      const after = durationIn(claim.spec ?? {}, 'expireAfter');
      if (after === undefined) continue;
      const created = parseTimestamp(claim.metadata.creationTimestamp);
      if (created !== undefined && created + after <= now) acts.remove('nodeclaims', claim);
    }
  };

  const look = (): void => {
    const now = scheduler.now();
    commands.look(now);
    expire(now);
    const all = cluster.managed();
    scheduler.at(addDuration(now, all.length < MANY_NODES ? PASS : PASS_OF_MANY), look);
    if (release === '1.14') repairByForce(all, now);
    else reboots.look(now);
    const next = decide(cluster, all, now, { emptySince, reboots, ill: release === '1.15' ? ill(all, now) : [] });
    if (next?.kind === 'disrupt') commands.begin(next.command, now);
    if (next?.kind === 'reboot') reboots.request(next.managed, next.bound, now);
  };
  scheduler.at(addDuration(scheduler.now(), PASS), look);
}

/** Without a NodePool 1.15 repairs nothing, nor where a veto says so. */
const isVetoed = ({ node, claim, pool }: Managed, release: Release): boolean =>
  release === '1.15' &&
  (pool === undefined || [node, claim].some(({ metadata }) => metadata.annotations?.[DO_NOT_REPAIR] === 'true'));

interface Memory {
  readonly emptySince: Map<string, EpochMs>;
  readonly reboots: Pick<KarpenterReboots, 'isAllowed'>;
  readonly ill: readonly Ill[];
}

type Next =
  | { readonly kind: 'disrupt'; readonly command: Command }
  | { readonly kind: 'reboot'; readonly managed: Managed; readonly bound: DurationMs | undefined };

const disrupt = (command: Command): Next => ({ kind: 'disrupt', command });

/** One command a pass: repair, drift, emptiness, consolidation. */
function decide(
  cluster: KarpenterCluster,
  all: readonly Managed[],
  now: EpochMs,
  { emptySince, reboots, ill }: Memory,
): Next | undefined {
  const members = Map.groupBy(all, ({ pool }) => pool);
  const isFree = (managed: Managed): boolean =>
    managed.pool !== undefined && !isLeaving(managed) && !says(managed.claim, 'Rebooting');
  const hasRoom = ({ pool = '' }: Managed, reason: Command['reason']): boolean =>
    roomIn(cluster.pool(pool), { reason, now }, members.get(pool) ?? []) > 0;

  for (const { managed, bound, isReboot } of ill) {
    if (!isFree(managed) || (says(managed.claim, 'Initialized') && !hasRoom(managed, 'Unhealthy'))) continue;
    const pods = cluster.podsOf(managed, now);
    const isBounded = bound !== undefined || graceOf(managed) !== undefined;
    if (cluster.blockerOf(pods) !== undefined && !isBounded) continue;
    if (isReboot && reboots.isAllowed(managed, now))
      return { kind: 'reboot', managed, bound: shorter(bound, graceOf(managed)) };
    return disrupt({ ...managed, reason: 'Unhealthy', isReplaced: pods.length > 0, bound });
  }
  for (const managed of all) {
    if (!isFree(managed) || isHeld(managed) || !says(managed.claim, 'Drifted') || !hasRoom(managed, 'Drifted'))
      continue;
    const pods = cluster.podsOf(managed, now);
    if (cluster.blockerOf(pods) !== undefined && graceOf(managed) === undefined) continue;
    return disrupt({ ...managed, reason: 'Drifted', isReplaced: pods.length > 0, bound: undefined });
  }
  const waits = new Map(
    [...members.keys()].map(pool => [pool, durationIn(disruptionOf(cluster.pool(pool ?? '')), 'consolidateAfter')]),
  );
  for (const managed of all) {
    const { uid } = managed.claim.metadata;
    const pods = cluster.podsOf(managed, now);
    if (pods.length > 1) emptySince.delete(uid);
    else if (!emptySince.has(uid)) emptySince.set(uid, now);
    const after = waits.get(managed.pool);
    const since = emptySince.get(uid);
    if (after === undefined || since === undefined || since + after > now) continue;
    const reason = pods.length === 0 ? 'Empty' : 'Underutilized';
    const isAlone = (members.get(managed.pool)?.length ?? 0) < 2;
    if (!isFree(managed) || isHeld(managed) || isAlone || !says(managed.claim, 'Initialized')) continue;
    if (cluster.blockerOf(pods) !== undefined || !hasRoom(managed, reason)) continue;
    // Its only pod is believed to have room elsewhere.
    return disrupt({ ...managed, reason, isReplaced: false, bound: undefined });
  }
  return undefined;
}

const graceOf = ({ claim }: Managed): DurationMs | undefined => durationIn(claim.spec ?? {}, 'terminationGracePeriod');

const shorter = (a: DurationMs | undefined, b: DurationMs | undefined): DurationMs | undefined =>
  a === undefined || (b !== undefined && b < a) ? b : a;
