/**
 * Checks what a cluster must have and allow before it is watched: exactly what `deploy/` installs and grants, no more.
 */
import { z } from 'zod';
import { rbacFileOf } from '../../deploy/manifests.ts';
import { describeAccess, missingAccess } from '../../shared/adapters/kubernetes/access-probe.ts';
import { isNotFound, parseApiFailure } from '../../shared/adapters/kubernetes/api-failure.ts';
import { ClusterAccessError } from '../../shared/adapters/kubernetes/kubeconfig.ts';
import type { Transport } from '../../shared/adapters/kubernetes/transport.ts';
import {
  PERMISSIONS,
  type KubernetesGrant,
  type KubernetesVerb,
  type Component,
} from '../../shared/contract/permissions.ts';
import { RESOURCES } from '../../shared/contract/resources.ts';
import { FUNCTION_NAMES } from '../../shared/contract/names.ts';
import type { ResourceType } from '../../shared/domain/kubernetes-object.ts';

const PARTS: readonly Component[] = ['forwarder', ...FUNCTION_NAMES];
const READS: ReadonlySet<KubernetesVerb> = new Set(['get', 'list', 'watch']);
const KARPENTER_GROUP = 'karpenter.sh';
const CURFEW_GROUP = 'curfew.dev';

/**
 * Answers what the user should know of the cluster before it is watched, one line each: Curfew's own CRDs that are missing.
 * Throws `ClusterAccessError`, one line that says what to do, for a missing CRD of Karpenter and for a missing permission.
 * @param enforce whether Curfew will write, too
 */
export async function checkPrerequisites(transport: Transport, enforce: boolean): Promise<readonly string[]> {
  const karpenters = await missingDefinitions(transport, KARPENTER_GROUP);
  if (karpenters.length > 0) {
    throw new ClusterAccessError(
      `the cluster does not serve ${karpenters.join(' and ')}: install Karpenter's CRDs, or choose another context`,
    );
  }
  const missing = await missingAccess(
    transport,
    PARTS.flatMap(part => neededBy(part, enforce)),
  );
  if (missing.length > 0) {
    const files = PARTS.filter(part => describeAccess(neededBy(part, enforce)).some(each => missing.includes(each)));
    const roles = new Intl.ListFormat('en').format(files.map(rbacFileOf));
    throw new ClusterAccessError(`your user may not ${missing.join(', ')}: bind it to the roles in ${roles}`);
  }
  const own = await missingDefinitions(transport, CURFEW_GROUP);
  return own.map(
    name =>
      `The cluster does not serve ${name}: install it with \`kubectl apply -f deploy/crds\`; until then there are none.`,
  );
}

/** The permissions that a part needs here. Nobody elects a forwarder: this process is the only one. */
function neededBy(part: Component, enforce: boolean): readonly KubernetesGrant[] {
  return PERMISSIONS[part].kubernetes
    .filter(({ resource }) => resource !== RESOURCES.Lease.resource)
    .map(grant => ({ ...grant, verbs: grant.verbs.filter(verb => enforce || READS.has(verb)) }));
}

const resourceList = z.object({ resources: z.array(z.object({ name: z.string() })) });

/** Undefined where it is no list of resources. */
function namesIn(body: string): readonly string[] | undefined {
  try {
    return resourceList.parse(JSON.parse(body)).resources.map(({ name }) => name);
  } catch {
    return undefined;
  }
}

/** The kinds of a group that a function works with and the cluster does not serve, as `nodepools.karpenter.sh`. */
async function missingDefinitions(transport: Transport, group: string): Promise<readonly string[]> {
  const needed = kindsOf(group);
  const versions = [...new Set(needed.map(({ version }) => version))];
  const served = await Promise.all(
    versions.map(async version => {
      const path = `/apis/${group}/${version}`;
      const { status, body } = await transport.request({ method: 'GET', path, doing: 'looking for CRDs' });
      if (isNotFound(parseApiFailure(status, body))) return [];
      // A server that does not tell, or a proxy that answers in its place, is asked by doing.
      return (status === 200 ? namesIn(body) : undefined) ?? needed.map(({ resource }) => resource);
    }),
  );
  return needed
    .map(({ resource }) => resource)
    .filter(name => !served.flat().includes(name))
    .map(name => `${name}.${group}`);
}

function kindsOf(group: string): readonly ResourceType[] {
  const used = FUNCTION_NAMES.flatMap(name => PERMISSIONS[name].kubernetes).map(({ resource }) => resource);
  return Object.values(RESOURCES).filter(type => type.group === group && used.includes(type.resource));
}
