/** The policies that apply to a request: bound, matched, with their parameters. */
import type { JsonObject } from '../json.ts';
import { arrayAt, isObject, objectAt, textAt } from '../json.ts';
import { nameOf } from '../objects.ts';
import type { ServedResource } from '../resources/resource-rules.ts';
import type { Collection } from '../store/collection.ts';
import type { ServerContext } from '../server-context.ts';
import { inVersion } from '../server-context.ts';
import { matchedResource, mayMatch } from './matching.ts';
import { paramsOf } from './params.ts';
import { celObject } from './cel.ts';
import { createScope, type Scope } from './scope.ts';
import { namespaceOfRequest, requestVariable, type AdmissionRequest } from './request.ts';

const ADMISSION_GROUP = 'admissionregistration.k8s.io';
export type PolicyType = 'validating' | 'mutating';

/** A policy and the binding that puts it into force. */
export interface BoundPolicy {
  readonly policy: JsonObject;
  readonly binding: JsonObject;
}

/** How one policy with one binding and one parameter object stands to a request. */
export type Invocation =
  /**
   * Its conditions hold: it is to be evaluated. `as` is the resource in the version that it matched; `scopeOf` has the variables of
   * an evaluation, for the object of the request or for what a mutation has made of it.
   */
  | {
      readonly kind: 'evaluate';
      readonly as: ServedResource;
      readonly scopeOf: (object: JsonObject | undefined) => Scope;
    }
  /** It cannot be told whether or how it applies. */
  | { readonly kind: 'error'; readonly message: string };

/** The bound policies of a type whose rules name the resource and the operation, by the policies' names. Every write asks. */
export function policiesFor(
  server: ServerContext,
  type: PolicyType,
  { target: { served }, operation, subresource }: AdmissionRequest,
): readonly BoundPolicy[] {
  const all = boundPolicies(server, type);
  if (all.length === 0) return all;
  const known = found.get(all) ?? new Map<ServedResource, Map<string, readonly BoundPolicy[]>>();
  found.set(all, known);
  const ofResource = known.get(served) ?? new Map<string, readonly BoundPolicy[]>();
  known.set(served, ofResource);
  const what = subresource === undefined ? operation : `${operation} ${subresource}`;
  const before = ofResource.get(what);
  if (before !== undefined) return before;
  const named = all.filter(({ policy }) =>
    mayMatch(server, objectAt(objectAt(policy, 'spec'), 'matchConstraints'), { served, operation, subresource }),
  );
  ofResource.set(what, named);
  return named;
}

/** What was found of each resource; what is bound is listed anew after each change. */
const found = new WeakMap<readonly BoundPolicy[], Map<ServedResource, Map<string, readonly BoundPolicy[]>>>();

function boundPolicies(server: ServerContext, type: PolicyType): readonly BoundPolicy[] {
  const bindings = server.registry.find(ADMISSION_GROUP, `${type}admissionpolicybindings`)?.storage.collection;
  const policies = server.registry.find(ADMISSION_GROUP, `${type}admissionpolicies`)?.storage.collection;
  if (bindings === undefined || policies === undefined || bindings.size === 0) return [];
  const before = bound.get(bindings);
  if (before?.policies === policies.revision && before.bindings === bindings.revision) return before.all;
  const every = bindings.list();
  const all = policies
    .list()
    .flatMap(policy =>
      every
        .filter(binding => textAt(objectAt(binding, 'spec'), 'policyName') === nameOf(policy))
        .map(binding => ({ policy, binding })),
    );
  bound.set(bindings, { policies: policies.revision, bindings: bindings.revision, all });
  return all;
}

/** What was found last, and of which revisions, by the collection of bindings. */
const bound = new WeakMap<
  Collection,
  { readonly policies: number; readonly bindings: number; readonly all: readonly BoundPolicy[] }
>();

/** What is to be done for a request; nothing when the policy is not about it. */
export function invocations(
  server: ServerContext,
  { policy, binding }: BoundPolicy,
  request: AdmissionRequest,
): readonly Invocation[] {
  // Policies are not about policies: one could lock out its own repair.
  if (request.target.served.info.group === ADMISSION_GROUP) return [];
  const spec = objectAt(policy, 'spec');
  const as = matchedResource(server, objectAt(spec, 'matchConstraints'), request);
  const isBound = matchedResource(server, objectAt(objectAt(binding, 'spec'), 'matchResources'), request);
  if (as === undefined || isBound === undefined) return [];
  const params = paramsOf(server, spec, objectAt(binding, 'spec'), request);
  if (params.kind === 'error') return [{ kind: 'error', message: params.message }];
  return params.objects.flatMap((param): readonly Invocation[] => {
    const scopeOn = (object: JsonObject | undefined): Scope =>
      newScope(server, spec, { ...request, object }, { as, param });
    const scope = scopeOn(request.object);
    const state = conditions(spec, scope);
    if (state.kind === 'error') return [state];
    if (state.kind === 'unmet') return [];
    const scopeOf = (object: JsonObject | undefined): Scope => (object === request.object ? scope : scopeOn(object));
    return [{ kind: 'evaluate', as, scopeOf }];
  });
}

function newScope(
  server: ServerContext,
  spec: JsonObject,
  request: AdmissionRequest,
  { as, param }: { readonly as: ServedResource; readonly param: JsonObject | undefined },
): Scope {
  const versioned = (object: JsonObject | undefined) => celObject(object && inVersion(object, as));
  return createScope(arrayAt(spec, 'variables').filter(isObject), {
    object: versioned(request.object),
    oldObject: versioned(request.oldObject),
    request: celObject(requestVariable(request, as)),
    params: celObject(param),
    namespaceObject: celObject(namespaceOfRequest(server, request)),
  });
}

/** A condition that is false decides, whatever errors the others have. */
function conditions(
  spec: JsonObject,
  scope: Scope,
): { readonly kind: 'met' } | { readonly kind: 'unmet' } | { readonly kind: 'error'; readonly message: string } {
  const errors: string[] = [];
  for (const condition of arrayAt(spec, 'matchConditions').filter(isObject)) {
    const result = scope.evaluate(textAt(condition, 'expression') ?? '');
    if (result.kind === 'value' && result.value === false) return { kind: 'unmet' };
    if (result.kind !== 'value') errors.push(result.message);
  }
  return errors.length === 0 ? { kind: 'met' } : { kind: 'error', message: errors.join(', ') };
}
