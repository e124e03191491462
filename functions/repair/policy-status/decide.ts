/**
 * Decides the status of a policy: what it selects, how the repairs there stand, its conditions, and whether the status
 * is written now. Pure.
 *
 * | question | function | in | asked by |
 * |---|---|---|---|
 * | whether the status is written, and what it says | `decide` | `decide.ts` | `reconcile.ts` |
 */
import { warningOf } from './rule/conditions.ts';
import type { PolicyFacts, PolicyWarning } from './rule/policy-facts.ts';
import { type PolicySummary, summarize } from './rule/summary.ts';
import { isJsonObject, isSameJson, listIn } from '../../../shared/domain/json.ts';
import type { JsonObject } from '../../../shared/domain/kubernetes-object.ts';
import { type EpochMs, toTimestamp } from '../../../shared/domain/time.ts';

/** Decision on the status of one policy. */
export type StatusDecision =
  /** The status says so already. */
  | { readonly kind: 'same' }
  /** Nothing but numbers differs, and those are written later. */
  | { readonly kind: 'later' }
  /** The status is written. @property warning its news about Karpenter's finalizer */
  | { readonly kind: 'write'; readonly status: JsonObject; readonly warning: PolicyWarning | undefined };

/** Decides on the status of one policy. @param counts a status of which nothing but numbers differs is written, too */
export function decide(
  facts: PolicyFacts,
  { counts, now }: { readonly counts: boolean; readonly now: EpochMs },
): StatusDecision {
  const { statusBefore } = facts;
  const summary = summarize(facts);
  const status = statusOf(facts, summary, now);
  if (Object.entries(status).every(([key, value]) => isSameJson(statusBefore?.[key] ?? null, value)))
    return { kind: 'same' };
  if (!counts && differsByNumbers(statusBefore, status)) return { kind: 'later' };
  return { kind: 'write', status, warning: newWarning(facts) };
}

/** The status as it should be. */
function statusOf(
  { generation, acceptedGeneration, statusBefore }: PolicyFacts,
  summary: PolicySummary,
  now: EpochMs,
): JsonObject {
  const observedGeneration = generation ?? 0;
  const conditionsBefore = conditionsOf(statusBefore);
  const conditions = summary.conditions.map((condition): JsonObject => {
    const old = conditionsBefore.find(({ type }) => type === condition.type);
    const since = old?.['status'] === condition.status ? old['lastTransitionTime'] : undefined;
    return { ...condition, observedGeneration, lastTransitionTime: since ?? toTimestamp(now) };
  });
  // Null stands for a field that is absent, and takes it away in a merge patch.
  const own = { observedGeneration, acceptedGeneration: acceptedGeneration ?? null };
  return { ...summary, pools: [...summary.pools], conditions, ...own };
}

/** Whether nothing but numbers differs, and neither `held` nor `repairing` becomes zero or ceases to be. */
function differsByNumbers(statusBefore: JsonObject | undefined, next: JsonObject): boolean {
  const isAny = (status: JsonObject | undefined, key: string): boolean => (status?.[key] ?? 0) !== 0;
  return (
    ['conditions', 'observedGeneration'].every(key => isSameJson(statusBefore?.[key], next[key])) &&
    ['held', 'repairing'].every(key => isAny(statusBefore, key) === isAny(next, key))
  );
}

/**
 * The warning that Karpenter's finalizer keeps the policy's terminations from being in force; undefined: the status has
 * said so already, or there is none.
 */
function newWarning(facts: PolicyFacts): PolicyWarning | undefined {
  const warning = warningOf(facts);
  if (warning?.isReported !== true) return undefined;
  const before = conditionsOf(facts.statusBefore).find(({ type }) => type === 'Warning');
  const isSaid = before?.['reason'] === warning.reason && before['message'] === warning.message;
  return isSaid ? undefined : warning;
}

const conditionsOf = (status: JsonObject | undefined): readonly JsonObject[] =>
  listIn(status, 'conditions').filter(isJsonObject);
