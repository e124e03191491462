/**
 * Repair: a message says which pool it is about, and a pass of the pool does everything for its nodes (`reconcile.ts`).
 * Reservations, statuses and settings have timers of their own. For a healthy node that nobody knows, no nodes are
 * listed, unless something is blocked or in flight in its pool.
 */
import { parseDrainCompleted } from './actions/drain.ts';
import type { ReplaceableRules } from './context.ts';
import { checkReservations, isReservations } from './reservation-record.ts';
import { reconcilePool, REPLACEABLE_RULES } from './reconcile.ts';
import type { PolicyStatusDeps } from './policy-status/context.ts';
import { policyChanged, statusTimers, surroundingsChanged } from './policy-status/wake-ups.ts';
import { OWNER, type RepairDeps } from './common/context.ts';
import { reportNodePool, reportPolicy } from './settings-faults.ts';
import {
  requestPassForChange,
  requestPassForNode,
  requestPassIfBusy,
  requestPassIfRemembered,
  settingsRounds,
} from './wake-ups.ts';
import { createPasses, type Passes, repairCountsOf } from './pass-queue.ts';
import { getNodeView } from '../../shared/cluster/lists.ts';
import { loadConfig } from '../../shared/cluster/configuration.ts';
import { isRepublished } from '../../shared/contract/cluster-event.ts';
import type { InboxMessage } from '../../shared/contract/inbox-message.ts';
import { DRAIN_COMPLETED } from '../../shared/contract/names.ts';
import { nodeOfRequest } from '../../shared/domain/source.ts';
import { TerminalError } from '../../shared/errors.ts';
import { createReporter } from '../../shared/lifecycle/reporter.ts';
import { kindRoute, routeWakeUp, type WakeUpRoute } from '../../shared/lifecycle/wake-up-route.ts';
import type { SettingsRounds } from '../../shared/policies/settings-rounds.ts';
import type { Reconcile } from '../../shared/ports/function-deps.ts';

type Deps = RepairDeps & PolicyStatusDeps & { readonly passes: Passes; readonly settings: SettingsRounds };
type MessageOf<Kind> = Extract<InboxMessage, { readonly kind: Kind }>;

/** Creates the reconciler of repair. @param rules put in place of the real rules, by mutants only */
export function createReconciler(ports: RepairDeps, rules: Partial<ReplaceableRules> = {}): Reconcile {
  const reporter = createReporter(OWNER, ports);
  const status: PolicyStatusDeps = { ...ports, reporter, repairCountsOf: pool => repairCountsOf(ports, pool) };
  const repairsChanged = (urgency: 'count' | 'zero'): Promise<void> => surroundingsChanged(status, urgency);
  const passes = createPasses({ ...ports, ...REPLACEABLE_RULES, ...rules, reporter, repairsChanged }, reconcilePool);
  const settings = settingsRounds({ ...ports, passes });
  const deps: Deps = { ...ports, ...status, passes, settings };
  const timers: readonly WakeUpRoute[] = [
    ...passes.timers,
    settings,
    { takes: isReservations, timerDue: () => checkReservations(deps) },
    kindRoute('Node', async ({ subject: { uid } }) => void (await requestPassIfRemembered(deps, uid))),
    ...statusTimers(deps),
    kindRoute('NodeLifecyclePolicy', wakeUp => reportPolicy(deps, wakeUp.subject, { wakeUp })),
  ];
  return async message => {
    switch (message.kind) {
      case 'clusterEvent':
        return reconcileClusterEvent(deps, message.event);
      case 'wakeUp':
        return routeWakeUp(timers, message);
      case 'busEvent':
        return reconcileAnswer(deps, message);
      case 'customResource':
        return reconcileRemediation(deps, message.event.hints.nodeName);
      case 'tick':
        return;
    }
  };
}

/** Takes the end of a drain that a repair may have asked for; other drains are not ours. */
async function reconcileAnswer(deps: Deps, { detailType, detail }: MessageOf<'busEvent'>): Promise<void> {
  if (detailType !== DRAIN_COMPLETED) return;
  const ended = parseDrainCompleted(detail);
  if (!ended.ok) throw new TerminalError('InvalidMessage', `${DRAIN_COMPLETED} is not valid: ${ended.message}`);
  if (ended.value === undefined) return;
  const uid = nodeOfRequest(ended.value.requestId);
  if (uid !== undefined) await requestPassIfRemembered(deps, uid, { kind: 'drainEnd', uid, end: ended.value });
}

/** Asks for a pass after the custom resource of a repair changed. */
async function reconcileRemediation(deps: Deps, nodeName: string | undefined): Promise<void> {
  const node = nodeName === undefined ? undefined : await getNodeView(deps, nodeName);
  await requestPassIfRemembered(deps, node?.uid);
}

async function reconcileClusterEvent(deps: Deps, event: MessageOf<'clusterEvent'>['event']): Promise<void> {
  const { subject, change, hints } = event;
  // The first list of a forwarder is a resync, too, of objects that it did not know.
  const resync = isRepublished(event);
  switch (subject.kind) {
    case 'Node':
      if (change !== 'Modified') await surroundingsChanged(deps, 'count');
      return requestPassForChange(deps, event);
    case 'NodeClaim': {
      const node = hints.nodeName === undefined ? undefined : await getNodeView(deps, hints.nodeName);
      if (node !== undefined) await requestPassForNode(deps, node, { pool: hints.nodePool, event, isClaimed: true });
      else await requestPassIfBusy(deps, { pool: hints.nodePool, event });
      return;
    }
    case 'NodePool':
      await reportNodePool(deps, subject, resync);
      await surroundingsChanged(deps, 'count');
      return deps.settings.settingsChanged(event);
    case 'NodeLifecyclePolicy':
      await reportPolicy(deps, subject, { resync });
      await policyChanged(deps);
      return deps.settings.settingsChanged(event);
    case 'ConfigMap':
      await loadConfig(OWNER, deps);
      await surroundingsChanged(deps, 'count');
      return deps.settings.settingsChanged(event);
    case 'Pod':
    case 'PodDisruptionBudget':
    case 'VolumeAttachment':
    case 'FinalizerRule':
      return;
  }
}
