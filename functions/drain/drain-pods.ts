/** Carries one pass out: warnings, evictions and deletions, each with its answer, and what is said of them. */
import { inParallel } from '../../shared/cluster/in-parallel.ts';
import { EVENT_REASONS } from '../../shared/contract/reasons.ts';
import { DEFAULT_GRACE_PERIOD } from '../../shared/domain/drainable-pod.ts';
import type { JsonObject, KubernetesObject } from '../../shared/domain/kubernetes-object.ts';
import type { PodView } from '../../shared/domain/pod.ts';
import {
  addDuration,
  earliest,
  seconds,
  toTimestamp,
  type DurationMs,
  type EpochMs,
} from '../../shared/domain/time.ts';
import type { About, Reporter } from '../../shared/lifecycle/reporter.ts';
import {
  deleteUnchangedPod,
  evictPod,
  heldAfter,
  type EvictionAnswer,
  type HeldEvictions,
} from '../../shared/pods/eviction.ts';
import type { DrainPass, PodAct } from './pod-plan.ts';
import type { DrainDeps } from './observe.ts';

/** Requests at once: a node has about a hundred pods, and the API server has other clients. */
export const EVICTIONS_AT_ONCE = 10;

export interface PassResult {
  /** UIDs of pods whose owners have been warned. */
  readonly warned: readonly string[];
  /** Pods that go because of this pass. */
  readonly drained: number;
  /** Evictions that were refused or failed, in words. */
  readonly refusals: readonly string[];
  /** Some of them were asked for in this pass, and not a moment ago. */
  readonly isRefusedNow: boolean;
  /** Which are not asked for again for a moment. */
  readonly held: HeldEvictions | undefined;
  /** The longest that the API server asked to wait before the next try. */
  readonly retryAfter: DurationMs | undefined;
  /** Pods that changed in between, each with what is said where that goes on. */
  readonly conflicts: readonly string[];
  /** The latest time at which the first of the pods that this pass ends should be gone. */
  readonly goneBy: EpochMs | undefined;
}

interface Parts {
  readonly deps: DrainDeps;
  readonly reporter: Reporter;
}

type Answer = { readonly kind: 'warned' | 'deleted' } | EvictionAnswer;

/** A call that fails is the answer for its pod: the others are carried out. */
export async function carryOutPass(
  parts: Parts,
  node: KubernetesObject,
  { acts }: DrainPass,
  before?: HeldEvictions,
): Promise<PassResult> {
  const { name: nodeName } = node.metadata;
  const warned: string[] = [];
  const evicted: string[] = [];
  const refusals: string[] = [];
  const evictions: { readonly uid: string; readonly answer: Answer }[] = [];
  let isRefusedNow = false;
  let drained = 0;
  let retryAfter: DurationMs | undefined;
  const conflicts: string[] = [];
  let goneBy: EpochMs | undefined;
  for (let start = 0; start < acts.length; start += EVICTIONS_AT_ONCE) {
    const batch = acts.slice(start, start + EVICTIONS_AT_ONCE);
    const answers = await inParallel(batch.map(act => carryOut(parts, nodeName, act, before)));
    for (const [index, answer] of answers.entries()) {
      const act = batch[index];
      if (act === undefined) continue;
      const { pod } = act;
      if (act.kind === 'evict') evictions.push({ uid: pod.uid, answer });
      if (answer.kind === 'warned') warned.push(pod.uid);
      if (answer.kind === 'evicted') evicted.push(nameOf(pod));
      if (answer.kind === 'evicted' || answer.kind === 'deleted') {
        drained += 1;
        goneBy = earliest(goneBy, stuckAfter(act, parts.deps.clock.now()));
      }
      if (answer.kind === 'changed') conflicts.push(`${nameOf(pod)}: each eviction ends in a conflict`);
      if (answer.kind !== 'blocked' && answer.kind !== 'refused' && answer.kind !== 'failed') continue;
      refusals.push(`${nameOf(pod)}: ${answer.message}`);
      isRefusedNow ||= !('isHeld' in answer);
      const asked = answer.kind === 'refused' ? undefined : answer.retryAfter;
      if (asked !== undefined && asked > (retryAfter ?? 0)) retryAfter = asked;
    }
  }
  if (evicted.length > 0) await sayEvicted(parts.deps, node, evicted);
  const held = heldAfter(before, evictions, parts.deps.clock.now());
  return { warned, drained, refusals, isRefusedNow, held, retryAfter, conflicts, goneBy };
}

/** As `drainPodStanding` says it, with the second by which the API server rounds a deletion. */
function stuckAfter(act: PodAct, now: EpochMs): EpochMs {
  const own = act.pod.terminationGracePeriod ?? DEFAULT_GRACE_PERIOD;
  const given = act.kind === 'warn' || act.gracePeriodSeconds === undefined ? own : seconds(act.gracePeriodSeconds);
  return addDuration(addDuration(addDuration(now, given), own), seconds(1));
}

async function carryOut(
  { deps, reporter }: Parts,
  node: string,
  act: PodAct,
  held: HeldEvictions | undefined,
): Promise<Answer> {
  const { pod } = act;
  const about: About = {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: pod.name, namespace: pod.namespace, uid: pod.uid },
  };
  switch (act.kind) {
    case 'warn':
      await warn({ deps, reporter }, about, act, node);
      return { kind: 'warned' };
    case 'evict': {
      const answer = await evictPod(deps, pod, { gracePeriodSeconds: act.gracePeriodSeconds, held });
      if (answer.kind !== 'evicted') return answer;
      await reporter.report({
        about,
        decision: 'evict',
        reason: EVENT_REASONS.evicted,
        message: `evicted: node ${node} is drained${inSpiteOf(act)}`,
        details: { node, gracePeriodSeconds: act.gracePeriodSeconds ?? null, ...overriddenBy(act) },
        metric: { name: 'PodEviction', dimensions: { answer: answer.kind } },
      });
      return answer;
    }
    case 'delete': {
      const answer = await deleteUnchangedPod(deps, pod, act.gracePeriodSeconds);
      if (answer.kind !== 'deleted') return answer;
      await reporter.report({
        about,
        decision: 'delete',
        reason: EVENT_REASONS.disrupted,
        message: `deleted with a grace period of ${act.gracePeriodSeconds} s: the time for node ${node} to drain is over${inSpiteOf(act)}`,
        details: { node, gracePeriodSeconds: act.gracePeriodSeconds, ...overriddenBy(act) },
        metric: { name: 'PodForcedDeletion' },
        event: { type: 'Normal' },
      });
      return answer;
    }
  }
}

type PodEnd = Exclude<PodAct, { kind: 'warn' }>;

/** A drain ends a protected pod only once its NodeClaim is past the instant from which it is terminated by force (I2). */
const inSpiteOf = ({ overrides }: PodEnd): string =>
  overrides === undefined ? '' : '; it was protected, and its NodeClaim is past its termination timestamp';

const overriddenBy = ({ overrides }: PodEnd): JsonObject =>
  overrides === undefined ? {} : { overriddenProtection: overrides.kind };

/** One for a pass, on the Node: Events of each pod would be half of what a storm writes (ADR 0016). */
function sayEvicted({ events }: DrainDeps, node: KubernetesObject, pods: readonly string[]): Promise<void> {
  const message = `evicted ${pods.length} pod${pods.length === 1 ? '' : 's'}: ${pods.join(', ')}`;
  return events.record({ type: 'Normal', reason: EVENT_REASONS.evicted, message, about: node });
}

/** On the pod, and on the controller that will replace it. */
async function warn(
  { deps, reporter }: Parts,
  about: About,
  { pod, deleteTime }: Extract<PodAct, { kind: 'warn' }>,
  node: string,
): Promise<void> {
  const reason = EVENT_REASONS.deletionScheduled;
  const time = toTimestamp(deleteTime);
  await reporter.report({
    about,
    decision: 'warn',
    reason,
    message: `node ${node} is drained: the pod is deleted at ${time} unless it ends before`,
    details: { node, deleteTime: time },
    event: { type: 'Warning' },
  });
  const owner = pod.ownerReferences.find(({ controller }) => controller === true);
  if (owner === undefined) return;
  const { apiVersion, kind, name, uid } = owner;
  await deps.events.record({
    type: 'Warning',
    reason,
    message: `node ${node} is drained: pod ${pod.name} is deleted at ${time} unless it ends before`,
    about: { apiVersion, kind, metadata: { name, namespace: pod.namespace, uid } },
  });
}

/** As audit lines and Events write it. */
export const nameOf = ({ namespace, name }: PodView): string => `${namespace}/${name}`;
