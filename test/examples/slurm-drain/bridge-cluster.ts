/** An embedded API server with what `kubectl apply -k examples/slurm-drain/manifests` brings, and a Node that is drained. */
import { readFileSync } from 'node:fs';
import { parseAllDocuments } from 'yaml';
import { z } from 'zod';
import { REQUESTS } from '../../../examples/slurm-drain/bridge/request.ts';
import { createApiServer } from '../../../packages/kube-apiserver/src/api-server.ts';
import { createRbacAuthorizer } from '../../../packages/kube-apiserver/src/authorization/rbac.ts';
import type { ApiServerCore } from '../../../packages/kube-apiserver/src/types.ts';
import { createInProcessKubernetesApi } from '../../../runtime/in-process/kubernetes-api.ts';
import { RESOURCES } from '../../../shared/contract/resources.ts';
import type {
  JsonObject,
  KubernetesManifest,
  KubernetesObject,
  ResourceType,
} from '../../../shared/domain/kubernetes-object.ts';
import type { KubernetesApi } from '../../../shared/ports/kubernetes-api.ts';

const MANIFESTS = new URL('../../../examples/slurm-drain/manifests/', import.meta.url);
const manifest = z.looseObject({
  apiVersion: z.string(),
  kind: z.string(),
  metadata: z.looseObject({ name: z.string() }),
});

export const readManifest = (file: string): string => readFileSync(new URL(file, MANIFESTS), 'utf8');
export const manifestsIn = (file: string): readonly KubernetesManifest[] =>
  parseAllDocuments(readManifest(file)).map(document => manifest.parse(document.toJS()));

export const NAME = 'drain-n1-e1';
const ref = (name: string) => ({ type: REQUESTS, namespace: 'slurm', name });

export interface BridgeCluster {
  readonly core: ApiServerCore;
  /** The API as the bridge's ServiceAccount has it by rbac.yaml: anything else throws. */
  readonly asBridge: Pick<KubernetesApi, 'list' | 'get' | 'patch'>;
  request(name?: string, spec?: JsonObject): void;
  statusOf(name?: string): KubernetesObject['status'];
  /** Status and reason of a condition. */
  conditionOf(type: string, name?: string): string | undefined;
  remove(name?: string): void;
  hold(held: boolean): void;
}

export function createBridgeCluster(now: () => number): BridgeCluster {
  const core = createApiServer({ clock: { now } });
  for (const each of [...manifestsIn('crd.yaml'), ...manifestsIn('rbac.yaml')]) core.seed(each);
  core.seed({ apiVersion: 'v1', kind: 'Node', metadata: { name: 'n1' }, spec: { unschedulable: true } });
  const statusOf = (name = NAME): KubernetesObject['status'] => core.get(ref(name)).status;
  return {
    core,
    asBridge: asBridge(core),
    request(name = NAME, spec = {}) {
      const body = { nodeName: 'n1', reason: 'GPU fell off the bus', ...spec };
      core.create(
        REQUESTS,
        {
          apiVersion: 'slurm.example.com/v1alpha1',
          kind: 'SlurmDrainRequest',
          metadata: { name, namespace: 'slurm' },
          spec: body,
        },
        { user: 'curfew:drain', namespace: 'slurm' },
      );
    },
    statusOf,
    conditionOf(type, name) {
      const conditions = z.array(z.looseObject({ type: z.string(), status: z.string(), reason: z.string() }));
      const found = conditions.parse(statusOf(name)?.['conditions'] ?? []).find(each => each.type === type);
      return found && `${found.status} ${found.reason}`;
    },
    remove: (name = NAME) => void core.delete(ref(name), { user: 'curfew:drain' }),
    hold(held) {
      const body = { spec: { unschedulable: held ? true : null } };
      core.patch({ type: RESOURCES.Node, name: 'n1' }, { type: 'merge', body }, { user: 'ann' });
    },
  };
}

const BRIDGE = { name: 'system:serviceaccount:slurm:slurm-bridge', groups: ['system:serviceaccounts:slurm'] };

function asBridge(core: ApiServerCore): BridgeCluster['asBridge'] {
  const api = createInProcessKubernetesApi(core, BRIDGE.name);
  const rbac = createRbacAuthorizer(core);
  const check = (
    verb: string,
    type: ResourceType,
    rest: { namespace?: string; name?: string; subresource?: string },
  ) => {
    const { group, resource } = type;
    const { allowed, reason } = rbac.authorize(BRIDGE, { verb, group, resource, ...rest });
    if (!allowed) throw new Error(`rbac.yaml does not grant ${verb} ${resource}: ${reason}`);
  };
  const placeOf = ({ namespace, name }: { namespace?: string; name: string }) => ({
    name,
    ...(namespace !== undefined && { namespace }),
  });
  return {
    list(type, query = {}, options) {
      check('list', type, query.namespace === undefined ? {} : { namespace: query.namespace });
      return api.list(type, query, options);
    },
    get(ref) {
      check('get', ref.type, placeOf(ref));
      return api.get(ref);
    },
    patch(ref, patch, options) {
      check('patch', ref.type, { ...placeOf(ref), ...options });
      return api.patch(ref, patch, options);
    },
  };
}
