/**
 * Grace periods: look at a node and its pods, decide, act. One record per node holds the timer and what was said; the annotations on
 * the Node say themselves whose they are. Order: record (timer, claim on the Events) → Node → Events → record, so that the run after a
 * crash finds a timer that brings it back, and no two runs say the same. A run that is behind its time leaves the Events to a wake-up.
 */
import { createHoldOutOfSight, type HoldOutOfSight } from '../../shared/cluster/out-of-sight.ts';
import { leavesAlone } from '../../shared/contract/cluster-event.ts';
import type { InboxMessage, WatchedEvent } from '../../shared/contract/inbox-message.ts';
import { GRACE_PERIOD_METRICS } from '../../shared/contract/metrics.ts';
import { durationBetween } from '../../shared/domain/time.ts';
import { createTries, type Tries } from '../../shared/lifecycle/refusals.ts';
import { createReporter, type BatchReporter } from '../../shared/lifecycle/reporter.ts';
import { isRound, type Rounds } from '../../shared/lifecycle/rounds.ts';
import { again, DONE, settle, type Concern, type Turn } from '../../shared/lifecycle/settle.ts';
import { openRecords, type TimedRecord } from '../../shared/lifecycle/timed-record.ts';
import type { FunctionDeps, Reconcile } from '../../shared/ports/function-deps.ts';
import type { GracePeriodRecord } from './announced.ts';
import { announce } from './announce.ts';
import { decide, type GracePeriodDecision } from './decide.ts';
import { changeNode, releaseFirst, wanted, withMemory } from './effects.ts';
import { close } from './gone.ts';
import { mayBeReliedOn, type NodeChange } from './node-change.ts';
import { createEventsOfOthers, type EventsOfOthers } from './events-of-others.ts';
import { look, type Gone, type Here, type Progress, type Target } from './observe.ts';
import { keepProtection, reportProtectionFaults } from './policy-faults.ts';
import { gracePeriodCodec, OWNER, recordIdOf } from './record.ts';
import { createSeenObjects, type SeenObjects } from './seen-objects.ts';
import { SETTINGS_ROUND } from '../../shared/policies/settings-rounds.ts';
import { createSettingsRounds, isOfOthers } from './wake-ups.ts';

export { nodeOf } from './node-of.ts';

type Ports = Pick<FunctionDeps, 'kubernetes' | 'records' | 'wakeUps' | 'events' | 'audit' | 'metrics' | 'clock'>;
interface Own {
  readonly reporter: BatchReporter;
  readonly seen: SeenObjects;
  readonly settings: Rounds;
  readonly holdOutOfSight: HoldOutOfSight;
  readonly eventsOfOthers: EventsOfOthers;
}
type Deps = Ports & Own;
type RunDeps = Deps & { readonly tries: Tries };

/** What it remembers of pods and Events lives as long as its environment, and saves looks only. */
export function createReconciler(ports: Ports): Reconcile {
  const deps: Deps = {
    ...ports,
    reporter: createReporter(OWNER, ports),
    holdOutOfSight: createHoldOutOfSight({ clock: ports.clock, reporter: createReporter(OWNER, ports) }),
    seen: createSeenObjects(),
    eventsOfOthers: createEventsOfOthers(ports),
    settings: createSettingsRounds(ports),
  };
  return async message => {
    switch (message.kind) {
      case 'clusterEvent':
        return reconcileClusterEvent(deps, message.event);
      case 'wakeUp': {
        const { kind, name, uid } = message.subject;
        if (isRound(message.subject, SETTINGS_ROUND)) return deps.settings.timerDue(message);
        if (kind === 'NodeLifecyclePolicy') return keepProtection(deps, message.subject, message);
        if (kind === 'Node')
          await reconcileNode(deps, { name, uid, pods: 'always', dueTime: message.wakeTime }, message);
        return;
      }
      case 'customResource':
      case 'tick':
      case 'busEvent':
        return;
    }
  };
}

type WakeUp = Extract<InboxMessage, { kind: 'wakeUp' }>;

async function reconcileClusterEvent(deps: Deps, event: WatchedEvent): Promise<void> {
  const { subject, change, changed, hints, resourceVersion } = event;
  // When everything is published again, what settings apply to comes in events of its own.
  const isRepeated = event.resync === true && change === 'Modified';
  switch (subject.kind) {
    case 'Pod':
      if (hints.nodeName === undefined) return;
      if (change !== 'Deleted' && deps.seen.has(subject.uid, resourceVersion)) return;
      return reconcileNode(deps, { name: hints.nodeName, uid: undefined, pods: 'always' });
    case 'Node': {
      // This process has already looked at that version.
      if (change === 'Modified' && event.resync !== true && deps.seen.has(subject.uid, resourceVersion)) return;
      if (change === 'Modified' && isOfOthers(changed)) return;
      // Pods have events of their own, but those that came before their node; a node that only changes matters when it is known to carry
      // annotated ones.
      const pods = change === 'Added' && event.resync !== true ? 'always' : 'ifKnown';
      const onlyIfKnown = pods === 'ifKnown' && leavesAlone(event, 'protection');
      return reconcileNode(deps, { name: subject.name, uid: subject.uid, pods, onlyIfKnown });
    }
    case 'NodePool':
      return isRepeated ? undefined : deps.settings.request(subject.name);
    case 'NodeLifecyclePolicy':
      await reportProtectionFaults(deps, subject, isRepeated);
      return isRepeated ? undefined : deps.settings.request(undefined);
    case 'NodeClaim':
    case 'FinalizerRule':
    case 'PodDisruptionBudget':
    case 'VolumeAttachment':
    case 'ConfigMap':
      return;
  }
}

async function reconcileNode(deps: Deps, first: Target, wakeUp?: WakeUp): Promise<void> {
  const timed = wakeUp !== undefined;
  const tries = createTries(deps.clock);
  const progress: Progress = { timed, claimTime: undefined, announcements: [], written: undefined };
  const records = openRecords(deps, gracePeriodCodec, wakeUp);
  let opened: TimedRecord<GracePeriodRecord> | undefined;
  const recordOf = (uid: string): TimedRecord<GracePeriodRecord> => (opened = records(recordIdOf(uid)));
  if (first.uid !== undefined && (await recordOf(first.uid).isServed())) return;
  let target = first;
  const concern: Concern<Here | Gone, GracePeriodDecision | 'close'> = {
    what: `node ${first.name}`,
    async observe() {
      const seen = await look(deps, target, recordOf, progress);
      if (seen.kind === 'nothing') return { kind: 'over' };
      // I10: from now on this node is meant, not its name.
      if (seen.kind === 'here') target = { ...target, uid: seen.object.metadata.uid };
      return { kind: 'here', observation: seen };
    },
    decide: seen => (seen.kind === 'gone' ? 'close' : decide(seen.observation)),
    async apply(decision, seen) {
      if (seen.kind === 'gone') return close(deps, seen);
      if (decision === 'close') return DONE;
      const turn = await apply({ ...deps, tries }, decision, seen, progress);
      if (turn.kind === 'done') deps.seen.remember([...seen.pods, ...(progress.written ? [progress.written] : [])]);
      return turn;
    },
  };
  await deps.holdOutOfSight(
    () => opened,
    () => settle(concern),
    { isHint: true },
  );
}

async function apply(deps: RunDeps, decision: GracePeriodDecision, seen: Here, progress: Progress): Promise<Turn> {
  switch (decision.kind) {
    case 'close': {
      const changed = await changeNode(deps, seen, decision, {
        record: { announced: seen.held?.announced ?? {} },
        wakeTime: seen.observation.now,
      });
      if (changed.kind === 'again') return changed;
      const turn = afterChange(decision.node, seen);
      return turn.kind === 'again' ? turn : seen.record.release();
    }
    case 'releaseFirst': {
      const released = await releaseFirst(deps, decision, seen);
      if (released.kind === 'again') return released;
      progress.written = released.written;
      return DONE;
    }
    case 'keep':
      return keep(deps, decision, seen, progress);
  }
}

async function keep(
  deps: RunDeps,
  { node, announcements, intent, outcome, counts }: Extract<GracePeriodDecision, { kind: 'keep' }>,
  seen: Here,
  progress: Progress,
): Promise<Turn> {
  const claimed = await seen.record.save(wanted(seen, intent));
  if (claimed.written && announcements.length > 0) progress.claimTime = intent.record.claimTime;
  if (claimed.kind === 'again') return claimed;

  const changed = await changeNode(deps, seen, { node, counts }, intent);
  if (changed.kind === 'again') return changed;
  progress.written = changed.written ?? progress.written;

  await announce(deps, deps.reporter, announcements, progress.timed);
  progress.announcements = [...progress.announcements, ...announcements];
  deps.metrics.count(GRACE_PERIOD_METRICS.protectedPods, counts.protectedPods);
  if (counts.nextExpiry !== undefined) {
    const left = durationBetween(deps.clock.now(), counts.nextExpiry);
    deps.metrics.milliseconds(GRACE_PERIOD_METRICS.timeToNextExpiry, left);
  }
  const done: Turn =
    announcements.length === 0 && changed.memory === undefined
      ? DONE
      : await seen.record.save(wanted(seen, { ...outcome, record: withMemory(outcome.record, changed.memory) }));
  return done.kind === 'done' ? afterChange(node, seen) : done;
}

/** A pod that came while its node was released, and whose own run found the node still held, is found by looking once more. */
function afterChange(change: NodeChange, { observation: { node, now } }: Here): Turn {
  return change.kind === 'release' && mayBeReliedOn(node, now) ? again('the node was released') : DONE;
}
