/** Terminations: look at a NodeClaim with its Nodes, or at a Node without one, decide, act. */
import type { InboxMessage } from '../../shared/contract/inbox-message.ts';
import { EVENT_REASONS } from '../../shared/contract/reasons.ts';
import { RESOURCES } from '../../shared/contract/resources.ts';
import { addDuration, minutes, toTimestamp } from '../../shared/domain/time.ts';
import { createReporter, type Reporter } from '../../shared/lifecycle/reporter.ts';
import { isRound, type Rounds } from '../../shared/lifecycle/rounds.ts';
import { again, DONE, settle, type Concern, type Observed, type Turn } from '../../shared/lifecycle/settle.ts';
import type { Step } from '../../shared/lifecycle/steps.ts';
import type { UsedWakeUp } from '../../shared/lifecycle/timed-record.ts';
import type { Reconcile } from '../../shared/ports/function-deps.ts';
import { decide, type TerminationDecision } from './decide.ts';
import { setFinalizers } from './finalizers.ts';
import { createObserver, openNodeRecord, targetOfNode, toTerminated, type Look, type Target } from './observe.ts';
import type { TerminationRecord } from './record.ts';
import { reportTerminationFaults } from './faults.ts';
import { readNodeClaim } from '../../shared/domain/node-claim.ts';
import { KARPENTER } from '../../shared/contract/names.ts';
import type { RunMemory, TerminationContext, TerminationDeps } from './steps/context.ts';
import { isGone } from './steps/instance.ts';
import { terminate, TERMINATION_STEPS } from './terminate.ts';
import { decideRule } from './rules/decide.ts';
import { reconcileObject } from './rules/reconcile-object.ts';
import { reconcileRule } from './rules/reconcile-rule.ts';
import { createSettingsRounds, createTerminationRounds, SETTINGS_ROUND, TERMINATIONS_ROUND } from './wake-ups.ts';

const OWNER = 'finalizer';
/** Things that one run carries out one after the other: deletions, taints, the calls of hooks and of the cloud. */
const MAX_STRETCHES = 20;

/** Other rules than the real ones, for proofs of what a mistake in them would do. */
export interface Rules {
  readonly decide: typeof decide;
  readonly steps: readonly Step<TerminationContext>[];
  readonly decideRule: typeof decideRule;
}

interface Parts extends Rules {
  readonly deps: TerminationDeps;
  readonly reporter: Reporter;
  readonly settings: Rounds;
  readonly terminations: Rounds;
}

export function createReconciler(deps: TerminationDeps, rules: Partial<Rules> = {}): Reconcile {
  const parts: Parts = {
    deps,
    reporter: createReporter(OWNER, deps),
    settings: createSettingsRounds(deps),
    terminations: createTerminationRounds(deps),
    decide,
    steps: TERMINATION_STEPS,
    decideRule,
    ...rules,
  };
  return async message => {
    switch (message.kind) {
      case 'clusterEvent':
        return reconcileClusterEvent(parts, message.event);
      case 'wakeUp': {
        const { kind, name, uid } = message.subject;
        if (isRound(message.subject, SETTINGS_ROUND)) return parts.settings.timerDue(message);
        if (isRound(message.subject, TERMINATIONS_ROUND)) return parts.terminations.timerDue(message);
        if (kind === 'NodeClaim') return reconcileTarget(parts, { kind, name, uid }, message);
        if (kind === 'Node') return reconcileNode(parts, name, { uid, wakeUp: message });
        if (kind === 'FinalizerRule') return reconcileRule(parts, name, undefined);
        return reconcileObject(parts, message.subject, message);
      }
      case 'customResource':
        return reconcileObject(parts, message.event.subject);
      case 'tick':
      case 'busEvent':
        return;
    }
  };
}

type ClusterEvent = Extract<InboxMessage, { kind: 'clusterEvent' }>['event'];

async function reconcileClusterEvent(parts: Parts, event: ClusterEvent): Promise<void> {
  const { subject, hints, change, watch, resync } = event;
  const { name, uid } = subject;
  // When everything is published again, what settings apply to comes in events of its own.
  const isRepeated = resync === true && change === 'Modified';
  switch (subject.kind) {
    case 'NodeClaim':
      return reconcileTarget(parts, { kind: 'NodeClaim', name, uid }, undefined);
    case 'Node':
      return change === 'Deleted' ? reconcileGoneNode(parts, subject) : reconcileNode(parts, name);
    case 'Pod':
    case 'VolumeAttachment':
      return hints.nodeName === undefined ? undefined : reconcileNode(parts, hints.nodeName);
    case 'PodDisruptionBudget':
      return parts.terminations.request(undefined);
    case 'FinalizerRule':
      return reconcileRule(parts, name, watch);
    case 'NodePool':
      await reportTerminationFaults(parts, subject);
      return isRepeated ? undefined : parts.settings.request(name);
    case 'NodeLifecyclePolicy':
      await reportTerminationFaults(parts, subject);
      return isRepeated ? undefined : parts.settings.request(undefined);
    case 'ConfigMap':
      return;
  }
}

async function reconcileNode(
  parts: Parts,
  name: string,
  timer?: { readonly uid: string | undefined; readonly wakeUp: UsedWakeUp },
): Promise<void> {
  const target = await targetOfNode(parts.deps, name);
  const isOwn = target?.kind === 'Node' && (timer === undefined || target.uid === timer.uid);
  if (target !== undefined) await reconcileTarget(parts, target, isOwn ? timer?.wakeUp : undefined);
  // A record of the Node's own, from when no NodeClaim stood for it, or of one that is gone.
  if (timer !== undefined && !isOwn) await closeNodeRecord(parts.deps, timer.uid);
}

async function closeNodeRecord(deps: TerminationDeps, uid: string | undefined): Promise<void> {
  if (uid === undefined) return;
  const record = openNodeRecord(deps, uid);
  if ((await record.load()).kind === 'held') await record.closeGone();
}

/** Its NodeClaim may wait for it, or it went with our finalizer stripped. */
async function reconcileGoneNode(parts: Parts, { name, uid }: ClusterEvent['subject']): Promise<void> {
  await reconcileTarget(parts, { kind: 'Node', name, uid }, undefined);
  await parts.terminations.request(undefined);
}

async function reconcileTarget(parts: Parts, target: Target, wakeUp: UsedWakeUp | undefined): Promise<void> {
  const { deps } = parts;
  const observe = createObserver(deps, wakeUp);
  const run: RunMemory = { ownAttempt: undefined, ownHooks: new Set(), progressed: false };
  let left: readonly Target[] = [];
  const concern: Concern<Look, TerminationDecision> = {
    what: `${target.kind} ${target.name}`,
    async observe(): Promise<Observed<Look>> {
      const seen = await observe(target);
      if (seen.kind === 'here') return { kind: 'here', observation: seen.look };
      if (seen.kind === 'gone') {
        left = await handOver(parts, seen.value);
        await close(parts, target, seen);
      }
      return { kind: 'over' };
    },
    decide: look => parts.decide(toObservation(look)),
    apply: (decision, look) => apply(parts, run, decision, look),
  };
  // Turns that carried something out are not turns in which others were in the way: those alone are bounded by the loop.
  for (let stretch = 0; stretch < MAX_STRETCHES; stretch++) {
    run.progressed = false;
    await settle(concern);
    if (!run.progressed) break;
  }
  for (const node of left) await reconcileTarget(parts, node, undefined);
}

function toObservation({ now, claim, nodes, termination, stored }: Look): Parameters<typeof decide>[0] {
  return {
    now,
    claim: claim && toTerminated(claim),
    claimGracePeriod: claim && readNodeClaim(claim).terminationGracePeriod,
    terminationTimestamp: claim?.metadata.annotations?.[KARPENTER.terminationTimestampAnnotation],
    nodes: nodes.map(toTerminated),
    settings: termination,
    storedDeadline: stored?.deadline,
    storedNames: stored?.finalizerNames ?? [],
  };
}

async function apply(parts: Parts, run: RunMemory, decision: TerminationDecision, look: Look): Promise<Turn> {
  const { deps, reporter, steps } = parts;
  switch (decision.kind) {
    case 'terminate':
      return terminate({ deps, reporter, steps, run }, decision, look);
    case 'prepare': {
      for (const { object, finalizers, mark } of decision.changes) {
        const source = [look.object, ...look.nodes].find(({ metadata }) => metadata.uid === object.uid);
        if (source === undefined) continue;
        if ((await setFinalizers(deps, source, finalizers, mark)) === 'changed') {
          return again(`${object.kind} ${object.name} changed`);
        }
        await reporter.report({
          about: source,
          decision: 'prepare',
          reason: mark === undefined ? 'FinalizerRemoved' : 'FinalizerAdded',
          message: mark === undefined ? 'no termination of ours applies any more' : `the finalizer ${mark} is on`,
          details: { finalizers: [...finalizers] },
        });
      }
      return look.record.release();
    }
    case 'wouldTerminate':
      await reporter.report({
        about: look.object,
        decision: 'wouldTerminate',
        reason: EVENT_REASONS.terminationObserved,
        message: `mode is Observe: nothing is done, the deletion waits${
          decision.deadline === undefined ? '' : `; its deadline is ${toTimestamp(decision.deadline.time)}`
        }`,
        event: { type: 'Normal' },
      });
      return DONE;
    case 'refuse':
    case 'ignore':
      return look.record.release();
  }
}

/**
 * A NodeClaim went before its Nodes did: each of them is from now on terminated by itself, and what was promised for it goes along, so
 * that no hook runs twice and no deadline is lost.
 */
async function handOver({ deps }: Parts, value: TerminationRecord): Promise<readonly Target[]> {
  const left: Target[] = [];
  for (const [uid, { name }] of Object.entries(value.nodes)) {
    const node = await deps.kubernetes.get({ type: RESOURCES.Node, name });
    if (node?.metadata.uid !== uid || node.metadata.deletionTimestamp === undefined) continue;
    const record = openNodeRecord(deps, uid);
    if ((await record.load()).kind === 'none') {
      const subject = { apiVersion: 'v1', kind: 'Node', name, uid };
      await record.save({ subject, value, wakeTime: addDuration(deps.clock.now(), minutes(1)) });
    }
    left.push({ kind: 'Node', name, uid });
  }
  return left;
}

/** The object went while its termination was under way: somebody took our finalizer off. What it stood for may be left behind. */
async function close(
  { deps, reporter }: Parts,
  { kind, name, uid }: Target,
  { record, value }: { readonly record: { closeGone(): Promise<Turn> }; readonly value: TerminationRecord },
): Promise<void> {
  const { providerID } = value;
  const state = providerID === undefined ? undefined : (await deps.instances.describe(providerID))?.state;
  const isLeft = !isGone(state) && state !== 'shutting-down';
  const about = {
    apiVersion: kind === 'Node' ? 'v1' : 'karpenter.sh/v1',
    kind,
    metadata: { name, ...(uid !== undefined && { uid }) },
  };
  if (isLeft) {
    await reporter.report({
      about,
      decision: 'orphan',
      reason: EVENT_REASONS.possibleOrphan,
      message: `${kind} ${name} went before its termination was over, and instance ${providerID ?? ''} is ${state ?? ''}: the finalizer was taken off by somebody else`,
      details: { providerID: providerID ?? null, state: state ?? null },
      metric: { name: 'PossibleOrphan' },
      event: { type: 'Warning' },
    });
  } else {
    await reporter.report({
      about,
      decision: 'close',
      reason: 'SubjectGone',
      message: `${kind} ${name} is gone, its record is closed`,
    });
  }
  await record.closeGone();
}
