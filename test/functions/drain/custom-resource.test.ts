import { expect, it } from 'vitest';
import { deleteResource, findResource } from '../../../functions/drain/custom-resource.ts';
import { createApiServer } from '../../../packages/kube-apiserver/src/api-server.ts';
import { createInProcessKubernetesApi } from '../../../runtime/in-process/kubernetes-api.ts';
import type { CustomProgress } from '../../../functions/drain/record.ts';
import { active, CUSTOM as CONFIGURED, NOW, configurationOf } from './observations.ts';

const TYPE = { group: 'nvsentinel.nvidia.com', version: 'v1alpha1', resource: 'drainrequests' };
const CUSTOM = {
  ...TYPE,
  name: 'drain-n1-e1',
  namespace: 'nvsentinel',
  kind: 'DrainRequest',
  createdTime: NOW,
  recreated: 0,
};

function cluster(drain: string, versions: readonly string[] = ['v1alpha1']) {
  const core = createApiServer({ clock: { now: () => NOW } });
  core.seed({
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: 'drainrequests.nvsentinel.nvidia.com' },
    spec: {
      group: TYPE.group,
      names: { kind: 'DrainRequest', listKind: 'DrainRequestList', plural: 'drainrequests', singular: 'drainrequest' },
      scope: 'Namespaced',
      versions: versions.map((name, index) => ({
        name,
        served: true,
        storage: index === 0,
        schema: { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
      })),
    },
  });
  core.seed({
    apiVersion: `${TYPE.group}/${versions[0]}`,
    kind: 'DrainRequest',
    metadata: {
      namespace: 'nvsentinel',
      name: 'drain-n1-e1',
      uid: 'uid-cr',
      annotations: { 'curfew.dev/drain': drain },
    },
  });
  const left = (): number => core.list({ ...TYPE, version: versions[0] ?? '' }).items.length;
  return { deps: { kubernetes: createInProcessKubernetesApi(core, 'curfew:drain') }, left };
}

const made = (resource: CustomProgress) => ({ phase: { kind: 'custom', resource } }) as const;

it('deletes a custom resource whose creation was not noted down before the process died', async () => {
  const { deps, left } = cluster('e1');
  await deleteResource(deps, active(made(CUSTOM)));
  expect(left()).toBe(0);
});

it.each([
  ["somebody else's of that name", 'e0', CUSTOM],
  ['one that was made anew meanwhile', 'e1', { ...CUSTOM, uid: 'another' }],
])('leaves %s', async (_, drain, custom) => {
  const { deps, left } = cluster(drain);
  await deleteResource(deps, active(made(custom)));
  expect(left()).toBe(1);
});

it('does not take a conflict for the end of the custom resource', async () => {
  const { deps, left } = cluster('e1');
  const busy = { ...deps.kubernetes, delete: async () => ({ kind: 'conflict', message: 'busy' }) as const };
  await expect(deleteResource({ kubernetes: busy }, active(made(CUSTOM)))).rejects.toThrow('busy');
  expect(left()).toBe(1);
});

it.each<[string, readonly string[], string, object]>([
  ['in its own version while that is served', ['v1alpha1', 'v1'], 'v1', { kind: 'present', type: TYPE }],
  ['in the version that is configured now, else', ['v1'], 'v1', { kind: 'present', type: { ...TYPE, version: 'v1' } }],
  ['in no version that nobody named', ['v1'], 'v1alpha1', { kind: 'notServed', versions: ['v1'] }],
  ['in its own version when the configured one is not served', ['v1alpha1'], 'v7', { kind: 'present', type: TYPE }],
])('finds the custom resource of a drain under way %s', async (_, versions, configured, found) => {
  const { deps } = cluster('e1', versions);
  const { customDrain } = configurationOf(CONFIGURED).settings;
  const settings = customDrain && { ...customDrain, version: configured };
  const drain = active(made({ ...CUSTOM, uid: 'uid-cr' }));
  expect(await findResource(deps, settings, drain, { name: 'n1', uid: 'uid-n1' })).toMatchObject(found);
});
