/**
 * Shows on a FinalizerRule's status whether it can be used and whether its kind is watched, and wakes every object of the kind when that begins. A
 * FinalizerRule that is deleted stays until no object carries its finalizer.
 */
import { hasCondition, setConditions } from '../common/set-condition.ts';
import { parseFinalizerRule } from '../../../shared/contract/finalizer-rule-schema.ts';
import type { KindWatch } from '../../../shared/contract/cluster-event.ts';
import { EVENT_REASONS } from '../../../shared/contract/reasons.ts';
import { RESOURCES } from '../../../shared/contract/resources.ts';
import { subjectOf, type KubernetesObject } from '../../../shared/domain/kubernetes-object.ts';
import { readConditions } from '../../../shared/domain/node.ts';
import { earliest, type EpochMs } from '../../../shared/domain/time.ts';
import { RetryableError } from '../../../shared/errors.ts';
import { isRefused, joinRefusals, reportWarning, type RefusedChange } from '../../../shared/lifecycle/refusals.ts';
import { DONE, type Turn } from '../../../shared/lifecycle/settle.ts';
import type { RecordToSave, SaveOutcome } from '../../../shared/lifecycle/timed-record.ts';
import { objectOf, orUnavailable } from '../../../shared/ports/read-answer.ts';
import type { FinalizerRuleContext, FinalizerRuleMessage, FinalizerRuleRunContext } from './context.ts';
import type { FinalizerRuleDecision } from './decide.ts';
import {
  FINALIZER_RULE_CHANGED,
  releaseFinalizerRule,
  releaseFinalizerRuleWhenUnused,
  addOwnFinalizer,
  type WaitForObjects,
} from './finalizer.ts';
import type { ObservedFinalizerRule } from './observe.ts';
import { isLater, OWN_FINALIZER, type FinalizerRuleRecord } from './record.ts';
import { reportInvalidFinalizerRule } from './report.ts';
import { acceptedCondition, isNewerWatch, WATCH_TIME, watchingCondition, withFinalizedObjects } from './status.ts';

/** One turn about a FinalizerRule: with what it was decided by. */
interface FinalizerRuleTurn {
  readonly context: FinalizerRuleRunContext;
  readonly observed: ObservedFinalizerRule;
  readonly stored: FinalizerRuleRecord;
  /** State of the watch of the kind, by the message or the record. */
  readonly watch: KindWatch | undefined;
}

/** Carries out a decision. If a change of the FinalizerRule is refused, an Event on it says so, and the whole message is tried again (I8). */
export async function apply(
  context: FinalizerRuleRunContext,
  decision: FinalizerRuleDecision,
  observed: ObservedFinalizerRule,
): Promise<Turn> {
  const { object, timedRecord } = observed;
  const { message } = context;
  const loaded = await timedRecord.load();
  if (loaded.kind === 'newer') return DONE;
  const stored = loaded.kind === 'known' ? loaded.value : {};
  const turn = { context, observed, stored, watch: message.watch ?? stored.watch };
  const kept = await keepOwnFinalizer(turn, decision);
  if (kept === 'changed') return FINALIZER_RULE_CHANGED;
  // Before its objects are looked at, which wait for its finalizer as long as nobody knows that it is refused.
  if (isRefused(kept)) await remember(turn, kept.until, { hasOwnMessage: kept.redeliveryError === undefined });
  const outcome = await tryChange(turn, 'rule', () =>
    carryOut(context, decision, observed, { ...message, watch: turn.watch }),
  );
  if (!isRefused(outcome) && outcome.kind === 'again') return outcome;
  const { until, redeliveryError } = joinRefusals([kept, outcome].filter(isRefused));
  const wakeTime = outcome.kind === 'wait' ? earliest(until, outcome.until) : until;
  if (wakeTime !== undefined) return remember(turn, wakeTime, { redeliveryError });
  // Nothing of it waits any more, unless it is being deleted.
  const isWaiting = message.wakeUp !== undefined || stored.refusals !== undefined;
  return isWaiting && object.metadata.deletionTimestamp === undefined ? timedRecord.release() : DONE;
}

/** Makes a change of the FinalizerRule, unless it was refused and waits. */
function tryChange<Outcome>(
  { context: { backoff, reporter }, observed: { object, acceptance }, stored }: FinalizerRuleTurn,
  key: typeof OWN_FINALIZER | 'rule',
  call: () => Promise<Outcome>,
): Promise<Outcome | RefusedChange> {
  const report = reportWarning(reporter, object, EVENT_REASONS.changeRefused);
  return backoff.try({ key, stored: stored.refusals, restsOn: [object, acceptance.kind], report }, call);
}

/** Puts the FinalizerRule's own finalizer on, if it lacks one. Tried also where there is nothing to add: a refusal that is remembered goes. */
const keepOwnFinalizer = (
  turn: FinalizerRuleTurn,
  decision: FinalizerRuleDecision,
): Promise<'kept' | 'changed' | RefusedChange> =>
  tryChange(turn, OWN_FINALIZER, async () =>
    decision.kind === 'addFinalizer' ? await addOwnFinalizer(turn.context.deps, turn.observed.object) : 'kept',
  );

/** Writes what was refused, and a watch that the status may not show yet. */
async function remember(
  { context: { backoff }, observed: { object, timedRecord }, stored, watch }: FinalizerRuleTurn,
  wakeTime: EpochMs,
  how: Pick<RecordToSave<FinalizerRuleRecord>, 'hasOwnMessage' | 'redeliveryError'>,
): Promise<SaveOutcome> {
  if ((await timedRecord.load()).kind === 'newer') return { ...DONE, written: false };
  const { refusals: storedRefusals, ...fields } = stored;
  const refusals = backoff.refusalsAfter(storedRefusals);
  const isNew = watch !== undefined && (stored.watch === undefined || isLater(watch, stored.watch));
  const value = { ...fields, ...(refusals !== undefined && { refusals }), ...(isNew && { watch }) };
  return timedRecord.save({ subject: subjectOf(object), value, wakeTime, ...how });
}

async function carryOut(
  context: FinalizerRuleContext,
  decision: FinalizerRuleDecision,
  observed: ObservedFinalizerRule,
  message: FinalizerRuleMessage,
): Promise<Turn | WaitForObjects> {
  const { deps } = context;
  const { object, acceptance } = observed;
  const { watch, wakeUp } = message;
  const ref = { type: RESOURCES.FinalizerRule, name: object.metadata.name };
  const current = objectOf(await deps.kubernetes.get(ref), { ifNotServed: 'throw' });
  if (current === undefined || current.metadata.uid !== object.metadata.uid) return DONE;
  const accepted = await withFinalizedObjects(deps, acceptedCondition(acceptance), current, acceptance);
  const news = watch !== undefined && isNewerWatch(watch, current) ? watch : undefined;
  const watching = news && watchingCondition(news);
  const resource = news?.state === 'Watching' ? await resourceOf(deps, current) : undefined;
  const fields = {
    ...(resource !== undefined && { resource }),
    ...(news !== undefined && { [WATCH_TIME]: news.since }),
  };
  // The status remembers what was said, so it is written afterwards: a run that dies in between says it again.
  const isReported = hasCondition(current, accepted) || wakeUp !== undefined;
  if (accepted.status === 'False' && !isReported) await reportInvalidFinalizerRule(context.reporter, object, accepted);
  const shown = [accepted, ...(watching ? [watching] : [])];
  const status = await setConditions(deps, ref, current, { conditions: shown, now: deps.clock.now(), fields });
  if (status === 'changed') return FINALIZER_RULE_CHANGED;
  const turn = await lookAtObjects(context, decision, observed, { ...message, resource });
  // Nobody reads the status of a FinalizerRule that is being deleted.
  if (status !== 'ok' && object.metadata.deletionTimestamp === undefined) throw status.cause;
  return turn;
}

/**
 * The plural of the FinalizerRule's kind, by the API server. An event says only that the kind is watched, so that no event can make it
 * that of other objects. Throws `RetryableError` while the API server does not know the kind that the forwarder has found.
 */
async function resourceOf(
  { kubernetes }: Pick<FinalizerRuleContext['deps'], 'kubernetes'>,
  { metadata, spec }: KubernetesObject,
): Promise<string | undefined> {
  const rule = parseFinalizerRule(spec);
  if (!rule.ok) return undefined;
  const type = await kubernetes.resolve(rule.value);
  if (type !== undefined) return type.resource;
  throw new RetryableError(`FinalizerRule ${metadata.name}: ${rule.value.kind} is watched, but not served`, {
    reason: 'NotServed',
  });
}

/**
 * Wakes the objects of the FinalizerRule, and releases one that is deleted.
 *
 * @param message `resource`: the kind's, as it was just found
 */
async function lookAtObjects(
  { deps, finalizerRuleRounds }: FinalizerRuleContext,
  decision: FinalizerRuleDecision,
  observed: ObservedFinalizerRule,
  { affectsObjects = false, wakeUp, resource }: FinalizerRuleMessage & { readonly resource: string | undefined },
): Promise<Turn | WaitForObjects> {
  if (decision.kind === 'free') return releaseFinalizerRule(deps, observed);
  const { cleanUp } = decision;
  const isAwaited = decision.kind === 'awaitObjects';
  const lastKnownType = resource === undefined ? cleanUp.type : { ...cleanUp.rule, resource };
  // Nothing looks after its objects once it is gone. Which they are is asked again: others may have written its status.
  const type = (isAwaited ? await deps.kubernetes.resolve(cleanUp.rule) : undefined) ?? lastKnownType;
  if (type === undefined) return releaseFinalizerRule(deps, observed);
  const inForce = { ...cleanUp, type: { group: type.group, version: type.version, resource: type.resource } };
  const { name } = observed.object.metadata;
  const asked =
    affectsObjects || wakeUp !== undefined
      ? await orUnavailable(finalizerRuleRounds.request(name).then(() => DONE))
      : DONE;
  if (!isAwaited) {
    if (asked.kind === 'unavailable') throw asked.error;
    return DONE;
  }
  // Its condition says each minute that objects cannot be listed.
  const watching = conditionsOf(observed.object).find(condition => condition.type === 'Watching');
  return releaseFinalizerRuleWhenUnused(
    deps,
    observed,
    inForce,
    lastKnownType === undefined && watching?.status === 'False',
  );
}

const conditionsOf = ({ status }: KubernetesObject) => readConditions(status?.['conditions']);
