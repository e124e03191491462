/** What `deploy/` holds is taken as it is, by the embedded API server and by kube-apiserver. */
import { globSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it, vi } from 'vitest';
import { applyManifest, pathOf, readManifests } from './api-server/manifests.ts';
import { at, EVENTUALLY, patch, read, textAt, type MakeSubject } from './api-server/subject.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const folder = (name: string): string[] => globSync(`deploy/${name}/*.yaml`, { cwd: root }).toSorted();
/** In the order in which a user applies them. */
export const DEPLOY_FILES: readonly string[] = [
  'deploy/forwarder/namespace.yaml',
  ...folder('crds'),
  ...folder('rbac'),
  ...folder('forwarder').filter(file => !/\/(namespace|kustomization)\.yaml$/.test(file)),
  ...folder('policies'),
];

/** Of the examples of drains: definitions and namespaces first. */
const EXAMPLE_FILES = ['crd', 'rbac', 'policy', 'deployment'].flatMap(name =>
  globSync(`examples/{slurm,checkpoint}-drain/manifests/${name}.yaml`, { cwd: root }).toSorted(),
);
/** Others are only tried: no other test is to find a policy of an example. */
const KEPT = ['CustomResourceDefinition', 'Namespace'];

const POLICY = { apiVersion: 'curfew.dev/v1alpha1', kind: 'NodeLifecyclePolicy' };

export function defineManifestsContract(name: string, makeSubject: MakeSubject): void {
  describe(`deploy/: ${name}`, () => {
    it.each(DEPLOY_FILES)('%s is applied without complaint, and again without a change', async file => {
      const { http } = await makeSubject();
      const manifests = readManifests(`${root}${file}`);
      expect(manifests).not.toEqual([]);
      for (const manifest of manifests) {
        const first = await applyManifest(http, manifest);
        expect({ status: first.status, text: first.text }).toMatchObject({ status: 201 });
        expect(first.headers['warning']).toBeUndefined();
        const second = await applyManifest(http, manifest);
        expect([second.status, at(second.body, 'spec')]).toEqual([200, at(first.body, 'spec')]);
      }
    });

    it.each(EXAMPLE_FILES)('%s is taken without complaint', async file => {
      const { http } = await makeSubject();
      const manifests = readManifests(`${root}${file}`);
      expect(manifests).not.toEqual([]);
      for (const manifest of manifests) {
        await vi.waitFor(() => pathOf(http, manifest), EVENTUALLY);
        const { status, text, headers } = await applyManifest(http, manifest, !KEPT.includes(manifest.kind));
        expect({ status, text }).toMatchObject({ status: 201 });
        expect(headers['warning']).toBeUndefined();
      }
    });

    it('NodeLifecyclePolicy gets the defaults of its blocks and no mode, and refuses what is no policy', async () => {
      const subject = await makeSubject();
      const path = '/apis/curfew.dev/v1alpha1/nodelifecyclepolicies';
      await vi.waitFor(async () => read(subject, path), EVENTUALLY);
      const make = (spec: object) =>
        subject.http.call('POST', path, {
          body: { ...POLICY, metadata: { name: `of-${subject.namespace}` }, spec },
          query: { dryRun: 'All' },
        });
      expect(at((await make({})).body, 'spec')).toEqual({});
      expect(at((await make({ repair: {} })).body, 'spec')).toEqual({ repair: {} });
      expect(at((await make({ termination: {} })).body, 'spec')).toMatchObject({ termination: { builtin: 'Keep' } });
      const complaints = async (spec: object): Promise<unknown> =>
        at((await make(spec)).body, 'details.causes.0.field');
      expect(await complaints({ mode: 'Later' })).toBe('spec.mode');
      expect(await complaints({ repair: { defaultTolerationDuration: '4d' } })).toBe(
        'spec.repair.defaultTolerationDuration',
      );
      expect(await complaints({ repair: { maxUnhealthy: '120%' } })).toBe('spec.repair.maxUnhealthy');
      expect(await complaints({ repair: { maxUnhealthy: -1 } })).toBe('spec.repair.maxUnhealthy');
      expect(await complaints({ protection: { compatibility: 'Both' } })).toBe('spec.protection.compatibility');
      const termination = { finalizerName: 'example.com/own', builtin: 'Replace', terminationGracePeriod: '72h' };
      const hook = { name: 'notify', at: 'before-drain', event: { detailType: 'Notify' } };
      const whole = { ...termination, scope: 'NodeOnly', hooks: [hook] };
      expect(at((await make({ termination: whole })).body, 'spec.termination')).toMatchObject(whole);
      expect(await complaints({ termination: { finalizerName: 'karpenter.sh/termination' } })).toBe(
        'spec.termination.finalizerName',
      );
      expect(await complaints({ termination: { builtin: 'Remove' } })).toBe('spec.termination.builtin');
      const twice = { ...hook, lambda: { functionName: 'notify' } };
      expect(await complaints({ termination: { hooks: [twice] } })).toBe('spec.termination.hooks[0]');
      const operator = { matchExpressions: [{ key: 'team', operator: 'Exists', values: ['a'] }] };
      expect(await complaints({ nodePoolSelector: operator })).toBe('spec.nodePoolSelector.matchExpressions[0]');
    });

    it('NodeLifecyclePolicy keeps its status apart, and its conditions by type', async () => {
      const subject = await makeSubject();
      const path = '/apis/curfew.dev/v1alpha1/nodelifecyclepolicies';
      const name = `of-${subject.namespace}`;
      await vi.waitFor(async () => read(subject, path), EVENTUALLY);
      await subject.http.call('POST', path, { body: { ...POLICY, metadata: { name }, spec: {} } });
      const condition = (type: string) => ({
        type,
        status: 'True',
        reason: 'Said',
        message: '',
        lastTransitionTime: '2024-11-01T15:00:00Z',
      });
      const write = (fieldManager: string, type: string) =>
        patch(
          subject,
          `${path}/${name}/status`,
          'apply',
          {
            ...POLICY,
            metadata: { name },
            status: { conditions: [condition(type)] },
          },
          { fieldManager },
        );
      await write('one', 'Accepted');
      const both = await write('two', 'Degraded');
      expect(at(both.body, 'status.conditions')).toMatchObject([{ type: 'Accepted' }, { type: 'Degraded' }]);
      expect(at(both.body, 'metadata.generation')).toBe(1);
    });

    it('finds each applied object again', async () => {
      const { http } = await makeSubject();
      for (const manifest of DEPLOY_FILES.flatMap(file => readManifests(`${root}${file}`))) {
        const answer = await http.call('GET', await pathOf(http, manifest));
        expect(textAt(answer.body, 'metadata.name')).toBe(manifest.metadata.name);
      }
    });
  });
}
