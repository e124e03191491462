/** `pods/eviction`: a delete that PodDisruptionBudgets can forbid. */
import { admitValidating } from '../admission/validating.ts';
import type { JsonObject } from '../json.ts';
import { arrayAt, isObject, numberAt, objectAt, show, textAt } from '../json.ts';
import { labelSelectorMatches } from '../selectors/label-selector.ts';
import { metadataOf, nameOf, withMetadata } from '../objects.ts';
import type { ServerContext, Target } from '../server-context.ts';
import { existing, rfc3339 } from '../server-context.ts';
import { forbidden, tooManyRequests } from '../status-errors.ts';
import { ApiStatusError } from '../types.ts';
import type { DeleteOptions, Status } from '../types.ts';
import { commit, finish } from './commit.ts';
import { remove } from './delete.ts';
import { checkDeletePreconditions } from './preconditions.ts';

const BUDGETS = { group: 'policy', name: 'poddisruptionbudgets' };
/** Evictions that a budget may record without its controller confirming them. */
const MAX_DISRUPTED_PODS = 2000;
const DISRUPTION_ALLOWED = 'DisruptionAllowed';
const RETRY_AFTER_SECONDS = 10;
const VIOLATES = "Cannot evict pod as it would violate the pod's disruption budget.";

/**
 * Evicts a pod: finished, pending and terminating pods are deleted without asking; any other needs leave from its budget.
 * @throws ApiStatusError 404, 409, 429, 500, or as an admission policy says
 */
export function evict(server: ServerContext, target: Target, options: DeleteOptions): Status {
  admitValidating(server, {
    target,
    operation: 'CREATE',
    subresource: 'eviction',
    object: evictionOf(target),
    oldObject: undefined,
    options,
  });
  const pod = existing(target);
  if (!ignoresBudgets(pod)) askBudgets(server, target, pod, options);
  checkDeletePreconditions(target, pod, options.preconditions);
  const marked = options.dryRun === true ? pod : markDisrupted(server, target, pod);
  const { preconditions, ...rest } = options;
  // The precondition was checked against the pod that was evicted; marking it has moved its version on.
  const remains = remove(
    server,
    target,
    marked,
    preconditions?.uid === undefined ? rest : { ...rest, preconditions: { uid: preconditions.uid } },
  );
  const { gracePeriodSeconds } = options;
  const request = {
    verb: 'evict',
    options,
    subresource: 'eviction',
    ...(gracePeriodSeconds === undefined ? {} : { gracePeriodSeconds }),
  } as const;
  finish(server, target, request, { before: pod, after: 'stays' in remains ? remains.stays : undefined });
  return { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success', code: 201 };
}

/** What a policy about `pods/eviction` sees: policies about the deletion of pods are not asked. */
const evictionOf = ({ namespace, name }: Target): JsonObject => ({
  apiVersion: 'policy/v1',
  kind: 'Eviction',
  metadata: { namespace, name },
});

function ignoresBudgets(pod: JsonObject): boolean {
  const phase = textAt(objectAt(pod, 'status'), 'phase') ?? '';
  return ['Succeeded', 'Failed', 'Pending'].includes(phase) || metadataOf(pod).deletionTimestamp !== undefined;
}

function askBudgets(server: ServerContext, { namespace, name }: Target, pod: JsonObject, options: DeleteOptions): void {
  const served = server.registry.find(BUDGETS.group, BUDGETS.name);
  if (served === undefined) return;
  const budgets: readonly JsonObject[] = served.storage.collection
    .list(namespace)
    .filter(budget => selects(budget, pod));
  const [budget] = budgets;
  if (budget === undefined) return;
  if (budgets.length > 1) {
    throw new ApiStatusError({
      kind: 'Status',
      apiVersion: 'v1',
      metadata: {},
      status: 'Failure',
      message: 'This pod has more than one PodDisruptionBudget, which the eviction subresource does not support.',
      code: 500,
    });
  }
  if (!isReady(pod) && letsUnhealthyGo(budget)) return;
  const status = spendDisruption(budget, name, rfc3339(server.clock.now()));
  if (options.dryRun === true) return;
  commit(server, { served, namespace, name: nameOf(budget) }, { before: budget, after: { ...budget, status } });
}

function selects(budget: JsonObject, pod: JsonObject): boolean {
  const { selector } = objectAt(budget, 'spec');
  // A budget without a selector matches nothing, an empty selector everything.
  return isObject(selector) && labelSelectorMatches(selector, objectAt(metadataOf(pod), 'labels'));
}

function isReady(pod: JsonObject): boolean {
  return arrayAt(objectAt(pod, 'status'), 'conditions').some(
    condition => isObject(condition) && condition.type === 'Ready' && condition.status === 'True',
  );
}

/** A pod that is not ready may go if the budget's policy says so, or while enough others are healthy. */
function letsUnhealthyGo(budget: JsonObject): boolean {
  if (objectAt(budget, 'spec').unhealthyPodEvictionPolicy === 'AlwaysAllow') return true;
  const { current, desired } = health(objectAt(budget, 'status'));
  return current >= desired && desired > 0;
}

function health(status: JsonObject): { current: number; desired: number } {
  return { current: numberAt(status, 'currentHealthy') ?? 0, desired: numberAt(status, 'desiredHealthy') ?? 0 };
}

/**
 * The budget's status after one more disruption.
 * @throws ApiStatusError 429 when it allows none or has not caught up with its spec, 403 when it is beyond use
 */
function spendDisruption(budget: JsonObject, podName: string, now: string): JsonObject {
  const name = nameOf(budget);
  const status = objectAt(budget, 'status');
  const disruptedPods = objectAt(status, 'disruptedPods');
  if ((numberAt(status, 'observedGeneration') ?? 0) < (numberAt(metadataOf(budget), 'generation') ?? 0)) {
    const message = `The disruption budget ${name} is still being processed by the server.`;
    throw tooManyRequests(VIOLATES, RETRY_AFTER_SECONDS, [{ reason: 'DisruptionBudget', message }]);
  }
  const allowed = numberAt(status, 'disruptionsAllowed') ?? 0;
  const forbid = (why: string) => forbidden({ group: 'policy', name: 'poddisruptionbudget' }, name, why);
  if (allowed < 0) throw forbid('pdb disruptions allowed is negative');
  if (Object.keys(disruptedPods).length > MAX_DISRUPTED_PODS) {
    throw forbid('DisruptedPods map too big - too many evictions not confirmed by PDB controller');
  }
  if (allowed === 0) {
    throw tooManyRequests(VIOLATES, 0, [{ reason: 'DisruptionBudget', message: whyNoneIsAllowed(name, status) }]);
  }
  const spent = { ...status, disruptionsAllowed: allowed - 1, disruptedPods: { ...disruptedPods, [podName]: now } };
  return allowed === 1 ? withNoneAllowed(spent, now) : spent;
}

/** The condition of a budget that has just been used up. */
function withNoneAllowed(status: JsonObject, now: string): JsonObject {
  const conditions = arrayAt(status, 'conditions').filter(isObject);
  const old = conditions.find(({ type }) => type === DISRUPTION_ALLOWED);
  const condition: JsonObject = {
    type: DISRUPTION_ALLOWED,
    status: 'False',
    reason: 'InsufficientPods',
    message: '',
    lastTransitionTime: old?.status === 'False' ? (old.lastTransitionTime ?? now) : now,
    observedGeneration: numberAt(status, 'observedGeneration') ?? 0,
  };
  return { ...status, conditions: [...conditions.filter(each => each !== old), condition] };
}

function whyNoneIsAllowed(name: string, status: JsonObject): string {
  const condition = arrayAt(status, 'conditions')
    .filter(isObject)
    .find(({ type }) => type === DISRUPTION_ALLOWED);
  const message = condition?.status === 'False' ? (textAt(condition, 'message') ?? '') : '';
  if (message !== '' && condition?.reason === 'SyncFailed') {
    return `The disruption budget ${name} does not allow evicting pods currently because it failed sync: ${message}`;
  }
  const { current, desired } = health(status);
  if (current <= desired)
    return `The disruption budget ${name} needs ${desired} healthy pods and has ${current} currently`;
  const always = `The disruption budget ${name} does not allow evicting pods currently`;
  return message === '' ? always : `${always} (${show(condition?.reason)}): ${message}`;
}

/** The condition by which the owner of the pod learns why it goes. */
function markDisrupted(server: ServerContext, target: Target, pod: JsonObject): JsonObject {
  const status = objectAt(pod, 'status');
  const conditions = arrayAt(status, 'conditions');
  const old = conditions.filter(isObject).find(({ type }) => type === 'DisruptionTarget');
  const condition: JsonObject = {
    type: 'DisruptionTarget',
    status: 'True',
    reason: 'EvictionByEvictionAPI',
    message: 'Eviction API: evicting',
    lastTransitionTime: old?.status === 'True' ? (old.lastTransitionTime ?? null) : rfc3339(server.clock.now()),
  };
  const others = conditions.filter(each => each !== old);
  const after = withMetadata({ ...pod, status: { ...status, conditions: [...others, condition] } }, {});
  return commit(server, target, { before: pod, after });
}
