/** Which requests a policy or a binding is about: `matchConstraints` and `matchResources`. */
import type { JsonObject } from '../json.ts';
import { arrayAt, isObject, objectAt, show, textAt } from '../json.ts';
import { metadataOf } from '../objects.ts';
import type { ServedResource } from '../resources/resource-rules.ts';
import { labelSelectorMatches } from '../selectors/label-selector.ts';
import type { ServerContext } from '../server-context.ts';
import type { AdmissionRequest } from './request.ts';
import { namespaceOfRequest } from './request.ts';

/**
 * The resource in the version that the criteria name (under `matchPolicy: Equivalent` it need not be that of the request);
 * undefined when they do not match.
 */
export function matchedResource(
  server: ServerContext,
  criteria: JsonObject,
  request: AdmissionRequest,
): ServedResource | undefined {
  const { served } = request.target;
  const versions = textAt(criteria, 'matchPolicy') === 'Exact' ? [served] : versionsOf(server, served);
  const isNamed = (key: string) => (version: ServedResource) =>
    arrayAt(criteria, key).some(rule => isObject(rule) && ruleMatches(rule, version, request));
  if (versions.some(isNamed('excludeResourceRules'))) return undefined;
  // A binding that names no resources leaves them to the policy.
  const named = criteria.resourceRules === undefined ? served : versions.find(isNamed('resourceRules'));
  if (named === undefined || !selectorsMatch(server, criteria, request)) return undefined;
  return named;
}

/** The version of the request first. */
function versionsOf(server: ServerContext, served: ServedResource): readonly ServedResource[] {
  const { group, resource, version } = served.info;
  const others = server.registry.versions(group, resource).filter(({ info }) => info.version !== version);
  return [served, ...others];
}

/** What a rule can tell of a request without looking at the object. */
export interface RequestKind extends Pick<AdmissionRequest, 'operation' | 'subresource'> {
  readonly served: ServedResource;
}

/** Whether a request of this kind can match the criteria, by what it writes alone: of most objects no policy speaks. */
export function mayMatch(server: ServerContext, criteria: JsonObject, kind: RequestKind): boolean {
  if (criteria.resourceRules === undefined) return true;
  const rules = arrayAt(criteria, 'resourceRules').filter(isObject);
  return versionsOf(server, kind.served).some(version => rules.some(rule => ruleNames(rule, version, kind)));
}

function ruleMatches(rule: JsonObject, version: ServedResource, request: AdmissionRequest): boolean {
  const names = arrayAt(rule, 'resourceNames');
  return ruleNames(rule, version, request) && (names.length === 0 || names.includes(request.target.name));
}

function ruleNames(
  rule: JsonObject,
  { info }: ServedResource,
  { operation, subresource }: Pick<AdmissionRequest, 'operation' | 'subresource'>,
): boolean {
  const scope = textAt(rule, 'scope') ?? '*';
  return (
    lists(rule, 'operations', operation) &&
    lists(rule, 'apiGroups', info.group) &&
    lists(rule, 'apiVersions', info.version) &&
    arrayAt(rule, 'resources').some(text => resourceMatches(show(text), info.resource, subresource ?? '')) &&
    (scope === '*' || (scope === 'Namespaced') === info.namespaced)
  );
}

function lists(rule: JsonObject, key: string, value: string): boolean {
  const listed = arrayAt(rule, key);
  return listed.includes('*') || listed.includes(value);
}

/** `pods`, `pods/status`, `pods/*`, `*` (every resource, no subresource), and the two with a star on either side. */
function resourceMatches(text: string, resource: string, subresource: string): boolean {
  const [wanted, wantedSub = ''] = text.split('/');
  return (wanted === '*' || wanted === resource) && (wantedSub === '*' || wantedSub === subresource);
}

function selectorsMatch(server: ServerContext, criteria: JsonObject, request: AdmissionRequest): boolean {
  const namespace = namespaceOfRequest(server, request);
  const inNamespace = namespace === undefined || selects(objectAt(criteria, 'namespaceSelector'), namespace);
  const { object, oldObject } = request;
  const selector = objectAt(criteria, 'objectSelector');
  return inNamespace && [object, oldObject].some(each => each !== undefined && selects(selector, each));
}

function selects(selector: JsonObject, object: JsonObject): boolean {
  return labelSelectorMatches(selector, objectAt(metadataOf(object), 'labels'));
}
