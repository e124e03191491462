import { expect, it } from 'vitest';
import { deleteResource } from '../../../functions/drain/custom-resource.ts';
import { createApiServer } from '../../../packages/kube-apiserver/src/api-server.ts';
import { createInProcessKubernetesApi } from '../../../runtime/in-process/kubernetes-api.ts';
import { active, NOW } from './observations.ts';

const TYPE = { group: 'nvsentinel.nvidia.com', version: 'v1alpha1', resource: 'drainrequests' };
const CUSTOM = {
  ...TYPE,
  name: 'drain-n1-e1',
  namespace: 'nvsentinel',
  kind: 'DrainRequest',
  createdTime: NOW,
  recreated: 0,
};

function cluster(drain: string) {
  const core = createApiServer({ clock: { now: () => NOW } });
  core.seed({
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: 'drainrequests.nvsentinel.nvidia.com' },
    spec: {
      group: TYPE.group,
      names: { kind: 'DrainRequest', listKind: 'DrainRequestList', plural: 'drainrequests', singular: 'drainrequest' },
      scope: 'Namespaced',
      versions: [
        {
          name: 'v1alpha1',
          served: true,
          storage: true,
          schema: { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
        },
      ],
    },
  });
  core.seed({
    apiVersion: 'nvsentinel.nvidia.com/v1alpha1',
    kind: 'DrainRequest',
    metadata: {
      namespace: 'nvsentinel',
      name: 'drain-n1-e1',
      uid: 'uid-cr',
      annotations: { 'curfew.dev/drain': drain },
    },
  });
  const left = (): number => core.list(TYPE).items.length;
  return { deps: { kubernetes: createInProcessKubernetesApi(core, 'curfew:drain') }, left };
}

it('deletes a custom resource whose creation was not noted down before the process died', async () => {
  const { deps, left } = cluster('e1');
  await deleteResource(deps, active({ custom: CUSTOM }));
  expect(left()).toBe(0);
});

it.each([
  ["somebody else's of that name", 'e0', CUSTOM],
  ['one that was made anew meanwhile', 'e1', { ...CUSTOM, uid: 'another' }],
])('leaves %s', async (_, drain, custom) => {
  const { deps, left } = cluster(drain);
  await deleteResource(deps, active({ custom }));
  expect(left()).toBe(1);
});

it('does not take a conflict for the end of the custom resource', async () => {
  const { deps, left } = cluster('e1');
  const busy = { ...deps.kubernetes, delete: async () => ({ kind: 'conflict', message: 'busy' }) as const };
  await expect(deleteResource({ kubernetes: busy }, active({ custom: CUSTOM }))).rejects.toThrow('busy');
  expect(left()).toBe(1);
});
