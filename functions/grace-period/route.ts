/** Grace periods: which node a message is about. */
import { keepPolicy } from '../../shared/cluster/kept-policies.ts';
import { createPauseIfNotServed } from '../../shared/cluster/not-served.ts';
import { isRepublished, leavesAlone } from '../../shared/contract/cluster-event.ts';
import type { WatchedEvent } from '../../shared/contract/inbox-message.ts';
import { createReporter } from '../../shared/lifecycle/reporter.ts';
import { kindRoute, routeWakeUp, type WakeUpRoute } from '../../shared/lifecycle/wake-up-route.ts';
import { PROTECTION } from '../../shared/policies/protection-settings.ts';
import type { SettingsRounds } from '../../shared/policies/settings-rounds.ts';
import type { Reconcile } from '../../shared/ports/function-deps.ts';
import type { GracePeriodDeps, ReplaceableRules } from './context.ts';
import { reconcileNode, REPLACEABLE_RULES, type ReconcileContext } from './reconcile.ts';
import { OWNER } from './record.ts';
import { reportProtectionFaults } from './settings-faults.ts';
import { settingsRounds } from './wake-ups.ts';

const KEPT_POLICIES = { owner: OWNER, readers: [PROTECTION] } as const;

interface RouteContext extends ReconcileContext {
  readonly settings: SettingsRounds;
}

/** @param rules put in place of the real rules, by mutants only */
export function createReconciler(deps: GracePeriodDeps, rules: Partial<ReplaceableRules> = {}): Reconcile {
  const reporter = createReporter(OWNER, deps);
  const context: RouteContext = {
    deps,
    reporter,
    settings: settingsRounds(deps),
    pauseIfNotServed: createPauseIfNotServed({ clock: deps.clock, reporter }),
    ...REPLACEABLE_RULES,
    ...rules,
  };
  const timers: readonly WakeUpRoute[] = [
    context.settings,
    kindRoute('NodeLifecyclePolicy', wakeUp => keepPolicy(deps, KEPT_POLICIES, wakeUp.subject, wakeUp)),
    kindRoute('Node', wakeUp => {
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

async function reconcileClusterEvent(context: RouteContext, event: WatchedEvent): Promise<void> {
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
