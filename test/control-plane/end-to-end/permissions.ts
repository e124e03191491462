/** What the permission table allows a part, and what of it requests at a real API server made use of. */
import { describeGrant } from '../../../runtime/permissions/describe.ts';
import { grantFor } from '../../../runtime/permissions/kubernetes.ts';
import type { KubernetesGrant } from '../../../shared/contract/permissions.ts';
import { describeUse, SELDOM_USED } from '../../shared/contract/seldom-used.ts';
import type { AuditedRequest } from './audit-log.ts';

/**
 * Each single permission that only a real API server can show to be used, and of which no request made use. Of the others scenarios and
 * swarm make use (`test/examples`): unused means unused under crashes and faults, too.
 */
export function unusedOf(
  part: string,
  grants: readonly KubernetesGrant[],
  requests: readonly AuditedRequest[],
): readonly string[] {
  const used = new Set(requests.filter(({ allowed }) => allowed).map(request => describeUsed(grants, request)));
  return grants
    .flatMap(grant => grant.verbs.map(verb => describeGrant(verb, grant)))
    .filter(
      permission => !used.has(permission) && SELDOM_USED[describeUse(part, permission)]?.where === 'controlPlane',
    );
}

/** The permission that allows the request; undefined for what every identity may do, such as discovery. */
function describeUsed(grants: readonly KubernetesGrant[], request: AuditedRequest): string | undefined {
  const { group, resource, subresource, namespace, name } = request;
  const verb = grants.flatMap(({ verbs }) => verbs).find(each => each === request.verb);
  if (verb === undefined || resource === undefined) return undefined;
  const grant = grantFor(grants, {
    verb,
    group,
    resource,
    ...(subresource === undefined ? {} : { subresource }),
    ...(namespace === undefined ? {} : { namespace }),
    ...(name === undefined ? {} : { name }),
  });
  return grant && describeGrant(verb, grant);
}

/** A request that was refused for want of permission. */
export function describeRefusal({ user, verb, group, resource, subresource, namespace, name }: AuditedRequest): string {
  const what = `${resource}${subresource === undefined ? '' : `/${subresource}`}${group === '' ? '' : `.${group}`}`;
  return `${user} may not ${verb} ${what} ${namespace === undefined ? '' : `${namespace}/`}${name ?? ''}`.trimEnd();
}
