/**
 * One FinalizerRule: says on its status whether it can be used and whether its kind is watched, and looks at every object of the kind
 * when that begins. A rule that is deleted stays until no object carries its finalizer.
 */
import type { KindWatch } from '../../../shared/contract/cluster-event.ts';
import { EVENT_REASONS } from '../../../shared/contract/reasons.ts';
import { RESOURCES } from '../../../shared/contract/resources.ts';
import type { KubernetesObject } from '../../../shared/domain/kubernetes-object.ts';
import { addDuration, minutes, toDurationMs } from '../../../shared/domain/time.ts';
import type { RuleParts } from './reconcile-object.ts';
import { loadRules, standingOf, type RuleInForce, type Standing } from './rule-set.ts';
import { hasCondition, setConditions, type Condition } from '../set-condition.ts';

/** Keeps a rule until its objects are free. */
export const RULE_FINALIZER = 'curfew.dev/finalizer-rule';

/** @param watch how the forwarder's watch of the kind stands; undefined in a message that does not say */
export async function reconcileRule(parts: RuleParts, name: string, watch: KindWatch | undefined): Promise<void> {
  const { deps } = parts;
  const all = await loadRules(deps);
  const object = all.find(({ metadata }) => metadata.name === name);
  if (object === undefined) return;
  const ref = { type: RESOURCES.FinalizerRule, name };
  const standing = standingOf(object, all);
  if (object.metadata.deletionTimestamp === undefined && (await isHeldNow(parts, object, standing)) === false) return;

  const accepted = acceptedOf(standing);
  const watching = watch && watchingOf(watch);
  const resource = watch?.state === 'Watching' ? watch.resource : undefined;
  const fields = resource === undefined ? {} : { resource };
  const current = await deps.kubernetes.get(ref);
  if (current === undefined || current.metadata.uid !== object.metadata.uid) return;
  // The status remembers what was said, so it is written afterwards: a run that dies in between says it again.
  if (accepted.status === 'False' && !hasCondition(current, accepted)) await refuse(parts, object, accepted);
  await setConditions(deps, ref, current, [accepted, ...(watching ? [watching] : [])], deps.clock.now(), fields);
  if (standing.kind !== 'inForce') return endUnused(parts, object);
  const type = resource === undefined ? standing.value.type : { ...standing.value.rule, resource };
  if (type === undefined) return endUnused(parts, object);
  await lookAtAll(parts, {
    ...standing.value,
    type: { group: type.group, version: type.version, resource: type.resource },
  });
}

/** Puts the rule's own finalizer on. False: it changed, its next event comes. */
async function isHeldNow({ deps }: RuleParts, object: KubernetesObject, standing: Standing): Promise<boolean> {
  const { uid, resourceVersion, name, finalizers = [] } = object.metadata;
  if (standing.kind !== 'inForce' || finalizers.includes(RULE_FINALIZER)) return true;
  const body = { metadata: { uid, resourceVersion, finalizers: [...finalizers, RULE_FINALIZER] } };
  const outcome = await deps.kubernetes.patch({ type: RESOURCES.FinalizerRule, name }, { type: 'merge', body });
  return outcome.kind === 'ok';
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

async function lookAtAll(parts: RuleParts, { object, rule, type }: RuleInForce): Promise<void> {
  if (type === undefined) return;
  const { deps } = parts;
  const objects = (await deps.kubernetes.list(type)) ?? [];
  const ends = object.metadata.deletionTimestamp !== undefined;
  const carrying = objects.filter(({ metadata }) => metadata.finalizers?.includes(rule.finalizerName) === true);
  const wakeTime = deps.clock.now();
  const concerned = ends
    ? carrying
    : objects.filter(each => !carrying.includes(each) || each.metadata.deletionTimestamp !== undefined);
  await deps.wakeUps.send(
    concerned.map(({ kind, apiVersion, metadata: { name, namespace, uid } }) => ({
      wakeUp: {
        owner: 'finalizer',
        subject: { kind: kind ?? rule.kind, apiVersion, name, uid, ...(namespace !== undefined && { namespace }) },
        wakeTime,
      },
      delay: toDurationMs(0),
    })),
  );
  if (!ends) return;
  if (carrying.length === 0) return endUnused(parts, object);
  const { kind, apiVersion, metadata } = object;
  const later = minutes(1);
  await deps.wakeUps.send([
    {
      wakeUp: {
        owner: 'finalizer',
        subject: { kind, apiVersion, name: metadata.name, uid: metadata.uid },
        wakeTime: addDuration(wakeTime, later),
      },
      delay: later,
    },
  ]);
}

/** A rule that is being deleted, and that nothing waits for. */
async function endUnused({ deps }: RuleParts, object: KubernetesObject): Promise<void> {
  const ref = { type: RESOURCES.FinalizerRule, name: object.metadata.name };
  const current = await deps.kubernetes.get(ref);
  if (current?.metadata.uid !== object.metadata.uid || current.metadata.deletionTimestamp === undefined) return;
  const { uid, resourceVersion, finalizers = [] } = current.metadata;
  if (!finalizers.includes(RULE_FINALIZER)) return;
  const body = { metadata: { uid, resourceVersion, finalizers: finalizers.filter(name => name !== RULE_FINALIZER) } };
  await deps.kubernetes.patch(ref, { type: 'merge', body });
}
