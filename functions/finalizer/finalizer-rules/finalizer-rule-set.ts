/** The FinalizerRules of the cluster: which is in force for a kind, and what is wrong with the others. Always live reads. */
import { parseCleanUp, parseFinalizerRule } from '../../../shared/contract/finalizer-rule-schema.ts';
import { RESOURCES } from '../../../shared/contract/resources.ts';
import type { FinalizerRule } from '../../../shared/domain/finalizer-rule.ts';
import type { KubernetesObject } from '../../../shared/domain/kubernetes-object.ts';
import type { FunctionDeps } from '../../../shared/ports/function-deps.ts';
import { objectsOf } from '../../../shared/ports/read-answer.ts';
import { cleanUpOf, type FinalizerRuleAcceptance, type FinalizerRuleInForce } from './rule/acceptance.ts';

/** Finalizer on a FinalizerRule: while objects carry the finalizer that it names, it does not go. */
export const FINALIZER_RULE_FINALIZER = 'curfew.dev/finalizer-rule';

/** Whether the object has the finalizer of this FinalizerRule. */
export const carriesFinalizer = ({ metadata }: KubernetesObject, { rule }: FinalizerRuleInForce): boolean =>
  metadata.finalizers?.includes(rule.finalizerName) === true;

/** Reads all FinalizerRules. @throws {KindNotServed} when their definition is not served: which FinalizerRules there are is not known */
export async function loadFinalizerRules({
  kubernetes,
}: Pick<FunctionDeps, 'kubernetes'>): Promise<readonly KubernetesObject[]> {
  return objectsOf(await kubernetes.list(RESOURCES.FinalizerRule), { ifNotServed: 'throw' });
}

/** The standing of one FinalizerRule among all: for each kind the oldest counts, ties by name. */
export function acceptanceOf(object: KubernetesObject, all: readonly KubernetesObject[]): FinalizerRuleAcceptance {
  const parsed = parseFinalizerRule(object.spec);
  const resource = object.status?.['resource'];
  const inForce = (rule: FinalizerRule, addsFinalizer: boolean): FinalizerRuleInForce => {
    const { group, version } = rule;
    const hasOwnFinalizer = object.metadata.finalizers?.includes(FINALIZER_RULE_FINALIZER) === true;
    const type = typeof resource === 'string' ? { group, version, resource } : undefined;
    return { object, rule, addsFinalizer, hasOwnFinalizer, type };
  };
  if (!parsed.ok) {
    const cleanUp = parseCleanUp(object.spec);
    return { kind: 'invalid', message: parsed.message, cleansUp: cleanUp && inForce(cleanUp, false) };
  }
  const { group, kind } = parsed.value;
  const older = all
    .filter(other => isBefore(other, object))
    .find(other => {
      const parsed = parseFinalizerRule(other.spec);
      return parsed.ok && parsed.value.group === group && parsed.value.kind === kind;
    });
  if (older !== undefined)
    return { kind: 'conflict', olderFinalizerRule: older.metadata.name, cleansUp: inForce(parsed.value, false) };
  return { kind: 'inForce', value: inForce(parsed.value, true) };
}

function isBefore({ metadata: a }: KubernetesObject, { metadata: b }: KubernetesObject): boolean {
  if (a.uid === b.uid) return false;
  if (a.creationTimestamp !== b.creationTimestamp) return a.creationTimestamp < b.creationTimestamp;
  return a.name < b.name;
}

/**
 * The FinalizerRules that see to objects of a kind: the one in force first, then those that only clean up objects with their finalizer. Of several
 * that name one finalizer the first counts.
 */
export function finalizerRulesForKind(
  group: string,
  kind: string,
  all: readonly KubernetesObject[],
): readonly FinalizerRuleInForce[] {
  const ofKind = all
    .map(object => cleanUpOf(acceptanceOf(object, all)))
    .filter(each => each !== undefined)
    .filter(({ rule }) => rule.group === group && rule.kind === kind)
    .toSorted((a, b) => Number(b.addsFinalizer) - Number(a.addsFinalizer));
  return ofKind.filter(
    ({ rule }, index) => ofKind.findIndex(each => each.rule.finalizerName === rule.finalizerName) === index,
  );
}

/** Whether one of these FinalizerRules sees to the objects of this one, with the same finalizer. */
export function isReplacedBy(acceptance: FinalizerRuleAcceptance, all: readonly KubernetesObject[]): boolean {
  const inForce = cleanUpOf(acceptance);
  if (inForce === undefined) return false;
  const { group, kind, finalizerName } = inForce.rule;
  const first = finalizerRulesForKind(group, kind, all).find(({ rule }) => rule.finalizerName === finalizerName);
  return first !== undefined && first.object.metadata.uid !== inForce.object.metadata.uid;
}
