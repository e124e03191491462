/** The policies that apply to a pool, as an explanation lists them. */
import type { KubernetesObject } from '../../shared/domain/kubernetes-object.ts';
import { policiesFor, type PolicySet } from '../../shared/policies/policy-set.ts';
import { type SettingsInForce, unreadFor, unreadText } from './settings-in-force.ts';

export interface StatedPolicy {
  readonly name: string;
  /** undefined: it cannot be read as it is, so that its mode is not in force. */
  readonly mode: 'Enforce' | 'Observe' | undefined;
  /** Reasons why it cannot be read, with the version that is in force. */
  readonly unread?: readonly string[];
}

/** Lists those that apply as they are in order of precedence, then those that cannot be read. */
export function statedPolicies(
  { stated, inForce }: { readonly stated: PolicySet; readonly inForce: SettingsInForce },
  pool: KubernetesObject | undefined,
): readonly StatedPolicy[] {
  const unread = Map.groupBy(
    Object.values(inForce).flatMap(each => unreadFor(pool, each)),
    ({ name }) => name,
  );
  const read = policiesFor(pool, stated).filter(({ object }) => !unread.has(object.metadata.name));
  return [
    ...read.map(({ object, mode }) => ({ name: object.metadata.name, mode })),
    ...[...unread].map(([name, faults]) => ({ name, mode: undefined, unread: [...new Set(faults.map(unreadText))] })),
  ];
}

/** The policies by name, each with its mode. */
export const policiesText = (policies: readonly StatedPolicy[]): string =>
  policies.map(({ name, mode, unread }) => `${name} (${unread?.join('; ') ?? `mode ${mode}`})`).join(', ');
