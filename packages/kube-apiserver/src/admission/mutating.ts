/** MutatingAdmissionPolicies: the object of a write as they change it. */
import type { JsonObject } from '../json.ts';
import { arrayAt, equalJson, isObject, objectAt, withField } from '../json.ts';
import { nameOf } from '../objects.ts';
import type { ServerContext } from '../server-context.ts';
import { inVersion, resourceOf } from '../server-context.ts';
import { notMutated } from '../status-errors.ts';
import type { ApiStatusError } from '../types.ts';
import { mutate, type Mutated } from './mutations.ts';
import { policiesFor, invocations, type BoundPolicy, type Invocation } from './policies.ts';
import type { AdmissionRequest } from './request.ts';

/**
 * The object after all policies; the object itself when none changes it. A policy with `reinvocationPolicy: IfNeeded` runs a second
 * time when another one changed the object after it.
 * @throws ApiStatusError 403 when a policy whose failurePolicy is Fail cannot be evaluated
 */
export function admitMutating(
  server: ServerContext,
  request: AdmissionRequest & { readonly object: JsonObject },
): JsonObject {
  const policies = policiesFor(server, 'mutating', request);
  let { object } = request;
  /** What each policy left behind when it ran. */
  const left = new Map<BoundPolicy, JsonObject>();
  const run = (bound: BoundPolicy): void => {
    object = apply(server, bound, { ...request, object });
    left.set(bound, object);
  };
  for (const bound of policies) run(bound);
  for (const bound of policies) {
    if (objectAt(bound.policy, 'spec').reinvocationPolicy === 'IfNeeded' && left.get(bound) !== object) run(bound);
  }
  return object;
}

function apply(
  server: ServerContext,
  bound: BoundPolicy,
  request: AdmissionRequest & { readonly object: JsonObject },
): JsonObject {
  const spec = objectAt(bound.policy, 'spec');
  const mutations = arrayAt(spec, 'mutations').filter(isObject);
  let { object } = request;
  for (const invocation of invocations(server, bound, request)) {
    const result = invocation.kind === 'error' ? invocation : mutateAll(object, mutations, invocation);
    if (result.kind === 'mutated') object = result.object;
    else if (spec.failurePolicy !== 'Ignore') throw denied(bound, request, result.message);
  }
  return equalJson(object, request.object) ? request.object : object;
}

/** The object after all mutations of a policy, each on what the one before it made; none counts when one fails. */
function mutateAll(
  object: JsonObject,
  mutations: readonly JsonObject[],
  { as, scopeOf }: Extract<Invocation, { kind: 'evaluate' }>,
): Mutated {
  let current = object;
  for (const mutation of mutations) {
    const result = mutate(inVersion(current, as), mutation, scopeOf(current), as.rules.mergeSchema);
    if (result.kind === 'error') return result;
    current = withField(result.object, 'apiVersion', object.apiVersion);
  }
  return { kind: 'mutated', object: current };
}

function denied({ policy, binding }: BoundPolicy, { target }: AdmissionRequest, why: string): ApiStatusError {
  const message = `policy '${nameOf(policy)}' with binding '${nameOf(binding)}' denied request: ${why}`;
  return notMutated(resourceOf(target.served), target.name, message);
}
