/**
 * The rule of drains (docs/drain.md): what becomes of a request, of the
 * drain under way, and of what is remembered. Pure: no I/O, no clock.
 *
 * One drain at a time per node. A request of the same or a narrower scope joins it and ends with it; a wider one follows it.
 */
import { DRAIN_STATES, QUARANTINE_ANNOTATION, REMEDIATING, STATE_LABEL } from '../../shared/domain/quarantine.ts';
import { addDuration, earliest, type EpochMs } from '../../shared/domain/time.ts';
import { admit, begin, isRemembered } from './admission.ts';
import { cancelledBy, isFree, takenBack } from './cancellation.ts';
import { decideCustom } from './custom.ts';
import type { DrainDecision } from './decision.ts';
import {
  REMEMBERED_FOR,
  type ActiveDrain,
  type DrainOutcome,
  type DrainRequest,
  type Hold,
  type Incoming,
} from './model.ts';
import { withoutHold } from './held.ts';
import type { DrainedNode, DrainObservation, DrainRules } from './observation.ts';
import { planPass, type DrainPass } from './pass.ts';
import { rememberEnds, withEnds } from './overtaken.ts';
import { counted } from './tried.ts';
import type { DrainPodRules } from './pods.ts';
import { sinceOf, describeUnderWay } from './under-way.ts';

/** One thing at a time: the caller carries it out, looks again and asks again. */
export function decide(seen: DrainObservation): DrainDecision {
  const observation = withEnds(seen);
  const { record, incoming, rules, mode } = observation;
  if (incoming !== undefined) {
    const decision = incoming.kind === 'drain' ? take(observation, incoming.request) : endOf(observation, incoming);
    if (decision !== undefined) return decision;
  }
  const { active } = record;
  const isIdle = active === undefined && record.requests.length === 0;
  if (record !== seen.record && !isIdle) return { kind: 'note', record };
  if (active === undefined) {
    if (record.requests.length === 0) return idle(observation);
    const held = holdOf(rules, mode) ?? policyUnknown(observation) ?? coverageUnknown(observation);
    if (held !== undefined) return held;
    return rules === undefined ? rest(observation) : beginAndPrepare(observation, rules);
  }
  if (active.end !== undefined) return { kind: 'close', active, outcome: active.end };
  return decideActive(observation, counted(active, observation.pods));
}

function decideActive(observation: DrainObservation, before: ActiveDrain): DrainDecision {
  const { now, node, rules, mode } = observation;
  const over = takenBack(before, node);
  if (over !== undefined) return finish(before, over);
  const held = holdOf(rules, mode);
  if (held !== undefined || rules === undefined) return held ?? rest(observation);
  if (observation.record.heldSince !== undefined) return { kind: 'note', record: withoutHold(observation.record, now) };
  const deleteTime = addDuration(sinceOf(before), rules.settings.deleteAfterTimeout);
  const active = until(before, deleteTime);
  const isCustom = rules.isCustom(node.labels) && active.fellBack === undefined;
  const pass = planPass({
    now,
    pods: observation.pods,
    rules: podRules(active, rules, node),
    protection: observation.protection,
    protectionOverridden: observation.protectionOverridden,
    evictionGracePeriod: rules.settings.evictionGracePeriod,
    deleteTime,
    warned: active.warned,
  });
  const showDraining = isCustom || !pass.drained;
  if (!isPrepared(observation, active, showDraining)) {
    const hold = active.hold ?? holdFor(active, node);
    return { kind: 'prepare', active, hold, showDraining, pass: isCustom ? undefined : pass };
  }
  if (isCustom) return decideCustom({ now, active, settings: rules.settings, resource: observation.resource, pass });
  return pass.drained ? finish(active, succeeded(active, pass), pass) : { kind: 'drain', active, pass };
}

/** Owners are warned anew of an instant that has come nearer. */
function until(active: ActiveDrain, deleteTime: EpochMs): ActiveDrain {
  const isSooner = active.deleteTime !== undefined && deleteTime < active.deleteTime;
  return { ...active, deleteTime, ...(isSooner && { warned: [] }) };
}

/** A request that nothing blocks begins in the same write. */
function take(observation: DrainObservation, asked: DrainRequest): DrainDecision | undefined {
  const admission = admit(observation, asked);
  if (admission?.kind !== 'take' || admission.how !== 'next') return admission;
  const { rules, mode } = observation;
  const taken = { ...observation, record: admission.record };
  const held = holdOf(rules, mode) ?? policyUnknown(taken) ?? coverageUnknown(taken);
  if (rules === undefined || held !== undefined) return admission;
  const begun = beginAndPrepare(taken, rules);
  return begun.kind === 'begin' ? { ...begun, takes: admission.request } : admission;
}

/** The preparation stands on the same look: its own writes, and the preconditions of each, find out what changes in between. */
function beginAndPrepare(observation: DrainObservation, rules: DrainRules): DrainDecision {
  const begun = begin(observation, rules);
  if (begun.kind !== 'begin') return begun;
  const next = decideActive({ ...observation, record: begun.record }, begun.active);
  return next.kind === 'prepare' ? { ...begun, next } : begun;
}

/** Which pods are the drain's, and how each goes. */
export function podRules(active: ActiveDrain, rules: DrainRules, node: Pick<DrainedNode, 'labels'>): DrainPodRules {
  const { settings } = rules;
  const custom = rules.isCustom(node.labels) ? settings.customDrain : undefined;
  const mode = custom?.fallbackMode ?? 'AllowCompletion';
  return {
    scope: active.scope,
    // The custom drain is for all pods but those of system namespaces.
    modeOf: custom === undefined ? rules.modeOf : pod => (rules.modeOf(pod) === 'system' ? 'system' : mode),
    force: active.force,
    gpuPodsOnly: settings.gpuPodsOnly,
    notReadyTimeout: settings.notReadyTimeout,
  };
}

function rest({ now, node, record: before }: DrainObservation): DrainDecision {
  const record = withoutHold(before, now);
  const finished = record.finished.filter(each => isRemembered(each, node, now));
  let until: EpochMs | undefined;
  for (const { endTime } of finished) {
    const end = addDuration(endTime, REMEMBERED_FOR);
    until = earliest(until, end > now ? end : addDuration(now, REMEMBERED_FOR));
  }
  const kept = finished.length === record.finished.length ? record : { ...record, finished };
  return { kind: 'rest', ...rememberEnds(kept, until, now) };
}

function idle(observation: DrainObservation): DrainDecision {
  const { watched, cordonMark, unschedulable } = observation.node;
  if (watched) return tidy(observation);
  return cordonMark !== undefined && !unschedulable ? { kind: 'disownCordon' } : rest(observation);
}

function tidy({ node, record }: DrainObservation): DrainDecision {
  const last = record.finished.findLast(({ status }) => status !== 'AlreadyDrained');
  const uncordon = node.cordonMark !== undefined && isFree(record);
  return { kind: 'tidy', status: last?.status ?? 'Cancelled', uncordon };
}

function holdOf(rules: DrainRules | undefined, mode: 'Enforce' | 'Observe'): DrainDecision | undefined {
  if (rules === undefined) {
    const message =
      'no key of a valid config.toml in ConfigMap curfew/curfew-config says how nodes are drained: the drain waits for userNamespaces, podDrainPolicies or customDrain';
    return { kind: 'hold', reason: 'NoConfiguration', message };
  }
  if (mode === 'Enforce') return undefined;
  return { kind: 'hold', reason: 'ObserveMode', message: 'mode is Observe: nothing is drained' };
}

/** What begins by a guess might be what an author only observes (I6). A drain under way goes on. */
function policyUnknown({ unreadable }: DrainObservation): DrainDecision | undefined {
  if (unreadable === undefined) return undefined;
  const message = `${unreadable}; whether it holds drains is not known: nothing begins until it can be read`;
  return { kind: 'hold', reason: 'UnreadablePolicy', message };
}

function coverageUnknown({ node, record }: DrainObservation): DrainDecision | undefined {
  const isUnknown =
    node.quarantine === 'unreadable' && record.requests.every(({ quarantine }) => quarantine === 'AlreadyQuarantined');
  if (!isUnknown) return undefined;
  const message = `the annotation ${QUARANTINE_ANNOTATION} cannot be read: whether an earlier drain covers this one is unknown`;
  return { kind: 'hold', reason: 'UnreadableQuarantine', message };
}

/** What a message that ends something means here; undefined: nothing. */
function endOf(
  observation: DrainObservation,
  incoming: Exclude<Incoming, { kind: 'drain' }>,
): DrainDecision | undefined {
  const cancelled = cancelledBy(observation, incoming);
  return cancelled && { kind: 'cancel', ...cancelled };
}

/** A node that nobody keeps new pods away from is cordoned by the drain. */
function holdFor({ id }: ActiveDrain, { quarantine, unschedulable, cordonMark }: DrainedNode): Hold {
  const quarantined = quarantine !== undefined;
  if (unschedulable) return { quarantined, cordon: cordonMark === id ? 'own' : 'other' };
  return { quarantined, cordon: quarantined ? 'none' : 'own' };
}

function isPrepared({ node }: DrainObservation, active: ActiveDrain, showDraining: boolean): boolean {
  if (active.hold === undefined || !node.watched || node.underWay !== describeUnderWay(active)) return false;
  const state = node.labels[STATE_LABEL];
  return !showDraining || state === DRAIN_STATES.draining || state === REMEDIATING;
}

function finish(active: ActiveDrain, outcome: DrainOutcome, pass?: DrainPass): DrainDecision {
  return { kind: 'finish', active, outcome, pass };
}

function succeeded({ drained }: ActiveDrain, { left }: DrainPass): DrainOutcome {
  const names = left.map(({ pod, because }) => `${pod.namespace}/${pod.name} (${because})`);
  const message = `${drained} pod${drained === 1 ? ' was' : 's were'} drained`;
  if (names.length === 0) return { status: 'Succeeded', reason: 'Drained', message, left: [] };
  return {
    status: 'Succeeded',
    reason: 'DrainedWithPodsLeft',
    message: `${message}; ${names.length} did not go and ${names.length === 1 ? 'was' : 'were'} not waited for`,
    left: names,
  };
}
