/**
 * Wake-ups of the objects that a change of a FinalizerRule concerns. They are woken in a round (`shared/policies/rounds.ts`): spread, and once
 * for a burst of changes, whatever their number.
 */
import { OWNER } from '../common/context.ts';
import type { Subject } from '../../../shared/contract/subject.ts';
import { type KubernetesObject, subjectOf } from '../../../shared/domain/kubernetes-object.ts';
import { seconds } from '../../../shared/domain/time.ts';
import type { RoundTargets } from '../../../shared/lifecycle/next-round.ts';
import { createRounds, type Rounds } from '../../../shared/policies/rounds.ts';
import type { FunctionDeps } from '../../../shared/ports/function-deps.ts';
import { cleanUpOf, type FinalizerRuleInForce } from './rule/acceptance.ts';
import { isNotServed } from '../../../shared/custom-resource/not-served.ts';
import { acceptanceOf, carriesFinalizer, loadFinalizerRules } from './finalizer-rule-set.ts';

type Deps = Pick<FunctionDeps, 'kubernetes' | 'records' | 'wakeUps' | 'clock'>;

/** Rounds after changes of FinalizerRules; their targets are FinalizerRules. */
export function finalizerRuleRounds(deps: Deps): Rounds {
  return createRounds(deps, {
    owner: OWNER,
    name: 'rules',
    spacing: seconds(10),
    findAffected: targets => affectedByFinalizerRules(deps, targets),
  });
}

async function affectedByFinalizerRules(deps: Deps, targets: RoundTargets): Promise<readonly Subject[]> {
  const all = await loadFinalizerRules(deps);
  const subjects: Subject[] = [];
  for (const object of all) {
    if (targets !== 'all' && !targets.includes(object.metadata.name)) continue;
    const rule = cleanUpOf(acceptanceOf(object, all));
    if (rule === undefined) continue;
    const found = await listFinalizerRuleObjects(deps, rule);
    // The forwarder says when they can be seen again, each by itself.
    if (found === 'notServed') continue;
    subjects.push(...found.filter(object => isAffected(object, rule)).map(object => toSubject(object, rule.rule.kind)));
  }
  return subjects;
}

/** All objects of the kind, without their specs; none while the kind is not watched. `notServed`: there may be some. */
export async function listFinalizerRuleObjects(
  { kubernetes }: Pick<Deps, 'kubernetes'>,
  { type, rule }: FinalizerRuleInForce,
): Promise<readonly KubernetesObject[] | 'notServed'> {
  if (type === undefined) return [];
  const project = ({ apiVersion, kind, metadata }: KubernetesObject): KubernetesObject => ({
    apiVersion,
    kind,
    metadata,
  });
  const answer = await kubernetes.list(type, {}, { project });
  if (answer.kind === 'there') return answer.objects;
  return (await isNotServed({ kubernetes }, rule, type)) ? 'notServed' : [];
}

/**
 * Whether a change of the FinalizerRule concerns an object: it is to carry the finalizer, or it is under way and its deadline may have come nearer.
 * Under a FinalizerRule that ends: it is to be set free; an object under way goes on as before.
 */
function isAffected(object: KubernetesObject, inForce: FinalizerRuleInForce): boolean {
  const isTerminating = object.metadata.deletionTimestamp !== undefined;
  const ends = inForce.object.metadata.deletionTimestamp !== undefined;
  if (ends) return carriesFinalizer(object, inForce) && !isTerminating;
  return inForce.addsFinalizer
    ? isTerminating || !carriesFinalizer(object, inForce)
    : carriesFinalizer(object, inForce);
}

const toSubject = (object: KubernetesObject, kind: string): Subject => ({
  ...subjectOf(object),
  kind: object.kind ?? kind,
});
