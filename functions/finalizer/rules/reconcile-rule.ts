/**
 * One FinalizerRule: says on its status whether it can be used and whether its kind is watched, and looks at every object of the kind
 * when that begins. A rule that is deleted stays until no object carries its finalizer.
 */
import type { KindWatch } from '../../../shared/contract/cluster-event.ts';
import { EVENT_REASONS } from '../../../shared/contract/reasons.ts';
import { RESOURCES } from '../../../shared/contract/resources.ts';
import type { KubernetesObject } from '../../../shared/domain/kubernetes-object.ts';
import { addDuration, minutes, parseTimestamp } from '../../../shared/domain/time.ts';
import type { Rounds } from '../../../shared/lifecycle/rounds.ts';
import { again, DONE, settle, type Turn } from '../../../shared/lifecycle/settle.ts';
import { openRecord, type UsedWakeUp } from '../../../shared/lifecycle/timed-record.ts';
import type { RuleParts } from './reconcile-object.ts';
import { RULE_CODEC } from './ending-rule.ts';
import { loadRules, standingOf, type RuleInForce, type Standing } from './rule-set.ts';
import { hasCondition, setConditions, type Condition } from '../set-condition.ts';
import { isCarrying, objectsOf } from './wake-ups.ts';

/** @property rules wake what a change of a rule concerns */
export type RuleEndParts = RuleParts & { readonly rules: Rounds };

/** Keeps a rule until its objects are free. */
const RULE_FINALIZER = 'curfew.dev/finalizer-rule';

export interface RuleMessage {
  /** How the forwarder's watch of the kind stands; absent in a message that does not say. */
  readonly watch?: KindWatch | undefined;
  /** False: nothing changed that its objects depend on. When everything is published again, they come in events of their own. */
  readonly concernsObjects?: boolean;
  /** That of a rule which is being deleted. */
  readonly timer?: { readonly uid: string | undefined; readonly wakeUp: UsedWakeUp };
}

interface SeenRule {
  readonly object: KubernetesObject;
  readonly all: readonly KubernetesObject[];
}

/** Nobody repeats what is said of a watch, and no event tells of a change of labels or status: a write that met one is made again. */
export async function reconcileRule(parts: RuleEndParts, name: string, message: RuleMessage): Promise<void> {
  const { deps } = parts;
  const { timer } = message;
  await settle<SeenRule, Standing>({
    what: `FinalizerRule ${name}`,
    async observe() {
      const all = await loadRules(deps);
      const object = all.find(({ metadata }) => metadata.name === name);
      const isTimed = timer === undefined || object?.metadata.uid === timer.uid;
      if (!isTimed) await closeRecord(deps, timer.uid);
      return object === undefined || !isTimed ? { kind: 'over' } : { kind: 'here', observation: { object, all } };
    },
    decide: ({ object, all }) => standingOf(object, all),
    apply: (standing, { object }) => applyRule(parts, object, standing, message),
  });
}

async function applyRule(
  parts: RuleEndParts,
  object: KubernetesObject,
  standing: Standing,
  { watch, concernsObjects = false, timer }: RuleMessage,
): Promise<Turn> {
  const { deps } = parts;
  const { name } = object.metadata;
  const ref = { type: RESOURCES.FinalizerRule, name };
  if (object.metadata.deletionTimestamp === undefined && !(await isHeldNow(parts, object, standing))) return CHANGED;

  const current = await deps.kubernetes.get(ref);
  if (current === undefined || current.metadata.uid !== object.metadata.uid) return DONE;
  const accepted = acceptedOf(standing);
  const news = watch !== undefined && isNews(watch, current) ? watch : undefined;
  const watching = news && watchingOf(news);
  const resource = news?.state === 'Watching' ? news.resource : undefined;
  const fields = {
    ...(resource !== undefined && { resource }),
    ...(news !== undefined && { [WATCH_TIME]: news.since }),
  };
  // The status remembers what was said, so it is written afterwards: a run that dies in between says it again.
  if (accepted.status === 'False' && !hasCondition(current, accepted)) await refuse(parts, object, accepted);
  const shown = [accepted, ...(watching ? [watching] : [])];
  if (!(await setConditions(deps, ref, current, shown, deps.clock.now(), fields))) return CHANGED;
  if (standing.kind !== 'inForce') return endUnused(parts, object);
  const type = resource === undefined ? standing.value.type : { ...standing.value.rule, resource };
  if (type === undefined) return endUnused(parts, object);
  const inForce = { ...standing.value, type: { group: type.group, version: type.version, resource: type.resource } };
  if (concernsObjects || timer !== undefined) await parts.rules.request(name);
  if (object.metadata.deletionTimestamp !== undefined) return endWhenFree(parts, inForce, timer?.wakeUp);
  return DONE;
}

const CHANGED = again('somebody changed it');

/**
 * The other rules whose standing is not what their status says: the older one of their kind went, or was edited.
 *
 * @param name the rule that changed
 */
export async function reconcileOtherRules(parts: RuleEndParts, name: string): Promise<void> {
  const all = await loadRules(parts.deps);
  for (const other of all) {
    if (other.metadata.name === name || hasCondition(other, acceptedOf(standingOf(other, all)))) continue;
    await reconcileRule(parts, other.metadata.name, { concernsObjects: true });
  }
}

/** In the status of a rule: when the forwarder found what the condition `Watching` says. */
const WATCH_TIME = 'watchTime';

/** An older report may arrive after a newer one. */
function isNews({ since }: KindWatch, { status }: KubernetesObject): boolean {
  const known = status?.[WATCH_TIME];
  const [reported, stored] = [parseTimestamp(since), typeof known === 'string' ? parseTimestamp(known) : undefined];
  return reported === undefined || stored === undefined || reported >= stored;
}

/** Puts the rule's own finalizer on. False: it changed. */
async function isHeldNow({ deps }: RuleParts, object: KubernetesObject, standing: Standing): Promise<boolean> {
  const { uid, resourceVersion, name, finalizers = [] } = object.metadata;
  if (standing.kind !== 'inForce' || finalizers.includes(RULE_FINALIZER)) return true;
  const body = { metadata: { uid, resourceVersion, finalizers: [...finalizers, RULE_FINALIZER] } };
  const outcome = await deps.kubernetes.patch({ type: RESOURCES.FinalizerRule, name }, { type: 'merge', body });
  return outcome.kind !== 'conflict';
}

function acceptedOf(standing: Standing): Condition {
  switch (standing.kind) {
    case 'inForce':
      return { type: 'Accepted', status: 'True', reason: 'Valid', message: '' };
    case 'invalid':
      return { type: 'Accepted', status: 'False', reason: 'Invalid', message: standing.message };
    case 'conflict': {
      const message = `FinalizerRule ${standing.with} is older and has this kind`;
      return { type: 'Accepted', status: 'False', reason: 'Conflict', message };
    }
  }
}

function watchingOf({ state, message = '' }: KindWatch): Condition {
  return { type: 'Watching', status: state === 'Watching' ? 'True' : 'False', reason: state, message };
}

async function refuse({ reporter }: RuleParts, about: KubernetesObject, { message, reason }: Condition): Promise<void> {
  await reporter.report({
    about,
    decision: 'refuse',
    reason: EVENT_REASONS.invalidFinalizerRule,
    message: `${reason}: ${message}; no finalizer is put on or taken off by it`,
    event: { type: 'Warning' },
  });
}

/** A rule that is being deleted goes when no object carries its finalizer; that is looked at once a minute. */
async function endWhenFree({ deps }: RuleParts, inForce: RuleInForce, wakeUp: UsedWakeUp | undefined): Promise<Turn> {
  const { object } = inForce;
  const { kind, apiVersion, metadata } = object;
  const objects = await objectsOf(deps, inForce);
  if (!objects.some(each => isCarrying(each, inForce))) return endUnused({ deps }, object);
  const record = openRecord(deps, RULE_CODEC, ruleRecordId(metadata.uid), wakeUp);
  const subject = { kind, apiVersion, name: metadata.name, uid: metadata.uid };
  await record.load();
  await record.save({ subject, value: {}, wakeTime: addDuration(deps.clock.now(), minutes(1)) });
  return DONE;
}

const ruleRecordId = (uid: string): string => `rule/${uid}`;

async function closeRecord(deps: RuleParts['deps'], uid: string | undefined): Promise<void> {
  if (uid === undefined) return;
  const record = openRecord(deps, RULE_CODEC, ruleRecordId(uid));
  if ((await record.load()).kind === 'held') await record.closeGone();
}

/** A rule that is being deleted, and that nothing waits for. */
async function endUnused({ deps }: Pick<RuleParts, 'deps'>, object: KubernetesObject): Promise<Turn> {
  const ref = { type: RESOURCES.FinalizerRule, name: object.metadata.name };
  const current = await deps.kubernetes.get(ref);
  if (current?.metadata.uid !== object.metadata.uid || current.metadata.deletionTimestamp === undefined) return DONE;
  const { uid, resourceVersion, finalizers = [] } = current.metadata;
  if (!finalizers.includes(RULE_FINALIZER)) return DONE;
  const body = { metadata: { uid, resourceVersion, finalizers: finalizers.filter(name => name !== RULE_FINALIZER) } };
  const outcome = await deps.kubernetes.patch(ref, { type: 'merge', body });
  if (outcome.kind === 'conflict') return CHANGED;
  await closeRecord(deps, uid);
  return DONE;
}
