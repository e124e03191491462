/** The FinalizerRules of the cluster: which is in force for a kind, and what is wrong with the others. Always live reads. */
import { parseFinalizerRule } from '../../../shared/contract/finalizer-rule-schema.ts';
import { RESOURCES } from '../../../shared/contract/resources.ts';
import type { FinalizerRule } from '../../../shared/domain/finalizer-rule.ts';
import type { KubernetesObject, ResourceType } from '../../../shared/domain/kubernetes-object.ts';
import type { FunctionDeps } from '../../../shared/ports/function-deps.ts';
import { objectsOf } from '../../../shared/ports/read-answer.ts';

export interface RuleInForce {
  readonly object: KubernetesObject;
  readonly rule: FinalizerRule;
  /** As the API server serves the kind; undefined until the forwarder watches it. */
  readonly type: ResourceType | undefined;
}

/** Whether the object has the finalizer of this rule. */
export const isCarrying = ({ metadata }: KubernetesObject, { rule }: RuleInForce): boolean =>
  metadata.finalizers?.includes(rule.finalizerName) === true;

export type Standing =
  | { readonly kind: 'inForce'; readonly value: RuleInForce }
  | { readonly kind: 'invalid'; readonly message: string }
  /** An older rule has the kind. */
  | { readonly kind: 'conflict'; readonly with: string };

/** @throws {OutOfSight} when the definition of FinalizerRules is not served: which rules there are is not known */
export async function loadRules({
  kubernetes,
}: Pick<FunctionDeps, 'kubernetes'>): Promise<readonly KubernetesObject[]> {
  return objectsOf(await kubernetes.list(RESOURCES.FinalizerRule), { notServed: 'notKnown' });
}

/** How one rule stands among all: for each kind the oldest counts, ties by name. */
export function standingOf(object: KubernetesObject, all: readonly KubernetesObject[]): Standing {
  const own = parseFinalizerRule(object.spec);
  if (!own.ok) return { kind: 'invalid', message: own.message };
  const { group, kind, version } = own.value;
  const older = all
    .filter(other => isBefore(other, object))
    .find(other => {
      const parsed = parseFinalizerRule(other.spec);
      return parsed.ok && parsed.value.group === group && parsed.value.kind === kind;
    });
  if (older !== undefined) return { kind: 'conflict', with: older.metadata.name };
  const resource = object.status?.['resource'];
  const type = typeof resource === 'string' ? { group, version, resource } : undefined;
  return { kind: 'inForce', value: { object, rule: own.value, type } };
}

function isBefore({ metadata: a }: KubernetesObject, { metadata: b }: KubernetesObject): boolean {
  if (a.uid === b.uid) return false;
  if (a.creationTimestamp !== b.creationTimestamp) return a.creationTimestamp < b.creationTimestamp;
  return a.name < b.name;
}

/** The rule in force for a kind. */
export function ruleFor(group: string, kind: string, all: readonly KubernetesObject[]): RuleInForce | undefined {
  for (const object of all) {
    const standing = standingOf(object, all);
    if (standing.kind !== 'inForce') continue;
    const { rule } = standing.value;
    if (rule.group === group && rule.kind === kind) return standing.value;
  }
  return undefined;
}
