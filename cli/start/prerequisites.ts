/** What a cluster must have and allow before it is watched; each miss is one line that says what to do. */
import { z } from 'zod';
import { ClusterAccessError } from '../../shared/adapters/kubernetes/kubeconfig.ts';
import type { Transport } from '../../shared/adapters/kubernetes/transport.ts';

interface Permission {
  readonly verb: string;
  readonly group: string;
  readonly resource: string;
}

const READS: readonly Permission[] = [
  ...['nodes', 'pods', 'configmaps'].flatMap(resource => reads('', resource)),
  ...['nodeclaims', 'nodepools'].flatMap(resource => reads('karpenter.sh', resource)),
];
const WRITES: readonly Permission[] = [
  { verb: 'patch', group: 'karpenter.sh', resource: 'nodeclaims' },
  { verb: 'delete', group: 'karpenter.sh', resource: 'nodeclaims' },
  { verb: 'patch', group: '', resource: 'nodes' },
  { verb: 'create', group: '', resource: 'events' },
];

function reads(group: string, resource: string): readonly Permission[] {
  return ['list', 'watch'].map(verb => ({ verb, group, resource }));
}

const resourceList = z.object({ resources: z.array(z.object({ name: z.string() })) });
const accessReview = z.object({ status: z.object({ allowed: z.boolean() }) });

/** Throws `ClusterAccessError` for a missing CRD or permission. */
export async function checkPrerequisites(transport: Transport, enforce: boolean): Promise<void> {
  const answer = await transport.request({ method: 'GET', path: '/apis/karpenter.sh/v1', doing: 'looking for CRDs' });
  const served =
    answer.status === 200 ? resourceList.parse(JSON.parse(answer.body)).resources.map(({ name }) => name) : [];
  const missing = ['nodeclaims', 'nodepools'].filter(name => !served.includes(name));
  if (missing.length > 0) {
    const names = missing.map(name => `${name}.karpenter.sh`).join(' and ');
    throw new ClusterAccessError(
      `the cluster does not serve ${names}: install Karpenter's CRDs, or choose another context`,
    );
  }
  const needed = enforce ? [...READS, ...WRITES] : READS;
  const denied: string[] = [];
  for (const permission of needed) {
    if (!(await isAllowed(transport, permission))) denied.push(describe(permission));
  }
  if (denied.length > 0) {
    throw new ClusterAccessError(
      `your user may not ${denied.join(', ')}: bind it to a ClusterRole that allows this (see deploy/rbac)`,
    );
  }
}

async function isAllowed(transport: Transport, { verb, group, resource }: Permission): Promise<boolean> {
  const answer = await transport.request({
    method: 'POST',
    path: '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews',
    doing: `asking whether ${verb} ${resource} is allowed`,
    body: {
      contentType: 'application/json',
      json: {
        apiVersion: 'authorization.k8s.io/v1',
        kind: 'SelfSubjectAccessReview',
        spec: { resourceAttributes: { verb, group, resource } },
      },
    },
  });
  // A server that does not answer the question is asked by doing.
  return answer.status !== 201 || accessReview.parse(JSON.parse(answer.body)).status.allowed;
}

function describe({ verb, group, resource }: Permission): string {
  return `${verb} ${group === '' ? resource : `${resource}.${group}`}`;
}
