/**
 * Grace periods: look at a node and its pods, decide, act. One record per node holds the timer and the announced keys; the annotations on the
 * Node say themselves whose they are.
 */
import { keepPolicy } from '../../shared/cluster/kept-policies.ts';
import { createPauseOutOfSight, type PauseOutOfSight } from '../../shared/cluster/out-of-sight.ts';
import { isRepublished, leavesAlone } from '../../shared/contract/cluster-event.ts';
import { EVENT_REASONS } from '../../shared/contract/reasons.ts';
import { aboutSubject, type Subject } from '../../shared/contract/subject.ts';
import type { WatchedEvent } from '../../shared/contract/inbox-message.ts';
import { nodeSubject } from '../../shared/domain/node.ts';
import { createTries, noteRefusedRead, reportWarning } from '../../shared/lifecycle/refusals.ts';
import { createReporter, type Reporter } from '../../shared/lifecycle/reporter.ts';
import { settle, type Concern, type Observed } from '../../shared/lifecycle/settle.ts';
import { openRecords, type TimedRecord, type UsedWakeUp } from '../../shared/lifecycle/timed-record.ts';
import { ofKind, routeWakeUp, type WakeUpRoute } from '../../shared/lifecycle/wake-up-route.ts';
import { PROTECTION } from '../../shared/policies/protection-settings.ts';
import type { SettingsRounds } from '../../shared/policies/settings-rounds.ts';
import type { Reconcile } from '../../shared/ports/function-deps.ts';
import { orUnavailable } from '../../shared/ports/read-answer.ts';
import { apply, closeGone } from './apply.ts';
import type { GracePeriodContext, GracePeriodDeps } from './context.ts';
import { decide, type GracePeriodDecision } from './decide.ts';
import { observe, type ObservedNode, type TargetNode } from './observe.ts';
import { GRACE_PERIOD_CODEC, OWNER, recordIdOf, type GracePeriodRecord } from './record.ts';
import { reportProtectionFaults } from './settings-faults.ts';
import { settingsRounds } from './wake-ups.ts';

const KEPT_POLICIES = { owner: OWNER, readers: [PROTECTION] } as const;

/** The rules of the concern. Mutants put mistakes in their place. */
export interface ReplaceableRules {
  readonly decide: typeof decide;
}

interface ReconcileContext extends ReplaceableRules {
  readonly deps: GracePeriodDeps;
  readonly reporter: Reporter;
  readonly settings: SettingsRounds;
  readonly pauseOutOfSight: PauseOutOfSight;
}

/** @param rules put in place of the real rules, by mutants only */
export function createReconciler(deps: GracePeriodDeps, rules: Partial<ReplaceableRules> = {}): Reconcile {
  const reporter = createReporter(OWNER, deps);
  const context: ReconcileContext = {
    deps,
    reporter,
    settings: settingsRounds(deps),
    pauseOutOfSight: createPauseOutOfSight({ clock: deps.clock, reporter }),
    decide,
    ...rules,
  };
  const timers: readonly WakeUpRoute[] = [
    context.settings,
    ofKind('NodeLifecyclePolicy', wakeUp => keepPolicy(deps, KEPT_POLICIES, wakeUp.subject, wakeUp)),
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
      await keepPolicy(context.deps, KEPT_POLICIES, subject);
      await reportProtectionFaults(context, subject, isRepublished(event));
      return context.settings.settingsChanged(event);
    case 'NodeClaim':
    case 'FinalizerRule':
    case 'PodDisruptionBudget':
    case 'VolumeAttachment':
    case 'ConfigMap':
      return;
  }
}

async function reconcileNode(context: ReconcileContext, first: TargetNode, wakeUp?: UsedWakeUp): Promise<void> {
  const { deps, reporter, pauseOutOfSight } = context;
  const run: GracePeriodContext = {
    deps,
    reporter,
    tries: createTries(deps.clock),
    isFromTimer: wakeUp !== undefined,
    announcements: [],
  };
  const records = openRecords(deps, GRACE_PERIOD_CODEC, wakeUp);
  let opened: { readonly uid: string; readonly record: TimedRecord<GracePeriodRecord> } | undefined;
  const recordOf = (uid: string): TimedRecord<GracePeriodRecord> =>
    (opened = { uid, record: records(recordIdOf(uid)) }).record;
  if (first.uid !== undefined && (await recordOf(first.uid).isWakeUpSuperseded())) return;
  let target = first;
  const firstState = (): { readonly subject: Subject; readonly value: GracePeriodRecord } | undefined =>
    opened && {
      subject: nodeSubject({ name: target.name, uid: opened.uid }),
      value: { announcedKeys: {} },
    };
  const reportOf = (subject: Subject) => reportWarning(reporter, aboutSubject(subject), EVENT_REASONS.readRefused);
  const concern: Concern<ObservedNode, GracePeriodDecision> = {
    what: `node ${first.name}`,
    async observe(): Promise<Observed<ObservedNode>> {
      const found = await orUnavailable(observe(deps, { recordOf, announcements: run.announcements }, target));
      if (found.kind === 'unavailable') {
        // An annotated pod or a new Node: the record says all that their message did.
        const first = target.pods === 'always' ? firstState() : undefined;
        const { tries } = run;
        await noteRefusedRead(found.error, { tries, record: opened?.record, first, reportOf, isRequest: false });
        return { kind: 'over' };
      }
      if (found.kind === 'nothing') return { kind: 'over' };
      if (found.kind === 'gone') return { kind: 'over', turn: await closeGone({ reporter }, found) };
      // I10: from now on this node is meant, not its name.
      target = { ...target, uid: found.observation.object.metadata.uid };
      return found;
    },
    decide: observed => context.decide(observed.observation),
    apply: (decision, observed) => apply(run, decision, observed),
  };
  await pauseOutOfSight(() => settle(concern), {
    openedRecord: () => opened?.record,
    // The Node is there: it is read before anything that may not be served.
    firstState,
  });
}
