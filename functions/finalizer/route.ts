/** Terminations and FinalizerRules: finds the object that a message is about. */
import { OWNER, type FinalizerDeps } from './common/context.ts';
import { createPauseIfNotServed } from '../../shared/cluster/not-served.ts';
import { changedOnly, isRepublished, type ClusterEvent } from '../../shared/contract/cluster-event.ts';
import type { WatchedEvent } from '../../shared/contract/inbox-message.ts';
import { HOOK_ANSWERED, ORPHAN_FORGOTTEN } from '../../shared/contract/names.ts';
import type { Subject } from '../../shared/contract/subject.ts';
import { createReporter } from '../../shared/lifecycle/reporter.ts';
import { isOrphanCheck } from '../../shared/contract/wake-up.ts';
import type { Rounds } from '../../shared/policies/rounds.ts';
import { kindRoute, routeWakeUp, type SubjectWakeUp, type WakeUpRoute } from '../../shared/lifecycle/wake-up-route.ts';
import { valueOrUnavailable } from '../../shared/ports/read-answer.ts';
import type { Reconcile } from '../../shared/ports/function-deps.ts';
import { keepPolicy } from '../../shared/cluster/kept-policies.ts';
import { PROTECTION } from '../../shared/policies/protection-settings.ts';
import { TERMINATION_BLOCK } from './termination/settings.ts';
import { createClaimCache } from './termination/claim-cache.ts';
import { reportTerminationFaults } from './termination/settings-faults.ts';
import { closeNodeRecord } from './termination/end.ts';
import { checkForOrphans } from './orphans/wake-ups.ts';
import { forgetOrphan } from './orphans/forget-request.ts';
import { reconcileInstance } from './orphans/reconcile.ts';
import { isInstance } from './orphans/record.ts';
import { targetOfNode } from './termination/observe.ts';
import { isKnownPool, updateKnownPool } from './termination/known-pools.ts';
import { noteUnreadNode } from './termination/unread.ts';
import { reconcileTarget, REPLACEABLE_RULES as TERMINATION_RULES } from './termination/reconcile.ts';
import type { ObjectContext, ReplaceableRules as RulesOfObjects } from './objects/context.ts';
import { reconcileObject, REPLACEABLE_RULES as OBJECT_RULES } from './objects/reconcile.ts';
import { reconcileOtherFinalizerRules, reconcileFinalizerRule } from './finalizer-rules/reconcile.ts';
import { finalizerRuleRounds } from './finalizer-rules/wake-ups.ts';
import type { ReplaceableRules as RulesOfTerminations, TerminationContext } from './termination/context.ts';
import type { SettingsRounds } from '../../shared/policies/settings-rounds.ts';
import { settingsRounds, terminationRounds } from './wake-ups.ts';
import { reconcileAnswer, reconcileHook } from './worker-answers.ts';

/** Owner and blocks of the policies that a termination goes by. */
const KEPT_POLICIES = { owner: OWNER, readers: [TERMINATION_BLOCK, PROTECTION] } as const;

type RouteContext = TerminationContext &
  ObjectContext &
  Readonly<Record<'terminationRounds' | 'finalizerRuleRounds', Rounds>> & { readonly settings: SettingsRounds };

/** @param rules put in place of the real rules and steps, by mutants only */
export function createReconciler(
  deps: FinalizerDeps,
  rules: Partial<RulesOfTerminations & RulesOfObjects> = {},
): Reconcile {
  const reporter = createReporter(OWNER, deps);
  const context: RouteContext = {
    deps,
    reporter,
    pauseIfNotServed: createPauseIfNotServed({ clock: deps.clock, reporter }),
    claimCache: createClaimCache(),
    settings: settingsRounds(deps),
    terminationRounds: terminationRounds(deps),
    finalizerRuleRounds: finalizerRuleRounds(deps),
    ...TERMINATION_RULES,
    ...OBJECT_RULES,
    ...rules,
  };
  const timers: readonly WakeUpRoute[] = [
    context.settings,
    context.terminationRounds,
    context.finalizerRuleRounds,
    { takes: isOrphanCheck, timerDue: () => checkForOrphans(deps) },
    { takes: isKnownPool, timerDue: wakeUp => updateKnownPool(deps, wakeUp.subject.name, wakeUp) },
    { takes: isInstance, timerDue: wakeUp => reconcileInstance(context, wakeUp.subject.name, { wakeUp }) },
    kindRoute('NodeLifecyclePolicy', wakeUp => keepPolicy(deps, KEPT_POLICIES, wakeUp.subject, wakeUp)),
    kindRoute('NodeClaim', wakeUp => {
      const { name, uid } = wakeUp.subject;
      return reconcileTarget(context, { kind: 'NodeClaim', name, uid }, wakeUp);
    }),
    kindRoute('Node', wakeUp => reconcileNode(context, wakeUp.subject.name, { wakeUp })),
    kindRoute('FinalizerRule', wakeUp => reconcileFinalizerRule(context, wakeUp.subject.name, { wakeUp })),
    // All other kinds are those of FinalizerRules.
    { takes: () => true, timerDue: wakeUp => reconcileObject(context, wakeUp.subject, wakeUp) },
  ];
  return async message => {
    switch (message.kind) {
      case 'clusterEvent':
        return reconcileClusterEvent(context, message.event);
      case 'wakeUp':
        return routeWakeUp(timers, message);
      case 'customResource':
        return reconcileCustomResource(context, message.event);
      case 'busEvent':
        if (message.detailType === ORPHAN_FORGOTTEN) return forgetOrphan(context, message.detail);
        if (message.detailType === HOOK_ANSWERED) return reconcileAnswer(context, message.detail);
        return;
      case 'tick':
        return;
    }
  };
}

/** The custom resource of a hook wakes its termination. */
async function reconcileCustomResource(context: RouteContext, { subject, hints }: ClusterEvent): Promise<void> {
  if (hints.hookKey !== undefined) return reconcileHook(context, hints.hookKey);
  return reconcileObject(context, subject);
}

async function reconcileClusterEvent(context: RouteContext, event: WatchedEvent): Promise<void> {
  const { subject, hints, change, changed, watch } = event;
  const { name, uid } = subject;
  const isRepeated = isRepublished(event);
  switch (subject.kind) {
    case 'NodeClaim':
      await reconcileTarget(context, { kind: 'NodeClaim', name, uid, onlyIfKnown: change === 'Deleted' }, undefined);
      return;
    case 'Node':
      if (change === 'Deleted') return reconcileGoneNode(context, subject);
      return reconcileNode(context, name, {
        onlyIfTerminating: change === 'Modified' && changedOnly(event, PARTS_OF_TERMINATION),
      });
    case 'Pod':
    case 'VolumeAttachment':
      return hints.nodeName === undefined ? undefined : reconcileNode(context, hints.nodeName);
    case 'PodDisruptionBudget':
      return context.terminationRounds.request(undefined);
    case 'FinalizerRule':
      await reconcileFinalizerRule(context, name, { watch, affectsObjects: !isRepeated && !isOwnFinalizer(changed) });
      return isRepeated ? undefined : reconcileOtherFinalizerRules(context, name);
    case 'NodePool':
      await reportTerminationFaults(context, subject, isRepeated);
      await updateKnownPool(context.deps, name);
      return context.settings.settingsChanged(event);
    case 'NodeLifecyclePolicy':
      await keepPolicy(context.deps, KEPT_POLICIES, subject);
      await reportTerminationFaults(context, subject, isRepeated);
      return context.settings.settingsChanged(event);
    case 'ConfigMap':
      return;
  }
}

/** Parts of a Node that matter to its termination alone: neither our finalizer nor the settings in force depend on them. */
const PARTS_OF_TERMINATION: ReadonlySet<string> = new Set([
  'bootID',
  'conditions',
  'drain',
  'protection',
  'taints',
  'unschedulable',
]);

/** Whether only the FinalizerRule's own finalizer changed. */
const isOwnFinalizer = (changed: readonly string[]): boolean => changed.length === 1 && changed[0] === 'finalizers';

interface NodeCause {
  readonly wakeUp?: SubjectWakeUp;
  /** The change of the Node matters to a termination alone. */
  readonly onlyIfTerminating?: boolean;
}

/** @param missing UID of the NodeClaim that an earlier look took it for, and that was not there */
async function reconcileNode(
  context: RouteContext,
  name: string,
  cause: NodeCause = {},
  missing?: string,
): Promise<void> {
  const { wakeUp, onlyIfTerminating = false } = cause;
  const found = await valueOrUnavailable(targetOfNode(context.deps, context.claimCache, { name, onlyIfTerminating }));
  if (found.kind === 'unavailable') {
    if (wakeUp === undefined) throw found.error;
    return noteUnreadNode(context, found.error, wakeUp);
  }
  const { value: target } = found;
  const isOwn = target?.kind === 'Node' && (wakeUp === undefined || target.uid === wakeUp.subject.uid);
  const isKnown = target === undefined || (await reconcileTarget(context, target, isOwn ? wakeUp : undefined));
  // Its NodeClaim went since it was found: the Node is a subject of its own from now on.
  if (!isKnown && target.kind === 'NodeClaim' && target.uid !== missing) {
    return reconcileNode(context, name, cause, target.uid);
  }
  if (wakeUp === undefined || isOwn) return;
  const { uid } = wakeUp.subject;
  const isAlone = async (): Promise<boolean> => {
    const now = await targetOfNode(context.deps, context.claimCache, { name, onlyIfTerminating });
    return now?.kind === 'Node' && now.uid === uid;
  };
  // A record of the Node's own, from when no NodeClaim stood for it, or of one that is gone.
  if (!(await closeNodeRecord(context.deps, uid, isAlone))) await reconcileNode(context, name, cause);
}

/** Handles a Node that is gone: its NodeClaim may wait for it, or it went with our finalizer stripped. */
async function reconcileGoneNode(context: RouteContext, { name, uid }: Subject): Promise<void> {
  await reconcileTarget(context, { kind: 'Node', name, uid, onlyIfKnown: true }, undefined);
  await context.terminationRounds.request(undefined);
}
