/** What the manifests allow an identity, and what it made use of. */
import { readManifests } from '../../contract/api-server/manifests.ts';
import { z } from 'zod';
import type { AuditedRequest } from './audit-log.ts';

const ruleSchema = z.object({
  apiGroups: z.array(z.string()),
  resources: z.array(z.string()),
  verbs: z.array(z.string()),
  resourceNames: z.array(z.string()).optional(),
});
const roleSchema = z.object({ rules: z.array(ruleSchema) });

/** One verb on one resource, in one namespace for a Role, on named objects where the rule names some. */
export interface Permission {
  readonly group: string;
  /** With its subresource: `pods/eviction`. */
  readonly resource: string;
  readonly verb: string;
  readonly namespace: string | undefined;
  readonly names: readonly string[] | undefined;
}

/** All that the ClusterRoles and Roles of these files allow, one by one. */
export function permissionsIn(files: readonly string[]): readonly Permission[] {
  return files.flatMap(readManifests).flatMap(manifest => {
    if (manifest.kind !== 'ClusterRole' && manifest.kind !== 'Role') return [];
    const { namespace } = manifest.metadata;
    return roleSchema
      .parse(manifest)
      .rules.flatMap(({ apiGroups, resources, verbs, resourceNames }) =>
        apiGroups.flatMap(group =>
          resources.flatMap(resource =>
            verbs.map(verb => ({ group, resource, verb, namespace, names: resourceNames })),
          ),
        ),
      );
  });
}

const matches = ({ group, resource, verb, namespace, names }: Permission, request: AuditedRequest): boolean => {
  const asked = request.subresource === undefined ? request.resource : `${request.resource}/${request.subresource}`;
  return (
    request.group === group &&
    asked === resource &&
    request.verb === verb &&
    (namespace === undefined || request.namespace === namespace) &&
    (names === undefined || (request.name !== undefined && names.includes(request.name)))
  );
};

/** Permissions of which no request made use. */
export function unusedOf(granted: readonly Permission[], requests: readonly AuditedRequest[]): readonly Permission[] {
  return granted.filter(permission => !requests.some(request => request.allowed && matches(permission, request)));
}

/** `patch nodeclaims.karpenter.sh`, `get configmaps curfew/curfew-config`. */
export function describePermission({ group, resource, verb, namespace, names }: Permission): string {
  const place = namespace === undefined ? '' : ` in ${namespace}`;
  const which = names === undefined ? '' : ` ${names.join(', ')}`;
  return `${verb} ${resource}${group === '' ? '' : `.${group}`}${which}${place}`;
}

/** A request that was refused for want of permission. */
export function describeRefusal({ user, verb, group, resource, subresource, namespace, name }: AuditedRequest): string {
  const what = `${resource}${subresource === undefined ? '' : `/${subresource}`}${group === '' ? '' : `.${group}`}`;
  return `${user} may not ${verb} ${what} ${namespace === undefined ? '' : `${namespace}/`}${name ?? ''}`.trimEnd();
}
