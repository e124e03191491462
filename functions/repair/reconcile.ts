/**
 * Repair: what each message makes us look at. A node keeps its incident and timer (`node.ts`); what is due is decided by a pass over
 * its whole pool (`pass/run.ts`), which carries out what the pool allows.
 */
import { loadConfig } from '../../shared/cluster/configuration.ts';
import type { InboxMessage } from '../../shared/contract/inbox-message.ts';
import { createReporter, type Reporter } from '../../shared/lifecycle/reporter.ts';

import type { FunctionDeps, Reconcile } from '../../shared/ports/function-deps.ts';
import { decide } from './decide.ts';
import { reconcileNode } from './node.ts';
import { decidePass } from './pass/decide.ts';
import { poolOfSubject } from './pass/record.ts';
import { createPasses, type Passes } from './pass/run.ts';
import { reportNodePool, reportPolicy } from './policies/report.ts';
import { OWNER } from './record.ts';
import { settingsChanged } from './wake-ups.ts';

type Ports = Pick<FunctionDeps, 'kubernetes' | 'records' | 'wakeUps' | 'events' | 'audit' | 'metrics' | 'clock'>;
/** The rule for one node, and that for a pool. */
export interface Rules {
  readonly decide: typeof decide;
  readonly decidePass: typeof decidePass;
}
type Deps = Ports & Rules & { readonly reporter: Reporter; readonly passes: Passes };

/** @param rules replaced in mutation tests */
export function createReconciler(ports: Ports, rules: Rules = { decide, decidePass }): Reconcile {
  const reporter = createReporter(OWNER, ports);
  const deps: Deps = { ...ports, ...rules, reporter, passes: createPasses({ ...ports, ...rules, reporter }) };
  return async message => {
    switch (message.kind) {
      case 'clusterEvent':
        return reconcileClusterEvent(deps, message.event);
      case 'wakeUp':
        return reconcileWakeUp(deps, message);
      case 'tick':
      case 'busEvent':
      case 'customResource':
        return;
    }
  };
}

async function reconcileWakeUp(deps: Deps, wakeUp: Extract<InboxMessage, { kind: 'wakeUp' }>): Promise<void> {
  const { subject } = wakeUp;
  switch (subject.kind) {
    case 'Node':
      return reconcileNode(deps, { name: subject.name, uid: subject.uid, cause: 'timer' }, wakeUp);
    case 'NodePool':
      return deps.passes.timerDue(poolOfSubject(subject), wakeUp);
    case 'NodeLifecyclePolicy':
      return reportPolicy(deps, subject, { wakeUp });
  }
}

type ClusterEvent = Extract<InboxMessage, { kind: 'clusterEvent' }>['event'];

async function reconcileClusterEvent(deps: Deps, event: ClusterEvent): Promise<void> {
  const { subject, change, changed, hints } = event;
  // The first list of a forwarder is a resync, too, of objects that it did not know.
  const resync = event.resync === true && change === 'Modified';
  switch (subject.kind) {
    case 'Node': {
      const flipped = changed.includes('conditions');
      const isCalm = change === 'Modified' && !flipped;
      await reconcileNode(deps, { name: subject.name, uid: subject.uid, cause: 'node', isCalm });
      // A node that came, went or recovered may let the others of its pool go on; those without a pool count all nodes.
      if (isCalm) return;
      if (hints.nodePool !== undefined) await deps.passes.poolChanged(hints.nodePool);
      return deps.passes.poolChanged(undefined);
    }
    case 'NodeClaim':
      if (hints.nodeName !== undefined) await reconcileNode(deps, { name: hints.nodeName, cause: 'surroundings' });
      // Some node may have waited for it, or for its end.
      return deps.passes.poolChanged(hints.nodePool);
    case 'NodePool':
      await reportNodePool(deps, subject, resync);
      return settingsChanged(deps, subject.name);
    case 'NodeLifecyclePolicy':
      await reportPolicy(deps, subject, { resync });
      return settingsChanged(deps, undefined);
    case 'ConfigMap':
      await loadConfig(OWNER, deps);
      return settingsChanged(deps, undefined);
    case 'Pod':
    case 'PodDisruptionBudget':
    case 'VolumeAttachment':
    case 'FinalizerRule':
      return;
  }
}
