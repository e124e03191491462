/**
 * Repair: which pools a message is about. A pass of the pool does everything (`pass.ts`): there is no timer and no decision outside it. A
 * healthy node that nobody knows costs a read of the Node and of the policies, and no list.
 */
import { loadConfig } from '../../shared/cluster/configuration.ts';
import { isRepublished } from '../../shared/contract/cluster-event.ts';
import type { InboxMessage } from '../../shared/contract/inbox-message.ts';
import { DRAIN_COMPLETED } from '../../shared/contract/names.ts';
import { RESOURCES } from '../../shared/contract/resources.ts';
import { readNode, type NodeView } from '../../shared/domain/node.ts';
import { parseTimestamp } from '../../shared/domain/time.ts';
import { TerminalError } from '../../shared/errors.ts';
import { createReporter, type Reporter } from '../../shared/lifecycle/reporter.ts';
import { openRecord } from '../../shared/lifecycle/timed-record.ts';
import { ofKind, routeWakeUp, type WakeUpRoute } from '../../shared/lifecycle/wake-up-route.ts';
import type { SettingsRounds } from '../../shared/policies/settings-rounds.ts';
import type { FunctionDeps, Reconcile } from '../../shared/ports/function-deps.ts';
import { objectOf } from '../../shared/ports/read-answer.ts';
import { nodeOfRequest, parseDrainCompleted } from './actions/drain.ts';
import { OWNER, nodeCodec, nodeRecordId, drainAsk, nodeAsk } from './rule/codec.ts';
import { decidePool } from './rule/decide.ts';
import { lookAt } from './rule/follow.ts';
import { checkReservations, isReservations } from './limits.ts';
import { decideNode } from './rule/node-verdict.ts';
import { type Passes, createPasses, settingsRounds, askForNode, askIfKnown } from './passes.ts';
import { reportNodePool, reportPolicy } from './policy-status/report.ts';
import { isAllPolicies, policyChanged, statusDue, surroundingsChanged } from './policy-status/status.ts';

type Ports = Pick<
  FunctionDeps,
  'kubernetes' | 'records' | 'wakeUps' | 'bus' | 'instances' | 'events' | 'audit' | 'metrics' | 'clock'
>;
/** The rule for one node and that for a pool, and what becomes of an attempt. */
export interface Rules {
  readonly decideNode: typeof decideNode;
  readonly decidePool: typeof decidePool;
  readonly lookAt: typeof lookAt;
}
const RULES: Rules = { decideNode, decidePool, lookAt };
type Deps = Ports & Rules & { readonly reporter: Reporter; readonly passes: Passes; readonly settings: SettingsRounds };

/** @param rules replaced in mutation tests */
export function createReconciler(ports: Ports, rules: Rules = RULES): Reconcile {
  const reporter = createReporter(OWNER, ports);
  const repairsChanged = (urgency: 'count' | 'zero'): Promise<void> =>
    surroundingsChanged({ ...ports, reporter }, urgency);
  const passes = createPasses({ ...ports, ...rules, reporter, repairsChanged });
  const settings = settingsRounds({ ...ports, passes });
  const deps: Deps = { ...ports, ...rules, reporter, passes, settings };
  const timers: readonly WakeUpRoute[] = [
    ...passes.timers,
    settings,
    { takes: isReservations, timerDue: () => checkReservations(deps) },
    ofKind('Node', ({ subject: { uid } }) => askIfNodeKnown(deps, uid)),
    { takes: isAllPolicies, timerDue: wakeUp => statusDue(deps, wakeUp) },
    ofKind('NodeLifecyclePolicy', wakeUp => reportPolicy(deps, wakeUp.subject, { wakeUp })),
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

/** A pass of its pool looks at the node, if it is known by this UID. */
async function askIfNodeKnown(deps: Deps, uid: string | undefined): Promise<void> {
  if (uid === undefined) return;
  const loaded = await openRecord(deps, nodeCodec, nodeRecordId(uid)).load();
  if (loaded.kind === 'known') await deps.passes.ask(loaded.value.pool, nodeAsk(uid));
}

/** A drain has ended that a repair may have asked for; the others are not ours. */
async function reconcileAnswer(deps: Deps, { detailType, detail }: BusEvent): Promise<void> {
  if (detailType !== DRAIN_COMPLETED) return;
  const ended = parseDrainCompleted(detail);
  if (!ended.ok) throw new TerminalError('InvalidMessage', `${DRAIN_COMPLETED} is not valid: ${ended.message}`);
  const uid = nodeOfRequest(ended.value.requestId);
  if (uid === undefined) return;
  const loaded = await openRecord(deps, nodeCodec, nodeRecordId(uid)).load();
  if (loaded.kind === 'known') await deps.passes.ask(loaded.value.pool, drainAsk(uid, ended.value));
}

/** The custom resource of a repair changed: its pool's pass looks at it. */
async function reconcileRemediation(deps: Deps, nodeName: string | undefined): Promise<void> {
  const node = nodeName === undefined ? undefined : await readLive(deps, nodeName);
  await askIfNodeKnown(deps, node?.uid);
}

async function readLive({ kubernetes }: Ports, name: string): Promise<NodeView | undefined> {
  const object = objectOf(await kubernetes.get({ type: RESOURCES.Node, name }), { notServed: 'notKnown' });
  return object && readNode(object);
}

type BusEvent = Extract<InboxMessage, { kind: 'busEvent' }>;
type ClusterEvent = Extract<InboxMessage, { kind: 'clusterEvent' }>['event'];

async function reconcileClusterEvent(deps: Deps, event: ClusterEvent): Promise<void> {
  const { subject, change, hints } = event;
  // The first list of a forwarder is a resync, too, of objects that it did not know.
  const resync = isRepublished(event);
  switch (subject.kind) {
    case 'Node':
      if (change !== 'Modified') await surroundingsChanged(deps, 'count');
      return nodeChanged(deps, event);
    case 'NodeClaim': {
      const node = hints.nodeName === undefined ? undefined : await readLive(deps, hints.nodeName);
      if (node !== undefined) await askForNode(deps, node, { pool: hints.nodePool, isClaimed: true });
      else await askIfKnown(deps, hints.nodePool);
      return;
    }
    case 'NodePool':
      await reportNodePool(deps, subject, resync);
      await surroundingsChanged(deps, 'count');
      return deps.settings.changed(event);
    case 'NodeLifecyclePolicy':
      await reportPolicy(deps, subject, { resync });
      await policyChanged(deps);
      return deps.settings.changed(event);
    case 'ConfigMap':
      await loadConfig(OWNER, deps);
      await surroundingsChanged(deps, 'count');
      return deps.settings.changed(event);
    case 'Pod':
    case 'PodDisruptionBudget':
    case 'VolumeAttachment':
    case 'FinalizerRule':
      return;
  }
}

async function nodeChanged(deps: Deps, event: ClusterEvent): Promise<void> {
  const { subject, change, changed, hints, resync } = event;
  const { uid, name } = subject;
  const node = change === 'Deleted' ? undefined : await readLive(deps, name);
  if (node === undefined || node.uid !== uid) {
    const loaded = await openRecord(deps, nodeCodec, nodeRecordId(uid)).load();
    if (loaded.kind === 'known') await deps.passes.ask(loaded.value.pool, nodeAsk(uid));
    else await askIfKnown(deps, hints.nodePool);
  }
  if (node === undefined) return;
  const isChange = change === 'Modified' && resync !== true && changed.includes('conditions');
  const observedTime = isChange ? parseTimestamp(event.observedTime) : undefined;
  await askForNode(deps, node, { pool: hints.nodePool, observedTime });
}
