/**
 * Repair: what each message makes us look at. A node keeps its incident and timer (`node.ts`); what is due is decided by a pass over
 * its whole pool (`pass/run.ts`), which carries out what the pool allows.
 */
import { loadConfig } from '../../shared/cluster/configuration.ts';
import { changedOnly } from '../../shared/contract/cluster-event.ts';
import type { InboxMessage } from '../../shared/contract/inbox-message.ts';
import { DRAIN_COMPLETED } from '../../shared/contract/names.ts';
import { nodePartsOfOthers } from '../../shared/contract/node-parts.ts';
import { RESOURCES } from '../../shared/contract/resources.ts';
import { TerminalError } from '../../shared/errors.ts';
import { createReporter, type Reporter } from '../../shared/lifecycle/reporter.ts';
import { isRound, type Rounds } from '../../shared/lifecycle/rounds.ts';
import { openRecord } from '../../shared/lifecycle/timed-record.ts';
import type { FunctionDeps, Reconcile } from '../../shared/ports/function-deps.ts';
import { nodeOfRequest, parseDrainCompleted } from './actions/drain.ts';
import { decide } from './decide.ts';
import { CONCURRENT_REPAIRS_ID } from './limits/record.ts';
import { concurrentRepairsDue } from './limits/wake.ts';
import { reconcileNode } from './node.ts';
import { decidePass } from './pass/decide.ts';
import { createPasses, type Passes } from './pass/run.ts';
import { reportNodePool, reportPolicy } from './policies/report.ts';
import { isAllPolicies, policyChanged, statusDue, surroundingsChanged } from './policies/status.ts';
import { nodeCodec, nodeRecordId, OWNER, poolOfSubject } from './record.ts';
import { SETTINGS_ROUND } from '../../shared/policies/settings-rounds.ts';
import { createSettingsRounds } from './wake-ups.ts';
import { objectOf } from '../../shared/ports/read-answer.ts';

type Ports = Pick<
  FunctionDeps,
  'kubernetes' | 'records' | 'wakeUps' | 'bus' | 'instances' | 'events' | 'audit' | 'metrics' | 'clock'
>;
/** The rule for one node, and that for a pool. */
export interface Rules {
  readonly decide: typeof decide;
  readonly decidePass: typeof decidePass;
}
type Deps = Ports & Rules & { readonly reporter: Reporter; readonly passes: Passes; readonly settings: Rounds };

/** @param rules replaced in mutation tests */
export function createReconciler(ports: Ports, rules: Rules = { decide, decidePass }): Reconcile {
  const reporter = createReporter(OWNER, ports);
  const repairsChanged = (): Promise<void> => surroundingsChanged({ ...ports, reporter });
  const passes = createPasses({ ...ports, ...rules, reporter, repairsChanged });
  const settings = createSettingsRounds({ ...ports, passes });
  const deps: Deps = { ...ports, ...rules, reporter, passes, settings };
  return async message => {
    switch (message.kind) {
      case 'clusterEvent':
        return reconcileClusterEvent(deps, message.event);
      case 'wakeUp':
        return reconcileWakeUp(deps, message);
      case 'busEvent':
        return reconcileAnswer(deps, message);
      case 'customResource':
        return reconcileRemediation(deps, message.event.hints.nodeName);
      case 'tick':
        return;
    }
  };
}

async function reconcileWakeUp(deps: Deps, wakeUp: Extract<InboxMessage, { kind: 'wakeUp' }>): Promise<void> {
  const { subject } = wakeUp;
  if (isRound(subject, CONCURRENT_REPAIRS_ID)) return concurrentRepairsDue(deps, wakeUp);
  if (isRound(subject, SETTINGS_ROUND)) return deps.settings.timerDue(wakeUp);
  switch (subject.kind) {
    case 'Node':
      return reconcileNode(deps, { name: subject.name, uid: subject.uid, cause: 'timer' }, wakeUp);
    case 'NodePool':
      return deps.passes.timerDue(poolOfSubject(subject), wakeUp);
    case 'NodeLifecyclePolicy':
      return isAllPolicies(subject) ? statusDue(deps, wakeUp) : reportPolicy(deps, subject, { wakeUp });
  }
}

/** A drain has ended that a repair may have asked for; the others are not ours. */
async function reconcileAnswer(deps: Deps, { detailType, detail }: BusEvent): Promise<void> {
  if (detailType !== DRAIN_COMPLETED) return;
  const ended = parseDrainCompleted(detail);
  if (!ended.ok) throw new TerminalError('InvalidMessage', `${DRAIN_COMPLETED} is not valid: ${ended.message}`);
  const nodeUid = nodeOfRequest(ended.value.requestId);
  if (nodeUid === undefined) return;
  const held = await openRecord(deps, nodeCodec, nodeRecordId(nodeUid)).load();
  if (held.kind === 'held') await deps.passes.drainEnded(held.value.pool, ended.value);
}

/** The custom resource of a repair changed: its pool's pass looks at it. */
async function reconcileRemediation(deps: Deps, nodeName: string | undefined): Promise<void> {
  const node =
    nodeName === undefined
      ? undefined
      : objectOf(await deps.kubernetes.get({ type: RESOURCES.Node, name: nodeName }), { notServed: 'notKnown' });
  if (node === undefined) return;
  const held = await openRecord(deps, nodeCodec, nodeRecordId(node.metadata.uid)).load();
  if (held.kind === 'held') await deps.passes.poolChanged(held.value.pool);
}

/** Parts of a Node that `readNode` leaves out. */
const OF_OTHERS = nodePartsOfOthers(OWNER);

/** What changes of a Node when it goes. */
const OF_ITS_END: ReadonlySet<string> = new Set([...OF_OTHERS, 'deletionTimestamp']);

/** Parts of a NodeClaim that nothing is decided by. */
const OF_CLAIM_AS_OBJECT: ReadonlySet<string> = new Set(['finalizers', 'terminationGracePeriod']);

type BusEvent = Extract<InboxMessage, { kind: 'busEvent' }>;
type ClusterEvent = Extract<InboxMessage, { kind: 'clusterEvent' }>['event'];

async function reconcileClusterEvent(deps: Deps, event: ClusterEvent): Promise<void> {
  const { subject, change, changed, hints } = event;
  // The first list of a forwarder is a resync, too, of objects that it did not know.
  const resync = event.resync === true && change === 'Modified';
  switch (subject.kind) {
    case 'Node': {
      if (change === 'Modified' && changedOnly(changed, OF_OTHERS)) return;
      const isGoing = change === 'Modified' && changedOnly(changed, OF_ITS_END);
      if (isGoing && (await deps.passes.nodeChanged(hints.nodePool, subject.name))) return;
      // A new boot ID shows that a reboot took place.
      const isCalm = change === 'Modified' && !changed.includes('conditions') && !changed.includes('bootID');
      const onlyIfKnown = change === 'Deleted';
      await reconcileNode(deps, { name: subject.name, uid: subject.uid, cause: 'node', isCalm, onlyIfKnown });
      // A node that came, went or recovered may let the others of its pool go on; those without a pool count all nodes.
      if (isCalm) return;
      if (change !== 'Modified') await surroundingsChanged(deps);
      if (hints.nodePool !== undefined) await deps.passes.poolChanged(hints.nodePool);
      return deps.passes.poolChanged(undefined);
    }
    case 'NodeClaim':
      if (change === 'Modified' && changedOnly(changed, OF_CLAIM_AS_OBJECT)) return;
      if (hints.nodeName !== undefined) {
        if (await deps.passes.nodeChanged(hints.nodePool, hints.nodeName)) return;
        await reconcileNode(deps, { name: hints.nodeName, cause: 'surroundings', pool: hints.nodePool });
      }
      // Some node may have waited for it, or for its end.
      return deps.passes.poolChanged(hints.nodePool);
    case 'NodePool':
      await reportNodePool(deps, subject, resync);
      await surroundingsChanged(deps);
      return deps.settings.request(subject.name);
    case 'NodeLifecyclePolicy':
      await reportPolicy(deps, subject, { resync });
      await policyChanged(deps);
      return deps.settings.request(undefined);
    case 'ConfigMap':
      await loadConfig(OWNER, deps);
      await surroundingsChanged(deps);
      return deps.settings.request(undefined);
    case 'Pod':
    case 'PodDisruptionBudget':
    case 'VolumeAttachment':
    case 'FinalizerRule':
      return;
  }
}
