/** Drains: which node a message is about. */
import { loadConfig } from '../../shared/cluster/configuration.ts';
import { keepPolicy } from '../../shared/cluster/kept-policies.ts';
import { isRepublished, leavesAlone, VIRTUAL_PARTS } from '../../shared/contract/cluster-event.ts';
import type { WatchedEvent } from '../../shared/contract/inbox-message.ts';
import { createReporter } from '../../shared/lifecycle/reporter.ts';
import type { Rounds } from '../../shared/policies/rounds.ts';
import { kindRoute, routeWakeUp, type WakeUpRoute } from '../../shared/lifecycle/wake-up-route.ts';
import type { SettingsRounds } from '../../shared/policies/settings-rounds.ts';
import type { Reconcile } from '../../shared/ports/function-deps.ts';
import { readBusEvent, type NodeMessage } from './bus-event.ts';
import { answerGone } from './drain-end.ts';
import { isRequest } from './rule/phase.ts';
import { reconcileNode, REPLACEABLE_RULES, type ReconcileContext } from './reconcile.ts';
import { reportNotQuarantined, reportOtherCluster } from './report.ts';
import { DRAIN_BLOCKS } from './settings.ts';
import { reportDrainFaults } from './settings-faults.ts';
import { OWNER } from './record.ts';
import type { DrainDeps, ReplaceableRules } from './context.ts';
import { drainRounds, settingsRounds, wakeDrainOf } from './wake-ups.ts';

const KEPT_POLICIES = { owner: OWNER, readers: DRAIN_BLOCKS } as const;

interface RouteContext extends ReconcileContext {
  readonly settings: SettingsRounds;
  readonly drains: Rounds;
}

/** @param rules put in place of the real rules, by mutants only */
export function createReconciler(deps: DrainDeps, rules: Partial<ReplaceableRules> = {}): Reconcile {
  const context: RouteContext = {
    deps,
    reporter: createReporter(OWNER, deps),
    settings: settingsRounds(deps),
    drains: drainRounds(deps),
    ...REPLACEABLE_RULES,
    ...rules,
  };
  const timers: readonly WakeUpRoute[] = [
    context.settings,
    context.drains,
    kindRoute('NodeLifecyclePolicy', wakeUp => keepPolicy(deps, KEPT_POLICIES, wakeUp.subject, wakeUp)),
    kindRoute('Node', wakeUp => {
      const { name, uid } = wakeUp.subject;
      return reconcileNode(context, { name, uid }, undefined, wakeUp);
    }),
  ];
  return async message => {
    switch (message.kind) {
      case 'clusterEvent':
        return reconcileClusterEvent(context, message.event);
      case 'wakeUp':
        return routeWakeUp(timers, message);
      case 'customResource':
        return wakeDrainOf(deps, message.event.subject.name);
      case 'busEvent': {
        const read = readBusEvent(message);
        if (read !== undefined) await reconcileRequest(context, read);
        return;
      }
      case 'tick':
        return;
    }
  };
}

async function reconcileClusterEvent(context: RouteContext, event: WatchedEvent): Promise<void> {
  const { subject, hints } = event;
  const { deps } = context;
  switch (subject.kind) {
    case 'Node':
      await reconcileNode(context, {
        name: subject.name,
        uid: subject.uid,
        // A drain is asked for by annotations of the part `drain`; of a Node without one nothing else is of interest.
        // One that is opened is not drained any more.
        onlyIfKnown: leavesAlone(event, 'drain') && leavesAlone(event, 'unschedulable'),
        eventVersion: mayBeOwnWrite(event) ? event.resourceVersion : undefined,
      });
      return;
    case 'Pod':
      if (hints.nodeName !== undefined) await reconcileNode(context, { name: hints.nodeName, uid: undefined });
      return;
    case 'PodDisruptionBudget':
      return context.drains.request(undefined);
    case 'NodeLifecyclePolicy':
      await keepPolicy(deps, KEPT_POLICIES, subject);
      await reportDrainFaults(context, subject, isRepublished(event));
      return context.settings.settingsChanged(event);
    case 'ConfigMap':
      // Loading it stores a valid configuration as the last good one, before the first drain is requested.
      await loadConfig(OWNER, deps);
      return context.settings.settingsChanged(event);
    case 'VolumeAttachment':
    case 'NodeClaim':
    case 'NodePool':
    case 'FinalizerRule':
      return;
  }
}

/** Whether the event may be the drain's own write: the Node itself changed, and nothing around it. */
const mayBeOwnWrite = ({ change, changed, resync }: WatchedEvent): boolean =>
  change === 'Modified' && resync !== true && !changed.some(part => VIRTUAL_PARTS.has(part));

async function reconcileRequest(context: RouteContext, message: NodeMessage): Promise<void> {
  const { nodeName, nodeUid, sentTime, incoming } = message;
  if ((await beginsNothing(context, message)) || incoming.kind === 'notQuarantined') return;
  const isTaken = await reconcileNode(context, { name: nodeName, uid: nodeUid, sentTime }, incoming);
  if (isTaken || !isRequest(incoming)) return;
  await answerGone(context, { name: nodeName, uid: nodeUid }, incoming.request);
}

/**
 * Reports a message that begins nothing. Nothing is put on the bus: an event that is not quarantined may be by its next delivery, and one of
 * another cluster is the business of the Curfew there.
 *
 * @returns whether the message is over with that
 */
async function beginsNothing(context: RouteContext, message: NodeMessage): Promise<boolean> {
  const { id, incoming, nodeName, nodeUid } = message;
  const target = { name: nodeName, uid: nodeUid };
  const other = await otherCluster(context.deps, message.clusters);
  if (other !== undefined) await reportOtherCluster(context, target, id, other);
  else if (incoming.kind === 'notQuarantined') await reportNotQuarantined(context, target, id, incoming);
  return other !== undefined || incoming.kind === 'notQuarantined';
}

/** The first name that is not this cluster's; undefined: none. The configuration is read only where there is one to compare. */
async function otherCluster(deps: DrainDeps, clusters: readonly string[]): Promise<string | undefined> {
  const others = clusters.filter(name => name !== deps.cluster);
  if (others.length === 0) return undefined;
  const { clusterNames } = (await loadConfig(OWNER, deps)).healthEvents;
  return others.find(name => !clusterNames.includes(name));
}
