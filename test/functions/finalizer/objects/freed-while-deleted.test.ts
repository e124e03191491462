/** An object that is set free because its rule ends, and that somebody deletes between the look and the patch. */
import { expect, it } from 'vitest';
import { createReconciler } from '../../../../functions/finalizer/route.ts';
import { FINALIZER_RULE_FINALIZER } from '../../../../functions/finalizer/finalizer-rules/finalizer-rule-set.ts';
import { createApiServer } from '../../../../packages/kube-apiserver/src/api-server.ts';
import { createInProcessKubernetesApi } from '../../../../runtime/in-process/kubernetes-api.ts';
import type { KubernetesApi } from '../../../../shared/ports/kubernetes-api.ts';
import { customResourceDefinitions } from '../../../../simulator/custom-resource-definitions.ts';
import { clusterEvent } from '../../../builders/cluster-event.ts';
import { finalizerPorts } from '../../../builders/finalizer-ports.ts';
import { at } from '../../../builders/repair.ts';

const NOW = at('2024-11-01T15:00:00Z');
const FINALIZER = 'example.com/cleanup';
const DEFINITION = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'databases.example.com' },
  spec: {
    group: 'example.com',
    scope: 'Cluster',
    names: { plural: 'databases', singular: 'database', kind: 'Database', listKind: 'DatabaseList' },
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        schema: { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
      },
    ],
  },
};
const RULE = {
  apiVersion: 'curfew.dev/v1alpha1',
  kind: 'FinalizerRule',
  metadata: {
    name: 'databases',
    uid: 'uid-rule',
    finalizers: [FINALIZER_RULE_FINALIZER],
    deletionTimestamp: '2024-11-01T14:59:59Z',
  },
  spec: {
    group: 'example.com',
    version: 'v1',
    kind: 'Database',
    finalizerName: FINALIZER,
    cleanup: { event: { detailType: 'Drop' } },
  },
  status: { resource: 'databases' },
};

/** @param deletedAtLook at which look at the object somebody deletes it, right after the answer; 0: never */
async function freeing(deletedAtLook: number) {
  const core = createApiServer({ clock: { now: () => NOW } });
  for (const definition of [...customResourceDefinitions(), DEFINITION]) core.seed(definition);
  core.seed(RULE);
  core.seed({
    apiVersion: 'example.com/v1',
    kind: 'Database',
    metadata: { name: 'orders', uid: 'uid-orders', finalizers: [FINALIZER] },
  });
  const ref = { type: { group: 'example.com', version: 'v1', resource: 'databases' }, name: 'orders' };
  const live = createInProcessKubernetesApi(core, 'curfew:finalizer');
  let looks = 0;
  const get: KubernetesApi['get'] = async asked => {
    const answer = await live.get(asked);
    if (asked.name === 'orders' && ++looks === deletedAtLook) core.delete(ref);
    return answer;
  };
  const called: string[] = [];
  const reconcile = createReconciler({
    ...finalizerPorts({ ...live, get }, () => NOW),
    hooks: {
      async invoke({ about }) {
        called.push(about.name);
        return { kind: 'pending' };
      },
    },
  });
  const { event } = clusterEvent({ subject: { apiVersion: 'v1', kind: 'Node', name: 'orders', uid: 'uid-orders' } });
  const subject = { apiVersion: 'example.com/v1', kind: 'Database', name: 'orders', uid: 'uid-orders' };
  await reconcile({ kind: 'customResource', event: { ...event, subject } });
  const left = core.list(ref.type).items.map(({ metadata }) => metadata.finalizers ?? []);
  return { called, left };
}

it('is set free while it lives', async () => {
  expect(await freeing(0)).toEqual({ called: [], left: [[]] });
});

it.each([1, 2])('is cleaned up where it is deleted after look %i (I1)', async look => {
  expect(await freeing(look)).toEqual({ called: ['orders'], left: [[FINALIZER]] });
});
