/** Parameters of a policy: the objects of its `paramKind` that the binding's `paramRef` names or selects. */
import type { JsonObject } from '../json.ts';
import { isObject, objectAt, textAt } from '../json.ts';
import { metadataOf } from '../objects.ts';
import { labelSelectorMatches } from '../selectors/label-selector.ts';
import type { ServerContext } from '../server-context.ts';
import { CLUSTER } from '../store/collection.ts';
import type { AdmissionRequest } from './request.ts';

export type Params =
  /** A policy without parameters has one `undefined`; none at all skips the policy. */
  | { readonly kind: 'found'; readonly objects: readonly (JsonObject | undefined)[] }
  | { readonly kind: 'error'; readonly message: string };

/** Without `paramKind` one evaluation without parameters. Where none is found, `parameterNotFoundAction` decides. */
export function paramsOf(
  server: ServerContext,
  policySpec: JsonObject,
  bindingSpec: JsonObject,
  { target }: AdmissionRequest,
): Params {
  const { paramKind } = policySpec;
  const { paramRef } = bindingSpec;
  if (!isObject(paramKind) || !isObject(paramRef)) return { kind: 'found', objects: [undefined] };
  const apiVersion = textAt(paramKind, 'apiVersion') ?? '';
  const kind = textAt(paramKind, 'kind') ?? '';
  const served = server.registry.findKind(apiVersion, kind);
  if (served === undefined)
    return refused(`failed to find resource referenced by paramKind: '${apiVersion}, Kind=${kind}'`);
  const namespace = served.info.namespaced ? (textAt(paramRef, 'namespace') ?? target.namespace) : CLUSTER;
  if (served.info.namespaced && namespace === CLUSTER) {
    return refused('cannot use namespaced paramRef in policy binding that matches cluster-scoped resources');
  }
  const { collection } = served.storage;
  const name = textAt(paramRef, 'name');
  const found = name === undefined ? undefined : collection.get(namespace, name);
  const objects =
    name === undefined
      ? collection.list(namespace).filter(object => selected(objectAt(paramRef, 'selector'), object))
      : found === undefined
        ? []
        : [found];
  if (objects.length > 0 || paramRef.parameterNotFoundAction !== 'Deny') return { kind: 'found', objects };
  return refused('no params found for policy binding with `Deny` parameterNotFoundAction');
}

function selected(selector: JsonObject, object: JsonObject): boolean {
  return labelSelectorMatches(selector, objectAt(metadataOf(object), 'labels'));
}

function refused(message: string): Params {
  return { kind: 'error', message: `failed to configure binding: ${message}` };
}
