/** The chart on kube-apiserver: it installs, upgrades what has changed, and leaves what it should when it goes. */
import { parse } from 'yaml';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { startControlPlane, type ControlPlane } from '../start.ts';
import { REMOVAL, REMOVAL_TEST } from '../removal.ts';
import * as chart from './helm.ts';
import { CHART, DEPLOY, done, find, HELMS, objectSchema, SETTINGS_MAP, VALUES, withSettings } from './helm.ts';

const CLUSTER_WIDE =
  'crd,clusterroles,clusterrolebindings,validatingadmissionpolicies,validatingadmissionpolicybindings';
const NAMESPACED = 'deployments,configmaps,serviceaccounts,poddisruptionbudgets,roles,rolebindings';
/** What Helm 4 wants to be told before it changes what others have changed: it applies on the server. */
const OVER_OTHERS = { 3: [], 4: ['--force-conflicts'] } as const;
const DEFINITIONS = ['finalizerrules', 'nodelifecyclepolicies'].map(
  name => `CustomResourceDefinition ${name}.curfew.dev`,
);

for (const { major, skipped, rendered, ...own } of HELMS)
  describe.skipIf(skipped !== '')(`the chart in a cluster by Helm ${major}${skipped}`, () => {
    let plane: ControlPlane;
    beforeAll(async () => {
      plane = await startControlPlane();
    });
    afterAll(() => plane?.stop());

    const kubectl = (...args: string[]) => chart.kubectl('--kubeconfig', plane.adminKubeconfig, ...args);
    const helm = (args: readonly string[], values?: object) =>
      own.helm([...args, '--kubeconfig', plane.adminKubeconfig], values);
    const upgrade = (more: object, ...options: string[]) =>
      helm(['upgrade', '--install', 'curfew', CHART, ...options], { ...VALUES, ...more });
    // It prints what it keeps on its way out.
    const uninstall = () => expect(helm(['uninstall', 'curfew'])).toMatchObject({ status: 0 });
    const list = (kinds: string) =>
      z.object({ items: z.array(objectSchema) }).parse(parse(done(kubectl('get', kinds, '-n', 'curfew', '-o', 'json'))))
        .items;

    /** By name the generation, or the version where there is none: what a write changes, and a status does not. */
    function state(): ReadonlyMap<string, unknown> {
      const ours = [...list(CLUSTER_WIDE), ...list(NAMESPACED)].filter(({ metadata }) =>
        metadata.name.includes('curfew'),
      );
      return new Map(
        ours.map(({ kind, metadata }) => [
          `${kind} ${metadata.name}`,
          metadata['generation'] ?? metadata['resourceVersion'],
        ]),
      );
    }
    const names = () => [...state().keys()].toSorted();
    const changedSince = (before: ReadonlyMap<string, unknown>) =>
      [...state()].flatMap(([name, version]) => (before.get(name) === version ? [] : [name])).toSorted();

    it('is installed with all its objects', () => {
      done(kubectl('apply', '-f', `${DEPLOY}/forwarder/namespace.yaml`));
      done(upgrade({}));
      expect(names()).toEqual(
        rendered({})
          .map(({ kind, metadata }) => `${kind} ${metadata.name}`)
          .toSorted(),
      );
    });

    it('changes nothing when nothing has changed, else that alone', () => {
      const installed = state();
      done(upgrade({}));
      expect(changedSince(installed)).toEqual([]);
      done(upgrade({ config: '' }));
      expect(changedSince(installed)).toEqual(['ConfigMap curfew-config']);
      const other = state();
      done(upgrade({ config: '', ...withSettings({ LOG_LEVEL: 'debug' }) }));
      expect(changedSince(other)).toEqual([`ConfigMap ${SETTINGS_MAP}`, 'Deployment curfew-forwarder']);
    });

    // The first step of an update, docs/deploying.md.
    it('goes on after kubectl has applied the roles', () => {
      expect(kubectl('apply', '-f', `${DEPLOY}/rbac`).status).toBe(0);
      done(upgrade({}));
    });

    it('leaves definitions and policies when it is uninstalled or told not to have them, and takes them again', () => {
      done(kubectl('apply', '-f', `${DEPLOY}/samples`));
      const installed = names();
      done(upgrade({ crds: { install: false } }));
      expect(names()).toEqual(installed);
      done(upgrade({}));
      uninstall();
      expect(names()).toEqual(DEFINITIONS);
      expect(
        done(kubectl('get', 'nlp', '-o', 'name'))
          .trim()
          .split('\n'),
      ).toEqual(['nodelifecyclepolicy.curfew.dev/brake', 'nodelifecyclepolicy.curfew.dev/observe']);
      done(upgrade({}));
      expect(names()).toEqual(installed);
    });

    // Step 1 of an update has been taken, and the way back begins: the roles are not those of the release any more.
    it('takes an update back whose roles kubectl has applied', () => {
      done(upgrade(withSettings({ LOG_LEVEL: 'debug' })));
      done(kubectl('patch', 'clusterrole', 'curfew-drain', '--type=merge', '-p', '{"rules":[]}'));
      if (major === 4) expect(helm(['rollback', 'curfew']).stderr).toContain('conflict occurred while applying');
      expect(helm(['rollback', 'curfew', ...OVER_OTHERS[major]])).toMatchObject({ status: 0 });
      expect(find(list('clusterroles'), 'ClusterRole', 'curfew-drain')).toMatchObject({
        rules: expect.arrayContaining([expect.anything()]),
      });
      expect(find(list('configmaps'), 'ConfigMap', SETTINGS_MAP)).toMatchObject({ data: chart.SETTINGS });
    });

    it('is removed for good by the commands of docs/deploying.md', REMOVAL_TEST, () => {
      uninstall();
      done(kubectl('delete', '-f', `${DEPLOY}/crds`, '-f', `${DEPLOY}/forwarder/namespace.yaml`, REMOVAL));
      expect(names()).toEqual([]);
    });

    it('takes over what kubectl has applied', () => {
      done(kubectl('apply', '-k', DEPLOY));
      expect(upgrade({}).stderr).toContain('cannot be imported into the current release');
      if (major === 4) expect(upgrade({}, '--take-ownership').stderr).toContain('conflict occurred while applying');
      done(upgrade({}, '--take-ownership', ...OVER_OTHERS[major]));
      const labels = { 'app.kubernetes.io/managed-by': 'Helm' };
      expect(find(list('deployments'), 'Deployment', 'curfew-forwarder')).toMatchObject({ metadata: { labels } });
    });

    it('can make the namespace itself', REMOVAL_TEST, () => {
      uninstall();
      done(kubectl('delete', 'namespace', 'curfew', REMOVAL));
      done(upgrade({}, '--create-namespace'));
      expect(names()).toHaveLength(rendered({}).length);
    });
  });
