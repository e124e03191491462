/** Single permissions in words: what a row of the table grants, and what a call of a port makes use of. */
import type { KubernetesGrant, KubernetesVerb, Permissions } from '../../shared/contract/permissions.ts';
import type { FunctionName } from '../../shared/contract/names.ts';

/** Each single permission of a row. */
export function describePermissions(permissions: Permissions): readonly string[] {
  const { kubernetes, records, readsKnownPools, readsDueIndex, wakes, publishesAs, ec2, invokesHooks } = permissions;
  return [
    ...kubernetes.flatMap(grant => grant.verbs.map(verb => describeGrant(verb, grant))),
    ...records.map(describeRecords),
    ...(readsKnownPools ? [READ_KNOWN_POOLS] : []),
    ...(readsDueIndex ? [QUERY_DUE_INDEX] : []),
    ...wakes.map(describeWake),
    ...publishesAs.map(describeSource),
    ...ec2,
    ...(invokesHooks ? [INVOKE_HOOKS] : []),
  ];
}

/** `patch nodeclaims.karpenter.sh`, `create pods/eviction`, `get configmaps curfew-config in curfew`. */
export function describeGrant(verb: KubernetesVerb, grant: KubernetesGrant): string {
  const { group, resource, subresource, namespace, names } = grant;
  const what = `${resource}${subresource === undefined ? '' : `/${subresource}`}${group === '' ? '' : `.${group}`}`;
  const which = names === undefined ? '' : ` ${names.join(', ')}`;
  return `${verb} ${what}${which}${namespace === undefined ? '' : ` in ${namespace}`}`;
}

export const INVOKE_HOOKS = 'invoke the functions of hooks';
export const READ_KNOWN_POOLS = 'read known NodePools';
export const QUERY_DUE_INDEX = 'query the due index';
export const describeRecords = (owner: FunctionName): string => `records of ${owner}`;
export const describeWake = (owner: FunctionName): string => `wake ${owner}`;
export const describeSource = (source: string): string => `publish as ${source}`;
