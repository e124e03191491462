/**
 * Grace periods: look at a node and its pods, decide, act. One record per node holds the timer and what was said; the annotations on
 * the Node say themselves whose they are. Order: record (timer) → Node → Events → record, so that a run that dies leaves a timer that
 * brings the next one here (ADR 0048).
 */
import { createHoldOutOfSight, type HoldOutOfSight } from '../../shared/cluster/out-of-sight.ts';
import { isRepublished, leavesAlone } from '../../shared/contract/cluster-event.ts';
import type { WatchedEvent } from '../../shared/contract/inbox-message.ts';
import { GRACE_PERIOD_METRICS } from '../../shared/contract/metrics.ts';
import { durationBetween } from '../../shared/domain/time.ts';
import { createTries, type Tries } from '../../shared/lifecycle/refusals.ts';
import { createReporter, type Reporter } from '../../shared/lifecycle/reporter.ts';
import { again, DONE, settle, type Concern, type Turn } from '../../shared/lifecycle/settle.ts';
import { openRecords, type TimedRecord, type UsedWakeUp } from '../../shared/lifecycle/timed-record.ts';
import { ofKind, routeWakeUp, type WakeUpRoute } from '../../shared/lifecycle/wake-up-route.ts';
import type { Lookup } from '../../shared/lifecycle/subject.ts';
import type { FunctionDeps, Reconcile } from '../../shared/ports/function-deps.ts';
import { announce } from './announce.ts';
import { decide, type GracePeriodDecision } from './decide.ts';
import { changeNode, isUnsaid, wanted, withMemory } from './effects.ts';
import { close } from './gone.ts';
import type { Announcement } from './announcements.ts';
import type { NodeChange } from './node-change.ts';
import { observe, type ObservedNode, type SoughtNode } from './observe.ts';
import { keepProtection, reportProtectionFaults } from './policy-faults.ts';
import { gracePeriodCodec, OWNER, recordIdOf, type GracePeriodRecord } from './record.ts';
import type { SettingsRounds } from '../../shared/policies/settings-rounds.ts';
import { settingsRounds } from './wake-ups.ts';

type Ports = Pick<FunctionDeps, 'kubernetes' | 'records' | 'wakeUps' | 'events' | 'audit' | 'metrics' | 'clock'>;
interface Own {
  readonly reporter: Reporter;
  readonly settings: SettingsRounds;
  readonly holdOutOfSight: HoldOutOfSight;
}
type Deps = Ports & Own;
type RunDeps = Deps & { readonly tries: Tries };

/** What a later look of the same run must know. */
interface Run {
  /** A timer brought it here. */
  readonly timed: boolean;
  announced: readonly Announcement[];
}

export function createReconciler(ports: Ports): Reconcile {
  const deps: Deps = {
    ...ports,
    reporter: createReporter(OWNER, ports),
    holdOutOfSight: createHoldOutOfSight({ clock: ports.clock, reporter: createReporter(OWNER, ports) }),
    settings: settingsRounds(ports),
  };
  const timers: readonly WakeUpRoute[] = [
    deps.settings,
    ofKind('NodeLifecyclePolicy', wakeUp => keepProtection(deps, wakeUp.subject, wakeUp)),
    ofKind('Node', wakeUp => {
      const { name, uid } = wakeUp.subject;
      return reconcileNode(deps, { name, uid, pods: 'always' }, wakeUp);
    }),
  ];
  return async message => {
    switch (message.kind) {
      case 'clusterEvent':
        return reconcileClusterEvent(deps, message.event);
      case 'wakeUp':
        return routeWakeUp(timers, message);
      case 'customResource':
      case 'tick':
      case 'busEvent':
        return;
    }
  };
}

async function reconcileClusterEvent(deps: Deps, event: WatchedEvent): Promise<void> {
  const { subject, change, hints } = event;
  switch (subject.kind) {
    case 'Pod':
      if (hints.nodeName === undefined) return;
      return reconcileNode(deps, { name: hints.nodeName, uid: undefined, pods: 'always' });
    case 'Node': {
      // Pods have events of their own, except those that came before their Node. A Node that only changes matters if it is known to carry
      // annotated pods.
      const pods = change === 'Added' && event.resync !== true ? 'always' : 'ifKnown';
      const onlyIfKnown = pods === 'ifKnown' && leavesAlone(event, 'protection');
      return reconcileNode(deps, { name: subject.name, uid: subject.uid, pods, onlyIfKnown });
    }
    case 'NodePool':
      return deps.settings.changed(event);
    case 'NodeLifecyclePolicy':
      await reportProtectionFaults(deps, subject, isRepublished(event));
      return deps.settings.changed(event);
    case 'NodeClaim':
    case 'FinalizerRule':
    case 'PodDisruptionBudget':
    case 'VolumeAttachment':
    case 'ConfigMap':
      return;
  }
}

async function reconcileNode(deps: Deps, first: SoughtNode, wakeUp?: UsedWakeUp): Promise<void> {
  const run: Run = { timed: wakeUp !== undefined, announced: [] };
  const tries = createTries(deps.clock);
  const records = openRecords(deps, gracePeriodCodec, wakeUp);
  let opened: { readonly uid: string; readonly record: TimedRecord<GracePeriodRecord> } | undefined;
  const recordOf = (uid: string): TimedRecord<GracePeriodRecord> =>
    (opened = { uid, record: records(recordIdOf(uid)) }).record;
  if (first.uid !== undefined && (await recordOf(first.uid).isServed())) return;
  let target = first;
  const concern: Concern<
    Exclude<Lookup<ObservedNode, GracePeriodRecord>, { kind: 'nothing' }>,
    GracePeriodDecision | 'close'
  > = {
    what: `node ${first.name}`,
    async observe() {
      const seen = await observe(deps, target, recordOf, run.announced);
      if (seen.kind === 'nothing') return { kind: 'over' };
      // I10: from now on this node is meant, not its name.
      if (seen.kind === 'here') target = { ...target, uid: seen.observation.object.metadata.uid };
      return { kind: 'here', observation: seen };
    },
    decide: seen => (seen.kind === 'gone' ? 'close' : decide(seen.observation.input)),
    async apply(decision, seen) {
      if (seen.kind === 'gone') return close(deps, seen);
      return decision === 'close' ? DONE : apply({ ...deps, tries }, decision, seen.observation, run);
    },
  };
  await deps.holdOutOfSight(() => settle(concern), {
    opened: () => opened?.record,
    // The Node is there: it is read before anything that may not be served.
    first: () =>
      opened && {
        subject: { apiVersion: 'v1', kind: 'Node', name: target.name, uid: opened.uid },
        value: { announced: {} },
      },
  });
}

async function apply(deps: RunDeps, decision: GracePeriodDecision, seen: ObservedNode, run: Run): Promise<Turn> {
  switch (decision.kind) {
    case 'close': {
      const changed = await changeNode(deps, seen, decision, {
        record: { announced: seen.stored?.announced ?? {} },
        wakeTime: undefined,
      });
      if (changed.kind === 'again') return changed;
      const turn = afterChange(decision.node);
      return turn.kind === 'again' ? turn : seen.record.release();
    }
    case 'keep':
      return keep(deps, decision, seen, run);
  }
}

async function keep(
  deps: RunDeps,
  { node, announcements, intent, outcome, counts }: Extract<GracePeriodDecision, { kind: 'keep' }>,
  seen: ObservedNode,
  run: Run,
): Promise<Turn> {
  const intended = await seen.record.save({ ...wanted(seen, intent), punctual: !isUnsaid(intent, seen) });
  if (intended.kind === 'again') return intended;

  const changed = await changeNode(deps, seen, { node, counts }, intent);
  if (changed.kind === 'again') return changed;

  await announce(deps, announcements, run.timed);
  run.announced = [...run.announced, ...announcements];
  deps.metrics.count(GRACE_PERIOD_METRICS.protectedPods, counts.protectedPods);
  if (counts.nextExpiry !== undefined) {
    const left = durationBetween(deps.clock.now(), counts.nextExpiry);
    deps.metrics.milliseconds(GRACE_PERIOD_METRICS.timeToNextExpiry, left);
  }
  const done: Turn =
    announcements.length === 0 && changed.memory === undefined
      ? DONE
      : await seen.record.save(wanted(seen, { ...outcome, record: withMemory(outcome.record, changed.memory) }));
  // The wake-up for what is unsaid looks once more, too.
  return done.kind === 'done' && !isUnsaid(outcome, seen) ? afterChange(node) : done;
}

/** Looks once more after a release: a pod may have come meanwhile, and its own run still found the node held. */
function afterChange(change: NodeChange): Turn {
  return change.kind === 'release' ? again('the node was released') : DONE;
}
