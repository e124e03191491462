/**
 * Grace periods: look at a node and its pods, decide, act. One record per node holds the timer and what was said; the annotations on
 * the Node say themselves whose they are.
 */
import { createPauseOutOfSight, type PauseOutOfSight } from '../../shared/cluster/out-of-sight.ts';
import { isRepublished, leavesAlone } from '../../shared/contract/cluster-event.ts';
import type { WatchedEvent } from '../../shared/contract/inbox-message.ts';
import { createTries } from '../../shared/lifecycle/refusals.ts';
import { createReporter, type Reporter } from '../../shared/lifecycle/reporter.ts';
import { DONE, settle, type Concern } from '../../shared/lifecycle/settle.ts';
import type { Lookup } from '../../shared/lifecycle/subject.ts';
import { openRecords, type TimedRecord, type UsedWakeUp } from '../../shared/lifecycle/timed-record.ts';
import { ofKind, routeWakeUp, type WakeUpRoute } from '../../shared/lifecycle/wake-up-route.ts';
import type { SettingsRounds } from '../../shared/policies/settings-rounds.ts';
import type { Reconcile } from '../../shared/ports/function-deps.ts';
import { apply, closeGone } from './apply.ts';
import type { GracePeriodContext, GracePeriodDeps } from './context.ts';
import { decide, type GracePeriodDecision } from './decide.ts';
import { observe, type ObservedNode, type SoughtNode } from './observe.ts';
import { gracePeriodCodec, OWNER, recordIdOf, type GracePeriodRecord } from './record.ts';
import { keepProtection, reportProtectionFaults } from './settings.ts';
import { settingsRounds } from './wake-ups.ts';

interface ReconcileContext {
  readonly deps: GracePeriodDeps;
  readonly reporter: Reporter;
  readonly settings: SettingsRounds;
  readonly pauseOutOfSight: PauseOutOfSight;
}

export function createReconciler(deps: GracePeriodDeps): Reconcile {
  const reporter = createReporter(OWNER, deps);
  const context: ReconcileContext = {
    deps,
    reporter,
    settings: settingsRounds(deps),
    pauseOutOfSight: createPauseOutOfSight({ clock: deps.clock, reporter }),
  };
  const timers: readonly WakeUpRoute[] = [
    context.settings,
    ofKind('NodeLifecyclePolicy', wakeUp => keepProtection(deps, wakeUp.subject, wakeUp)),
    ofKind('Node', wakeUp => {
      const { name, uid } = wakeUp.subject;
      return reconcileNode(context, { name, uid, pods: 'always' }, wakeUp);
    }),
  ];
  return async message => {
    switch (message.kind) {
      case 'clusterEvent':
        return reconcileClusterEvent(context, message.event);
      case 'wakeUp':
        return routeWakeUp(timers, message);
      case 'customResource':
      case 'tick':
      case 'busEvent':
        return;
    }
  };
}

async function reconcileClusterEvent(context: ReconcileContext, event: WatchedEvent): Promise<void> {
  const { subject, change, hints } = event;
  switch (subject.kind) {
    case 'Pod':
      if (hints.nodeName === undefined) return;
      return reconcileNode(context, { name: hints.nodeName, uid: undefined, pods: 'always' });
    case 'Node': {
      // Pods have events of their own, except those that came before their Node. A Node that only changes matters if it is known to carry
      // annotated pods.
      const pods = change === 'Added' && event.resync !== true ? 'always' : 'ifKnown';
      const onlyIfKnown = pods === 'ifKnown' && leavesAlone(event, 'protection');
      return reconcileNode(context, { name: subject.name, uid: subject.uid, pods, onlyIfKnown });
    }
    case 'NodePool':
      return context.settings.settingsChanged(event);
    case 'NodeLifecyclePolicy':
      await reportProtectionFaults(context.deps, subject, isRepublished(event));
      return context.settings.settingsChanged(event);
    case 'NodeClaim':
    case 'FinalizerRule':
    case 'PodDisruptionBudget':
    case 'VolumeAttachment':
    case 'ConfigMap':
      return;
  }
}

type FoundNode = Exclude<Lookup<ObservedNode, GracePeriodRecord>, { kind: 'nothing' }>;

async function reconcileNode(
  { deps, reporter, pauseOutOfSight }: ReconcileContext,
  first: SoughtNode,
  wakeUp?: UsedWakeUp,
): Promise<void> {
  const run: GracePeriodContext = {
    deps,
    reporter,
    tries: createTries(deps.clock),
    isFromTimer: wakeUp !== undefined,
    announcements: [],
  };
  const records = openRecords(deps, gracePeriodCodec, wakeUp);
  let opened: { readonly uid: string; readonly record: TimedRecord<GracePeriodRecord> } | undefined;
  const recordOf = (uid: string): TimedRecord<GracePeriodRecord> =>
    (opened = { uid, record: records(recordIdOf(uid)) }).record;
  if (first.uid !== undefined && (await recordOf(first.uid).isWakeUpSuperseded())) return;
  let target = first;
  const concern: Concern<FoundNode, GracePeriodDecision | 'closeGone'> = {
    what: `node ${first.name}`,
    async observe() {
      const found = await observe(deps, target, recordOf, run.announcements);
      if (found.kind === 'nothing') return { kind: 'over' };
      // I10: from now on this node is meant, not its name.
      if (found.kind === 'here') target = { ...target, uid: found.observation.object.metadata.uid };
      return { kind: 'here', observation: found };
    },
    decide: found => (found.kind === 'gone' ? 'closeGone' : decide(found.observation.observation)),
    async apply(decision, found) {
      if (found.kind === 'gone') return closeGone({ reporter }, found);
      return decision === 'closeGone' ? DONE : apply(run, decision, found.observation);
    },
  };
  await pauseOutOfSight(() => settle(concern), {
    openedRecord: () => opened?.record,
    // The Node is there: it is read before anything that may not be served.
    firstState: () =>
      opened && {
        subject: { apiVersion: 'v1', kind: 'Node', name: target.name, uid: opened.uid },
        value: { announcedKeys: {} },
      },
  });
}
