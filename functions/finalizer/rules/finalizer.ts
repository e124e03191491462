/** The finalizer of a FinalizerRule itself: a rule that is deleted stays until no object carries the finalizer that it names. */
import type { TerminationDeps } from '../cluster/context.ts';
import { listed } from '../../../shared/domain/cut-text.ts';
import { RESOURCES } from '../../../shared/contract/resources.ts';
import { subjectOf, qualifiedName, type KubernetesObject } from '../../../shared/domain/kubernetes-object.ts';
import type { FinalizerRule } from '../../../shared/domain/finalizer-rule.ts';
import { RUN_ENDS_WITHIN } from '../../../shared/domain/run-end.ts';
import { addDuration, isDue, minutes, parseTimestamp, toTimestamp, type EpochMs } from '../../../shared/domain/time.ts';
import { messageOf, RetryableError } from '../../../shared/errors.ts';
import { again, DONE, type Turn } from '../../../shared/lifecycle/settle.ts';
import { closeRuleRecord } from './record.ts';
import { setConditions, type Condition } from '../cluster/set-condition.ts';
import { cleanUpOf, carriesFinalizer, RULE_FINALIZER, type RuleInForce, type RuleAcceptance } from './rule-set.ts';
import type { ObservedRule } from './observe.ts';
import { listRuleObjects } from './wake-ups.ts';
import { changeExactly } from '../../../shared/ports/exact-change.ts';
import { objectOf, orNotKnown, type NotKnown } from '../../../shared/ports/read-answer.ts';

type Deps = Pick<TerminationDeps, 'kubernetes' | 'clock'>;

export const RULE_CHANGED = again('somebody changed it');

/** Puts the rule's own finalizer on. `changed`: nothing was done, for it is another by now, or gone. */
export async function addRuleFinalizer(
  { kubernetes }: Pick<Deps, 'kubernetes'>,
  object: KubernetesObject,
  acceptance: RuleAcceptance,
): Promise<'kept' | 'changed'> {
  const { name, finalizers = [], deletionTimestamp } = object.metadata;
  if (cleanUpOf(acceptance) === undefined || finalizers.includes(RULE_FINALIZER)) return 'kept';
  if (deletionTimestamp !== undefined) return 'kept';
  const ref = { type: RESOURCES.FinalizerRule, name };
  const outcome = await changeExactly(kubernetes, ref, object.metadata, {
    finalizers: [...finalizers, RULE_FINALIZER],
  });
  return outcome.kind === 'ok' ? 'kept' : 'changed';
}

const RELEASED_CONDITION = 'ObjectsReleased';

/**
 * A rule that is being deleted goes when no object carries its finalizer, in sight or out of it; that is looked at once a minute, and its
 * condition `ObjectsReleased` names how many there are.
 *
 * @param isUnwatched its kind was never watched, as far as its status says
 */
export async function releaseRuleWhenUnused(
  deps: Deps,
  { object, record }: Pick<ObservedRule, 'object' | 'record'>,
  inForce: RuleInForce,
  isUnwatched: boolean,
): Promise<Turn> {
  const { metadata } = object;
  const left = await findCarriers(deps, inForce);
  // Without access to the kind we never put a finalizer on. Nobody will grant access just to end the rule.
  if (isUnwatched && left.kind === 'notKnown' && isForbidden(left.error)) return releaseRule(deps, { object, record });
  const now = deps.clock.now();
  // A run that read the rule before its deletion may still put the finalizer on an object: the last list counts once such runs are over.
  const deletion = parseTimestamp(metadata.deletionTimestamp ?? '') ?? now;
  const settled = addDuration(deletion, RUN_ENDS_WITHIN);
  const isSettled = isDue(now, settled);
  if (left.kind === 'none' && isSettled) return releaseRule(deps, { object, record });
  await showRelease(deps, object, reasonOf(left, inForce.rule, settled));
  const subject = subjectOf(object);
  await record.load();
  const next = addDuration(now, minutes(1));
  await record.save({ subject, value: {}, wakeTime: isSettled || settled > next ? next : settled });
  return DONE;
}

/** What carries the finalizer of a rule. `outOfSight`: its kind is not served in the version that the rule names. */
type Carriers =
  | { readonly kind: 'none' | 'outOfSight' }
  | { readonly kind: 'some'; readonly objects: readonly KubernetesObject[] }
  | NotKnown;

async function findCarriers(deps: Deps, inForce: RuleInForce): Promise<Carriers> {
  return await orNotKnown(
    listRuleObjects(deps, inForce).then((found): Carriers => {
      if (found === 'outOfSight') return { kind: 'outOfSight' };
      const objects = found.filter(each => carriesFinalizer(each, inForce));
      return objects.length === 0 ? { kind: 'none' } : { kind: 'some', objects };
    }),
  );
}

const isForbidden = (error: unknown): boolean => error instanceof RetryableError && error.reason === 'Forbidden';

/** Only informs: where it cannot be written, the rule waits all the same. */
async function showRelease(
  deps: Deps,
  { metadata: { name, uid } }: KubernetesObject,
  shown: Pick<Condition, 'status' | 'reason' | 'message'>,
): Promise<void> {
  const ref = { type: RESOURCES.FinalizerRule, name };
  const current = objectOf(await deps.kubernetes.get(ref), { notServed: 'none' });
  if (current?.metadata.uid !== uid) return;
  const conditions = [{ type: RELEASED_CONDITION, ...shown }];
  await setConditions(deps, ref, current, { conditions, now: deps.clock.now() });
}

/** Why the rule stays. */
function reasonOf(
  left: Carriers,
  rule: FinalizerRule,
  settled: EpochMs,
): Pick<Condition, 'status' | 'reason' | 'message'> {
  const { kind, version, finalizerName } = rule;
  switch (left.kind) {
    case 'none':
      return {
        status: 'True',
        reason: 'Released',
        message: `no object carries ${finalizerName}; the rule goes at ${toTimestamp(settled)}, for somebody may have read it before its deletion`,
      };
    case 'outOfSight':
      return {
        status: 'False',
        reason: 'NotServed',
        message: `${kind} is not served in version ${version}: its objects are out of sight`,
      };
    case 'notKnown':
      return {
        status: 'False',
        reason: 'ListFailed',
        message: `which objects carry ${finalizerName} is not known: ${messageOf(left.error)}`,
      };
    case 'some': {
      const carries = left.objects.length === 1 ? 'carries' : 'carry';
      return {
        status: 'False',
        reason: 'Waiting',
        message: `${countedNames(left.objects)} ${carries} ${finalizerName}`,
      };
    }
  }
}

/** `3 objects (prod/a, prod/b, c)`. */
export function countedNames(objects: readonly KubernetesObject[]): string {
  const names = objects.map(({ metadata }) => qualifiedName(metadata)).toSorted();
  return `${names.length} ${names.length === 1 ? 'object' : 'objects'} (${listed(names)})`;
}

/** A rule that is being deleted, and that nothing waits for. */
export async function releaseRule(
  { kubernetes }: Deps,
  { object, record }: Pick<ObservedRule, 'object' | 'record'>,
): Promise<Turn> {
  const ref = { type: RESOURCES.FinalizerRule, name: object.metadata.name };
  const current = objectOf(await kubernetes.get(ref), { notServed: 'notKnown' });
  if (current?.metadata.uid !== object.metadata.uid || current.metadata.deletionTimestamp === undefined) return DONE;
  const { finalizers = [] } = current.metadata;
  if (!finalizers.includes(RULE_FINALIZER)) return DONE;
  const left = finalizers.filter(name => name !== RULE_FINALIZER);
  const outcome = await changeExactly(kubernetes, ref, current.metadata, { finalizers: left });
  if (outcome.kind === 'conflict') return RULE_CHANGED;
  await closeRuleRecord(record);
  return DONE;
}
