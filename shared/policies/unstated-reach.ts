/**
 * Warns of a policy that says neither where nor how: defaults make it enforce everywhere, which nobody should meet by
 * accident. `validate` and the status of the policy ask here; the admission policy of `deploy/policies` says the same
 * at `kubectl apply`. Pure.
 */
import { fieldsOf } from '../domain/json.ts';
import type { JsonObject } from '../domain/kubernetes-object.ts';
import { isBlockless } from './deciding-policy.ts';

/** `enforces on all NodePools (no nodePoolSelector, no mode)`; undefined: the policy states where it applies, or enforces nothing. */
export function unstatedReach(spec: JsonObject): string | undefined {
  const { nodePoolSelector, mode } = spec;
  if (isBlockless({ spec }) || (mode !== undefined && mode !== 'Enforce')) return undefined;
  const unstated = [
    ...(nodePoolSelector === undefined ? ['no nodePoolSelector'] : []),
    ...(mode === undefined ? ['no mode'] : []),
  ];
  if (unstated.length === 0) return undefined;
  const { matchLabels, matchExpressions } = fieldsOf(nodePoolSelector);
  const isOfAll = isNothing(matchLabels) && isNothing(matchExpressions);
  return isOfAll ? `enforces on all NodePools (${unstated.join(', ')})` : undefined;
}

const isNothing = (value: unknown): boolean =>
  value === undefined || (typeof value === 'object' && value !== null && Object.keys(value).length === 0);
