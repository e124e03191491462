/** The chart on kube-apiserver: it installs, upgrades what has changed, and leaves what it should when it goes. */
import { parse } from 'yaml';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { startControlPlane, type ControlPlane } from '../start.ts';
import * as chart from './helm.ts';
import {
  CHART,
  DEPLOY,
  done,
  find,
  objectSchema,
  rendered,
  SETTINGS_MAP,
  skipped,
  VALUES,
  withSettings,
} from './helm.ts';

const CLUSTER_WIDE =
  'crd,clusterroles,clusterrolebindings,validatingadmissionpolicies,validatingadmissionpolicybindings';
const NAMESPACED = 'deployments,configmaps,serviceaccounts,poddisruptionbudgets,roles,rolebindings';
const DEFINITIONS = ['finalizerrules', 'nodelifecyclepolicies'].map(
  name => `CustomResourceDefinition ${name}.curfew.dev`,
);

describe.skipIf(skipped !== '')(`the chart in a cluster${skipped}`, () => {
  let plane: ControlPlane;
  beforeAll(async () => {
    plane = await startControlPlane();
  });
  afterAll(() => plane?.stop());

  const kubectl = (...args: string[]) => chart.kubectl('--kubeconfig', plane.adminKubeconfig, ...args);
  const helm = (args: readonly string[], values?: object) =>
    chart.helm([...args, '--kubeconfig', plane.adminKubeconfig], values);
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
    expect(done(kubectl('get', 'nlp', '-o', 'name'))).toBe('nodelifecyclepolicy.curfew.dev/observe\n');
    done(upgrade({}));
    expect(names()).toEqual(installed);
  });

  it('is removed for good by the commands of docs/deploying.md', () => {
    uninstall();
    done(kubectl('delete', '-f', `${DEPLOY}/crds`, '-f', `${DEPLOY}/forwarder/namespace.yaml`, '--timeout=60s'));
    expect(names()).toEqual([]);
  });

  it('takes over what kubectl has applied', () => {
    done(kubectl('apply', '-k', DEPLOY));
    expect(upgrade({}).stderr).toContain('cannot be imported into the current release');
    done(upgrade({}, '--take-ownership'));
    const labels = { 'app.kubernetes.io/managed-by': 'Helm' };
    expect(find(list('deployments'), 'Deployment', 'curfew-forwarder')).toMatchObject({ metadata: { labels } });
  });

  it('can make the namespace itself', () => {
    uninstall();
    done(kubectl('delete', 'namespace', 'curfew', '--timeout=60s'));
    done(upgrade({}, '--create-namespace'));
    expect(names()).toHaveLength(rendered({}).length);
  });
});
