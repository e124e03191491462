/**
 * One FinalizerRule: says on its status whether it can be used and whether its kind is watched, and looks at every object of the kind
 * when that begins. A rule that is deleted stays until no object carries its finalizer.
 */
import { oneByOne } from '../../../shared/cluster/in-parallel.ts';
import type { KindWatch } from '../../../shared/contract/cluster-event.ts';
import { EVENT_REASONS } from '../../../shared/contract/reasons.ts';
import { carriedFinalizerOf, parseFinalizerRule } from '../../../shared/contract/finalizer-rule-schema.ts';
import { RESOURCES } from '../../../shared/contract/resources.ts';
import type { KubernetesObject } from '../../../shared/domain/kubernetes-object.ts';
import type { EpochMs } from '../../../shared/domain/time.ts';
import { RetryableError } from '../../../shared/errors.ts';
import { readConditions } from '../../../shared/domain/node.ts';
import { orNotKnown } from '../../../shared/ports/read-answer.ts';
import { createTries, isRefusal, warn, type Tries } from '../../../shared/lifecycle/refusals.ts';
import type { Rounds } from '../../../shared/policies/rounds.ts';
import { DONE, settle, type Turn } from '../../../shared/lifecycle/settle.ts';
import type { Saved } from '../../../shared/lifecycle/timed-record.ts';
import type { SubjectWakeUp } from '../../../shared/lifecycle/wake-up-route.ts';
import type { FinalizerContext } from '../cluster/context.ts';
import { CHANGED, endUnused, endWhenFree, keepRule, listed, type SeenRule } from './finalizer.ts';
import { closeRuleRecord, isLater, KEEPING, openRuleRecords } from './record.ts';
import { cleanUpOf, loadRules, acceptanceOf, type RuleAcceptance } from './rule-set.ts';
import { hasCondition, setConditions, type Condition } from '../cluster/set-condition.ts';
import { objectOf } from '../../../shared/ports/read-answer.ts';

export interface RuleContext extends FinalizerContext {
  /** Wake what a change of a rule concerns. */
  readonly rules: Rounds;
}

export interface RuleMessage {
  /** How the forwarder's watch of the kind stands; absent in a message that does not say. */
  readonly watch?: KindWatch | undefined;
  /** False: nothing changed that its objects depend on. When everything is published again, they come in events of their own. */
  readonly concernsObjects?: boolean;
  /** Brings back a rule that is being deleted, or whose change was refused. */
  readonly wakeUp?: SubjectWakeUp;
}

interface ObservedRule extends SeenRule {
  readonly all: readonly KubernetesObject[];
}

/** Nobody repeats what is said of a watch, and no event tells of a change of labels or status: a write that met one is made again. */
export async function reconcileRule(parts: RuleContext, name: string, message: RuleMessage): Promise<void> {
  const { deps } = parts;
  const { wakeUp } = message;
  const recordOf = openRuleRecords(deps, wakeUp);
  const tries = createTries(deps.clock);
  await settle<ObservedRule, RuleAcceptance>({
    what: `FinalizerRule ${name}`,
    async observe() {
      const all = await loadRules(deps);
      const object = all.find(({ metadata }) => metadata.name === name);
      const isTimed = wakeUp === undefined || object?.metadata.uid === wakeUp.subject.uid;
      if (!isTimed && wakeUp.subject.uid !== undefined) await closeRuleRecord(recordOf(wakeUp.subject.uid));
      if (object === undefined || !isTimed) return { kind: 'over' };
      return { kind: 'here', observation: { object, all, record: recordOf(object.metadata.uid) } };
    },
    decide: ({ object, all }) => acceptanceOf(object, all),
    apply: (acceptance, observed) => applyUnlessRefused({ ...parts, tries }, observed, acceptance, message),
  });
}

/** A change of the rule that is refused is said on it, and tried again with all that the message in hand says (I8). */
async function applyUnlessRefused(
  parts: RuleContext & { readonly tries: Tries },
  observed: ObservedRule,
  acceptance: RuleAcceptance,
  message: RuleMessage,
): Promise<Turn> {
  const { deps, tries, reporter } = parts;
  const { object, record } = observed;
  const loaded = await record.load();
  if (loaded.kind === 'newer') return DONE;
  const before = loaded.kind === 'known' ? loaded.value : {};
  const { watch = before.watch, wakeUp } = message;
  const change = {
    stored: before.refusals,
    restsOn: [object, acceptance.kind],
    say: warn(reporter, object, EVENT_REASONS.changeRefused),
  };
  const remember = async (until: EpochMs): Promise<Saved> => {
    await record.load();
    const { kind, apiVersion, metadata } = object;
    const subject = { kind, apiVersion, name: metadata.name, uid: metadata.uid };
    const refusals = tries.after(before.refusals);
    const isNews = watch !== undefined && (before.watch === undefined || isLater(watch, before.watch));
    const value = { ...before, ...(refusals !== undefined && { refusals }), ...(isNews && { watch }) };
    return await record.save({ subject, value, wakeTime: until });
  };
  const kept = await tries.make({ ...change, key: KEEPING }, () => keepRule(deps, object, acceptance));
  if (kept === 'changed') return CHANGED;
  // Before its objects are looked at, which wait for its finalizer as long as nobody knows that it is refused.
  if (isRefusal(kept)) await remember(kept.until);
  const outcome = await tries.make({ ...change, key: 'rule' }, () =>
    applyRule(parts, observed, acceptance, { ...message, watch }),
  );
  if (!isRefusal(kept) && !isRefusal(outcome)) {
    // Nothing of it waits any more, unless it is being deleted.
    const isWaiting = wakeUp !== undefined || before.refusals !== undefined;
    const isDone = outcome.kind === 'done' && isWaiting && object.metadata.deletionTimestamp === undefined;
    return isDone ? record.release() : outcome;
  }
  if (!isRefusal(outcome) && outcome.kind === 'again') return outcome;
  const refused = [kept, outcome].filter(isRefusal);
  const until = refused.map(each => each.until).toSorted((a, b) => a - b)[0];
  const saved = await remember(until ?? deps.clock.now());
  const goesBack = refused.find(each => each.goesBack !== undefined)?.goesBack;
  if (goesBack !== undefined) throw goesBack;
  return saved;
}

async function applyRule(
  parts: RuleContext,
  observed: ObservedRule,
  acceptance: RuleAcceptance,
  message: RuleMessage,
): Promise<Turn> {
  const { deps } = parts;
  const { object } = observed;
  const { watch, wakeUp } = message;
  const ref = { type: RESOURCES.FinalizerRule, name: object.metadata.name };
  const current = objectOf(await deps.kubernetes.get(ref), { notServed: 'notKnown' });
  if (current === undefined || current.metadata.uid !== object.metadata.uid) return DONE;
  const accepted = await withCarriers(deps, acceptedOf(acceptance), current, acceptance);
  const news = watch !== undefined && isNews(watch, current) ? watch : undefined;
  const watching = news && watchingOf(news);
  const resource = news?.state === 'Watching' ? await resourceOf(deps, current) : undefined;
  const fields = {
    ...(resource !== undefined && { resource }),
    ...(news !== undefined && { [WATCH_TIME]: news.since }),
  };
  // The status remembers what was said, so it is written afterwards: a run that dies in between says it again.
  const isSaid = hasCondition(current, accepted) || wakeUp !== undefined;
  if (accepted.status === 'False' && !isSaid) await refuse(parts, object, accepted);
  const shown = [accepted, ...(watching ? [watching] : [])];
  const status = await setConditions(deps, ref, current, { conditions: shown, now: deps.clock.now(), fields });
  if (status === 'changed') return CHANGED;
  const turn = await lookAtObjects(parts, observed, acceptance, { ...message, resource });
  // Nobody reads the status of a rule that is being deleted.
  if (status !== 'ok' && object.metadata.deletionTimestamp === undefined) throw status.cause;
  return turn;
}

/**
 * The plural of the rule's kind. An event says that it is watched; what is of that kind the API server says, so that no event can make a rule
 * that of other objects. Throws `RetryableError` while it does not know the kind that the forwarder has found.
 */
async function resourceOf(
  { kubernetes }: Pick<RuleContext['deps'], 'kubernetes'>,
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

/** @param message `resource`: the kind's, as it was just found */
async function lookAtObjects(
  { deps, rules }: RuleContext,
  observed: ObservedRule,
  acceptance: RuleAcceptance,
  { concernsObjects = false, wakeUp, resource }: RuleMessage & { readonly resource: string | undefined },
): Promise<Turn> {
  const { name, deletionTimestamp } = observed.object.metadata;
  const cleaning = cleanUpOf(acceptance);
  if (cleaning === undefined) return endUnused(deps, observed);
  const known = resource === undefined ? cleaning.type : { ...cleaning.rule, resource };
  // Nothing looks after its objects once it is gone: which they are is asked anew, for others may have written its status.
  const type = (deletionTimestamp === undefined ? undefined : await deps.kubernetes.resolve(cleaning.rule)) ?? known;
  if (type === undefined) return endUnused(deps, observed);
  const inForce = { ...cleaning, type: { group: type.group, version: type.version, resource: type.resource } };
  const asked = concernsObjects || wakeUp !== undefined ? await orNotKnown(rules.request(name).then(() => DONE)) : DONE;
  if (deletionTimestamp === undefined) {
    if (asked.kind === 'notKnown') throw asked.error;
    return DONE;
  }
  // Objects that cannot be listed are said by its condition, each minute anew.
  const watching = conditionsOf(observed.object).find(condition => condition.type === 'Watching');
  return endWhenFree(deps, observed, inForce, known === undefined && watching?.status === 'False');
}

const conditionsOf = ({ status }: KubernetesObject) => readConditions(status?.['conditions']);

/**
 * The other rules whose acceptance is not what their status says: the older one of their kind went, or was edited.
 *
 * @param name the rule that changed
 */
export async function reconcileOtherRules(parts: RuleContext, name: string): Promise<void> {
  const all = await loadRules(parts.deps);
  const moved = all.filter(
    other => other.metadata.name !== name && !hasCondition(other, acceptedOf(acceptanceOf(other, all))),
  );
  await oneByOne(moved, other => reconcileRule(parts, other.metadata.name, { concernsObjects: true }));
}

/** In the status of a rule: when the forwarder found what the condition `Watching` says. */
const WATCH_TIME = 'watchTime';

/** An older report may arrive after a newer one. */
function isNews(watch: KindWatch, { status }: KubernetesObject): boolean {
  const since = status?.[WATCH_TIME];
  return typeof since !== 'string' || isLater(watch, { since });
}

function acceptedOf(acceptance: RuleAcceptance): Condition {
  switch (acceptance.kind) {
    case 'inForce':
      return { type: 'Accepted', status: 'True', reason: 'Valid', message: '' };
    case 'invalid':
      return { type: 'Accepted', status: 'False', reason: 'Invalid', message: acceptance.message };
    case 'conflict': {
      const message = `FinalizerRule ${acceptance.with} is older and has this kind`;
      return { type: 'Accepted', status: 'False', reason: 'Conflict', message };
    }
  }
}

function watchingOf({ state, message = '' }: KindWatch): Condition {
  return { type: 'Watching', status: state === 'Watching' ? 'True' : 'False', reason: state, message };
}

/** Beside why a rule is refused by which nothing can be cleaned up: which objects carry its finalizer, where that can be found out. */
async function withCarriers(
  { kubernetes }: Pick<RuleContext['deps'], 'kubernetes'>,
  accepted: Condition,
  object: KubernetesObject,
  acceptance: RuleAcceptance,
): Promise<Condition> {
  const carried =
    acceptance.kind === 'invalid' && acceptance.cleansUp === undefined ? carriedFinalizerOf(object.spec) : undefined;
  const type = carried && (await kubernetes.resolve(carried));
  if (carried === undefined || type === undefined) return accepted;
  const found = await orNotKnown(
    kubernetes.list(type, {}, { project: ({ apiVersion, kind, metadata }) => ({ apiVersion, kind, metadata }) }),
  );
  if (found.kind !== 'there') return accepted;
  const carriers = found.objects.filter(({ metadata }) => metadata.finalizers?.includes(carried.finalizerName));
  if (carriers.length === 0) return accepted;
  return { ...accepted, message: `${accepted.message}; ${listed(carriers)} with that finalizer, which is left alone` };
}

async function refuse(
  { reporter }: RuleContext,
  about: KubernetesObject,
  { message, reason }: Condition,
): Promise<void> {
  await reporter.report({
    about,
    decision: 'refuse',
    reason: EVENT_REASONS.invalidFinalizerRule,
    message: `${reason}: ${message}; it puts its finalizer on nothing new`,
    event: { type: 'Warning' },
  });
}
