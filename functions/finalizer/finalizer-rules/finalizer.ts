/** The finalizer of a FinalizerRule itself: one that is deleted stays until no object carries the finalizer that it names. */
import type { FinalizerDeps } from '../common/context.ts';
import { RESOURCES } from '../../../shared/contract/resources.ts';
import { deletionTimeOf, type KubernetesObject } from '../../../shared/domain/kubernetes-object.ts';
import type { EpochMs } from '../../../shared/domain/time.ts';
import { messageOf, RetryableError } from '../../../shared/errors.ts';
import { anotherTurn, DONE, type Turn } from '../../../shared/lifecycle/settle.ts';
import { closeFinalizerRuleRecord } from './record.ts';
import { setConditions } from '../common/set-condition.ts';
import type { FinalizerRuleInForce } from './rule/acceptance.ts';
import { decideRelease, type ObjectsWithFinalizer, type WaitReason } from './decide.ts';
import { carriesFinalizer, FINALIZER_RULE_FINALIZER } from './finalizer-rule-set.ts';
import type { ObservedFinalizerRule } from './observe.ts';
import { listFinalizerRuleObjects } from './wake-ups.ts';
import { changeExactly } from '../../../shared/ports/exact-change.ts';
import { objectOf, valueOrUnavailable } from '../../../shared/ports/read-answer.ts';

type Deps = Pick<FinalizerDeps, 'kubernetes' | 'clock'>;

export const FINALIZER_RULE_CHANGED = anotherTurn('somebody changed it');

/** Puts the FinalizerRule's own finalizer on. `changed`: nothing was done, for it has changed, or is gone. */
export async function addOwnFinalizer(
  { kubernetes }: Pick<Deps, 'kubernetes'>,
  { metadata }: KubernetesObject,
): Promise<'kept' | 'changed'> {
  const { name, finalizers = [] } = metadata;
  const ref = { type: RESOURCES.FinalizerRule, name };
  const outcome = await changeExactly(kubernetes, ref, metadata, {
    finalizers: [...finalizers, FINALIZER_RULE_FINALIZER],
  });
  return outcome.kind === 'ok' ? 'kept' : 'changed';
}

/** The FinalizerRule stays for its objects. */
export interface WaitForObjects {
  readonly kind: 'wait';
  /** Time of the next look. */
  readonly until: EpochMs;
}

const RELEASED_CONDITION = 'ObjectsReleased';

/**
 * Lets a FinalizerRule that is being deleted go when no object carries its finalizer. Until then its condition `ObjectsReleased` names how many there
 * are.
 *
 * @param isUnwatched its kind was never watched, as far as its status says
 */
export async function releaseFinalizerRuleWhenUnused(
  deps: Deps,
  { object, timedRecord }: Pick<ObservedFinalizerRule, 'object' | 'timedRecord'>,
  inForce: FinalizerRuleInForce,
  isUnwatched: boolean,
): Promise<Turn | WaitForObjects> {
  const objectsWithFinalizer = await findObjectsWithFinalizer(deps, inForce);
  const now = deps.clock.now();
  const deletionTime = deletionTimeOf(object) ?? now;
  const decision = decideRelease({ now, rule: inForce.rule, deletionTime, objectsWithFinalizer, isUnwatched });
  if (decision.kind === 'release') return releaseFinalizerRule(deps, { object, timedRecord });
  await showRelease(deps, object, decision.because);
  return { kind: 'wait', until: decision.until };
}

async function findObjectsWithFinalizer(deps: Deps, inForce: FinalizerRuleInForce): Promise<ObjectsWithFinalizer> {
  const listed = await valueOrUnavailable(listFinalizerRuleObjects(deps, inForce));
  if (listed.kind === 'unavailable')
    return { kind: 'unavailable', message: messageOf(listed.error), isForbidden: isForbidden(listed.error) };
  if (listed.value === 'notServed') return { kind: 'notServed' };
  const objects = listed.value.filter(object => carriesFinalizer(object, inForce));
  return objects.length === 0 ? { kind: 'none' } : { kind: 'some', objects };
}

const isForbidden = (error: unknown): boolean => error instanceof RetryableError && error.reason === 'Forbidden';

/** Shows why the FinalizerRule stays. This only informs: if it cannot be written, the FinalizerRule waits all the same. */
async function showRelease(
  deps: Deps,
  { metadata: { name, uid } }: KubernetesObject,
  because: WaitReason,
): Promise<void> {
  const ref = { type: RESOURCES.FinalizerRule, name };
  const current = objectOf(await deps.kubernetes.get(ref), { ifNotServed: 'empty' });
  if (current?.metadata.uid !== uid) return;
  const conditions = [{ type: RELEASED_CONDITION, ...because }];
  await setConditions(deps, ref, current, { conditions, now: deps.clock.now() });
}

/** Takes the FinalizerRule's own finalizer off: it is being deleted, and nothing waits for it. */
export async function releaseFinalizerRule(
  { kubernetes }: Deps,
  { object, timedRecord }: Pick<ObservedFinalizerRule, 'object' | 'timedRecord'>,
): Promise<Turn> {
  const ref = { type: RESOURCES.FinalizerRule, name: object.metadata.name };
  const current = objectOf(await kubernetes.get(ref), { ifNotServed: 'throw' });
  if (current?.metadata.uid !== object.metadata.uid || current.metadata.deletionTimestamp === undefined) return DONE;
  const { finalizers = [] } = current.metadata;
  if (!finalizers.includes(FINALIZER_RULE_FINALIZER)) return DONE;
  const otherFinalizers = finalizers.filter(name => name !== FINALIZER_RULE_FINALIZER);
  const outcome = await changeExactly(kubernetes, ref, current.metadata, { finalizers: otherFinalizers });
  if (outcome.kind === 'conflict') return FINALIZER_RULE_CHANGED;
  await closeFinalizerRuleRecord(timedRecord);
  return DONE;
}
