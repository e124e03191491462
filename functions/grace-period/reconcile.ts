/**
 * Grace periods: look at a node and its pods, decide, act. One record per node holds the timer and what was said; the annotations on
 * the Node say themselves whose they are. Order: record (timer, claim on the Events) → Node → Events → record, so that whoever comes
 * after a crash finds a timer that brings it back, and no two runs say the same.
 */
import { isDeepStrictEqual } from 'node:util';
import { parseGracePeriodRecord, toGracePeriodState } from '../../shared/contract/grace-period-record.ts';
import type { InboxMessage } from '../../shared/contract/inbox-message.ts';
import { GRACE_PERIOD_METRICS } from '../../shared/contract/metrics.ts';
import { ANNOTATIONS, KARPENTER } from '../../shared/contract/names.ts';
import { RESOURCES } from '../../shared/contract/resources.ts';
import type { GracePeriodRecord } from '../../shared/domain/grace-period-record.ts';
import type { JsonObject, KubernetesObject } from '../../shared/domain/kubernetes-object.ts';
import type { PodView } from '../../shared/domain/pod.ts';
import { annotatedPods, type Announcement } from '../../shared/domain/protection-announcements.ts';
import { DEFAULT_PROTECTION_POLICY } from '../../shared/domain/protection.ts';
import { durationBetween, toExactTimestamp, type EpochMs } from '../../shared/domain/time.ts';
import { RetryableError } from '../../shared/errors.ts';
import { announce } from '../../shared/observe/protection-events.ts';
import { gracePeriodKey, wakeAnnotatedNodes } from '../../shared/observe/grace-period-wake-ups.ts';
import { inParallel } from '../../shared/observe/in-parallel.ts';
import { loadPodsOnNode, loadProtection } from '../../shared/observe/protected-pods.ts';
import { createSeenPods, type SeenPods } from '../../shared/observe/seen-pods.ts';
import { reportProtectionFaults } from '../../shared/observe/protection-faults.ts';
import type { FunctionDeps, Reconcile } from '../../shared/ports/function-deps.ts';
import type { StoredRecord } from '../../shared/ports/record-store.ts';
import { putWithWakeUp, sendWakeUp } from '../../shared/timers/put-with-wake-up.ts';
import { decide, withAnnouncements, type GracePeriodDecision, type NodeChange, type Remembered } from './decide.ts';

type Deps = Pick<FunctionDeps, 'kubernetes' | 'records' | 'wakeUps' | 'events' | 'audit' | 'metrics' | 'clock'>;

const OWNER = 'grace-period';
/** Looks in one run before the message goes back to the queue: others are at work on this node. */
const MAX_LOOKS = 5;

export function createReconciler(deps: Deps): Reconcile {
  const seenPods = createSeenPods();
  return async message => {
    switch (message.kind) {
      case 'clusterEvent':
        return reconcileClusterEvent(deps, message.event, seenPods);
      case 'wakeUp': {
        const { kind, name, uid } = message.subject;
        if (kind === 'Node')
          await reconcileNode(deps, { name, uid, pods: 'always', wakeTime: message.wakeTime }, seenPods);
        return;
      }
      case 'tick':
      case 'busEvent':
        return;
    }
  };
}

type ClusterEvent = Extract<InboxMessage, { kind: 'clusterEvent' }>['event'];

async function reconcileClusterEvent(deps: Deps, event: ClusterEvent, seenPods: SeenPods): Promise<void> {
  const { subject, change, hints } = event;
  switch (subject.kind) {
    case 'Pod':
      if (hints.nodeName === undefined) return;
      if (change !== 'Deleted' && seenPods.has(subject.uid, event.resourceVersion)) return;
      return reconcileNode(
        deps,
        { name: hints.nodeName, uid: undefined, pods: 'always', wakeTime: undefined },
        seenPods,
      );
    case 'Node': {
      // Pods have events of their own; a node that only changes matters when it is known to carry annotated ones.
      const pods = change === 'Added' ? 'always' : 'ifKnown';
      return reconcileNode(deps, { name: subject.name, uid: subject.uid, pods, wakeTime: undefined }, seenPods);
    }
    case 'NodePool':
      return wakeAnnotatedNodes(deps, subject.name);
    case 'NodeLifecyclePolicy':
      await reportProtectionFaults(deps, subject);
      return wakeAnnotatedNodes(deps, undefined);
  }
}

interface Target {
  readonly name: string;
  readonly uid: string | undefined;
  /** `ifKnown`: list the pods only when there is a record or a mark of ours. */
  readonly pods: 'always' | 'ifKnown';
  /** Of the wake-up that brought us here, and is used up. */
  readonly wakeTime: EpochMs | undefined;
}

/** What this run did so far: a later look of the same run must know. */
interface Progress {
  claimTime: EpochMs | undefined;
  released: boolean;
  announcements: readonly Announcement[];
}

interface Look {
  readonly object: KubernetesObject;
  readonly pods: readonly PodView[];
  readonly stored: StoredRecord | undefined;
  readonly storedRecord: GracePeriodRecord | undefined;
  readonly decision: GracePeriodDecision;
}

async function reconcileNode(deps: Deps, target: Target, seenPods: SeenPods): Promise<void> {
  const progress: Progress = { claimTime: undefined, released: false, announcements: [] };
  let { uid } = target;
  for (let looks = 0; looks < MAX_LOOKS; looks++) {
    const seen = await look(deps, { ...target, uid }, progress);
    if (seen === 'gone') return uid === undefined ? undefined : close(deps, target.name, uid);
    if (seen === 'nothing') return;
    uid = seen.object.metadata.uid;
    if ((await apply(deps, seen, progress, target)) === 'again') continue;
    seenPods.remember(seen.pods);
    return;
  }
  throw new RetryableError(`node ${target.name} changed ${MAX_LOOKS} times while it was looked at`);
}

async function look(deps: Deps, target: Target, progress: Progress): Promise<Look | 'gone' | 'nothing'> {
  const object = await deps.kubernetes.get({ type: RESOURCES.Node, name: target.name });
  // I10: a node of the same name with another UID is another node.
  if (object === undefined || (target.uid !== undefined && object.metadata.uid !== target.uid)) return 'gone';
  const { uid, name, annotations = {} } = object.metadata;
  // After the Node, so that a change of the Node in between is a conflict and not a wrong decision.
  const loadPods = (): Promise<readonly PodView[]> => loadPodsOnNode(deps, name);
  const loading = target.pods === 'always' ? loadPods() : undefined;
  const [stored, early] = await inParallel([deps.records.get(gracePeriodKey(uid)), loading]);
  const marked = annotations[ANNOTATIONS.protectedUntil] !== undefined;
  const known = stored !== undefined || marked;
  if (target.pods === 'ifKnown' && !known) return 'nothing';

  const pods = early ?? (await loadPods());
  if (!known && annotatedPods(pods, DEFAULT_PROTECTION_POLICY).length === 0) return 'nothing';
  const { policy, source, mode } = await loadProtection(deps, object);
  const storedRecord = stored && parseGracePeriodRecord(stored.state);
  const decision = decide({
    now: deps.clock.now(),
    node: {
      name,
      uid,
      doNotDisrupt: annotations[KARPENTER.doNotDisruptAnnotation],
      protectedUntil: annotations[ANNOTATIONS.protectedUntil],
    },
    pods,
    policy,
    policyName: source,
    observeOnly: mode === 'Observe',
    record: { ...storedRecord, announced: withAnnouncements(storedRecord?.announced ?? {}, progress.announcements) },
    ownClaimTime: progress.claimTime,
  });
  return { object, pods, stored, storedRecord, decision };
}

/** `again`: something changed in between, or a node was let go; look once more. */
async function apply(deps: Deps, seen: Look, progress: Progress, target: Target): Promise<'done' | 'again'> {
  const { decision, object } = seen;
  const { announcements, counts } = decision;
  let stored = seen.stored;
  if (decision.intent !== undefined) {
    const saved = await save(deps, seen, decision.intent, target);
    if (saved === 'lostRace') return 'again';
    stored = saved;
    if (announcements.length > 0) progress.claimTime = decision.intent.record.claimTime;
  }

  if (decision.node.kind !== 'leave') {
    report(deps, seen, decision.node);
    const outcome = await annotate(deps, object, decision.node);
    if (outcome !== 'ok') return 'again';
  }

  // A pod that came while its node was let go, and whose own run still found the node held, is found by looking once more.
  const finished = decision.node.kind === 'release' && !progress.released ? 'again' : 'done';
  progress.released ||= decision.node.kind === 'release';
  await announce(deps, OWNER, announcements, target.wakeTime !== undefined);
  progress.announcements = [...progress.announcements, ...announcements];
  if (decision.outcome !== undefined) deps.metrics.count(GRACE_PERIOD_METRICS.protectedPods, counts.protectedPods);
  if (counts.nextExpiry !== undefined) {
    deps.metrics.milliseconds(
      GRACE_PERIOD_METRICS.timeToNextExpiry,
      durationBetween(deps.clock.now(), counts.nextExpiry),
    );
  }

  if (decision.outcome === undefined) {
    if (stored === undefined) return finished;
    const removed = await deps.records.delete(gracePeriodKey(object.metadata.uid), stored.version);
    return removed.kind === 'deleted' ? finished : 'again';
  }
  if (announcements.length > 0) {
    const storedRecord = decision.intent?.record;
    const saved = await save(deps, { ...seen, stored, storedRecord }, decision.outcome, target);
    if (saved === 'lostRace') return 'again';
  }
  return finished;
}

/** Writes the record if it says something new. A stored timer that is earlier than needed is kept: it comes in vain once. */
async function save(
  deps: Deps,
  { object, stored, storedRecord, decision }: Look,
  { record, wakeTime }: Remembered,
  target: Target,
): Promise<StoredRecord | 'lostRace'> {
  const { name, uid } = object.metadata;
  const subject = { apiVersion: 'v1', kind: 'Node', name, uid };
  const armed = stored?.nextWakeTime;
  const armedInTime = armed !== undefined && armed > deps.clock.now() && armed <= wakeTime;
  if (stored !== undefined && armedInTime && isDeepStrictEqual(record, storedRecord)) {
    // A wake-up that came early used up the message of this very timer: send another one.
    if (target.wakeTime === armed) await sendWakeUp(deps, { owner: OWNER, subject, wakeTime: armed });
    return stored;
  }
  const announced = Object.fromEntries(Object.entries(record.announced).filter(([key]) => decision.present.has(key)));
  const outcome = await putWithWakeUp(
    deps,
    { ...gracePeriodKey(uid), subject, state: toGracePeriodState({ ...record, announced }), nextWakeTime: wakeTime },
    stored?.version ?? 0,
  );
  return outcome.kind === 'written' ? outcome.record : 'lostRace';
}

/** Both annotations in one patch, on exactly the Node that was looked at. */
async function annotate(
  deps: Deps,
  { metadata: { name, uid, resourceVersion } }: KubernetesObject,
  node: Exclude<NodeChange, { kind: 'leave' }>,
): Promise<'ok' | 'changed'> {
  const annotations = annotationsFor(node);
  const body = { metadata: { uid, resourceVersion, annotations } };
  const outcome = await deps.kubernetes.patch({ type: RESOURCES.Node, name }, { type: 'merge', body });
  return outcome.kind === 'ok' ? 'ok' : 'changed';
}

function annotationsFor(node: Exclude<NodeChange, { kind: 'leave' }>): JsonObject {
  switch (node.kind) {
    case 'hold':
      return { [KARPENTER.doNotDisruptAnnotation]: 'true', [ANNOTATIONS.protectedUntil]: node.until };
    case 'release':
      return { [KARPENTER.doNotDisruptAnnotation]: null, [ANNOTATIONS.protectedUntil]: null };
    case 'disown':
      return { [ANNOTATIONS.protectedUntil]: null };
  }
}

/** The node is gone: whatever was promised about its pods ended with it. */
async function close(deps: Deps, name: string, uid: string): Promise<void> {
  const stored = await deps.records.get(gracePeriodKey(uid));
  if (stored === undefined) return;
  await deps.records.delete(gracePeriodKey(uid), stored.version);
  deps.audit.write({
    function: OWNER,
    decision: 'close',
    reason: 'NodeGone',
    message: 'the node is gone, its record is closed',
    kind: 'Node',
    name,
    uid,
  });
}

/** One audit line per change of the Node, with the numbers that it rests on. */
function report(deps: Deps, { decision, object }: Look, node: Exclude<NodeChange, { kind: 'leave' }>): void {
  const { protectedPods, elapsedPods, nextExpiry } = decision.counts;
  deps.metrics.count('GracePeriodDecision', 1, { decision: node.kind });
  deps.audit.write({
    function: OWNER,
    decision: node.kind,
    reason: node.reason,
    message: MESSAGES[node.reason],
    kind: 'Node',
    name: object.metadata.name,
    uid: object.metadata.uid,
    details: {
      protectedPods,
      elapsedPods,
      ...(node.kind === 'hold' && { protectedUntil: node.until }),
      ...(nextExpiry !== undefined && { nextExpiry: toExactTimestamp(nextExpiry) }),
    },
  });
}

const MESSAGES = {
  PodsProtected: 'pods on the node are protected: it is held',
  AnnotationRemoved: 'the annotation was removed while pods are protected: it is held again',
  GracePeriodElapsed: 'the last protection on the node ended: it is let go',
  NothingProtected: 'no pod on the node is protected any more: it is let go',
  AnnotationTakenOver: 'somebody changed the annotation: it is theirs now, the mark goes',
} as const;
