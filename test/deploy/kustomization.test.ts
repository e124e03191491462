/** `kubectl apply -k deploy/` without a cluster; `test/control-plane/install.test.ts` does it on kube-apiserver. */
import { spawnSync } from 'node:child_process';
import { globSync, mkdtempDisposableSync, readFileSync, realpathSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parse, parseAllDocuments } from 'yaml';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { findKubectl } from '../../packages/kube-apiserver/test/http/kubectl.ts';
import { DEFAULT_CONFIG, parseConfig } from '../../shared/contract/config-schema.ts';
import type { JsonObject } from '../../shared/domain/kubernetes-object.ts';
import { isBlockless } from '../../shared/policies/deciding-policy.ts';
import { parsePolicyFrame } from '../../shared/contract/policy-schema.ts';
import { parseRepairBlock } from '../../shared/contract/repair-schema.ts';
import { CONFIG_MAP } from '../../shared/contract/names.ts';
import { FORWARDER_LEASE } from '../../shared/contract/permissions.ts';

const DEPLOY = fileURLToPath(new URL('../../deploy', import.meta.url));
const text = (file: string): string => readFileSync(join(DEPLOY, file), 'utf8');
const kubectl = findKubectl();
const RULES = z.object({
  rules: z.array(z.object({ resourceNames: z.array(z.string()).default([]) })).default([]),
});
const MANIFEST = z.looseObject({ kind: z.string(), metadata: z.looseObject({ name: z.string() }) });
const DEPLOYMENT = z.object({
  spec: z.object({
    template: z.object({
      spec: z.object({
        tolerations: z.array(z.record(z.string(), z.string())).default([]),
        enableServiceLinks: z.boolean(),
        nodeSelector: z.record(z.string(), z.string()).optional(),
      }),
    }),
  }),
});

describe('deploy/', () => {
  it('has every manifest in its kustomization but the samples and the chart', () => {
    const { resources } = z.object({ resources: z.array(z.string()) }).parse(parse(text('kustomization.yaml')));
    const files = globSync('*/*.yaml', { cwd: DEPLOY }).map(file => file.replace(/^forwarder\/.*/, 'forwarder'));
    expect([...new Set(files)].filter(file => !/^(samples|chart)\//.test(file)).toSorted()).toEqual(
      resources.toSorted(),
    );
  });

  it('has a configuration that is valid and explains every gate', () => {
    const config = text('config/config.toml');
    expect(parseConfig(config)).toMatchObject({ ok: true });
    for (const gate of Object.keys(DEFAULT_CONFIG.featureGates))
      expect(config).toMatch(new RegExp(`^#.*\\n${gate} = `, 'm'));
  });

  it('has sample policies that repair, terminate and drain nothing', () => {
    const policies = parseAllDocuments(text('samples/observe.yaml')).map(document =>
      z.object({ spec: z.looseObject({ repair: z.optional(z.unknown()) }) }).parse(document.toJS()),
    );
    const specs = policies.map(({ spec }) => spec);
    for (const spec of specs) expect(parsePolicyFrame(spec)).toMatchObject({ ok: true, value: { mode: 'Observe' } });
    expect(specs.map(spec => isBlockless({ spec: spec as JsonObject }))).toEqual([false, true]);
    expect(parseRepairBlock(specs[0]?.repair, 'spec.repair')).toMatchObject({ ok: true });
  });

  // Kustomize takes each `resourceNames` of a Role for names of ConfigMaps, whatever its resource, and puts the hash there, too.
  it('gives no hash to a name that a Role gives rights on', () => {
    const { configMapGenerator } = z
      .object({ configMapGenerator: z.array(z.object({ name: z.string() })) })
      .parse(parse(text('forwarder/kustomization.yaml')));
    const roles = globSync('{rbac/*,forwarder/rbac}.yaml', { cwd: DEPLOY }).flatMap(file =>
      parseAllDocuments(text(file)).map(document => RULES.parse(document.toJS())),
    );
    const named = roles.flatMap(({ rules }) => rules.flatMap(({ resourceNames }) => resourceNames));
    expect(named).toContain(FORWARDER_LEASE.name);
    for (const { name } of configMapGenerator) expect(named).not.toContain(name);
  });

  it.skipIf(kubectl === undefined)('renders, namespace and definitions first, with settings by a hashed name', () => {
    const { stdout, stderr, status } = spawnSync(kubectl ?? '', ['kustomize', DEPLOY], { encoding: 'utf8' });
    expect([status, stderr]).toEqual([0, '']);
    const manifests = parseAllDocuments(stdout).map(document => MANIFEST.parse(document.toJS()));
    expect(manifests.slice(0, 2).map(({ kind }) => kind)).toEqual(['Namespace', 'CustomResourceDefinition']);
    const configMaps = manifests.filter(({ kind }) => kind === 'ConfigMap').map(({ metadata }) => metadata.name);
    expect(configMaps).toContain(CONFIG_MAP.name);
    const settings = configMaps.find(name => name.startsWith('curfew-forwarder-')) ?? 'none';
    expect(stdout).toMatch(new RegExp(`configMapRef:\\s+name: ${settings}`));
    expect(stdout).toMatch(new RegExp(`resourceNames:\\s+- ${FORWARDER_LEASE.name}\n\\s+resources:\\s+- leases`));
  });

  it.skipIf(kubectl === undefined)(
    "keeps its names under the overlay of docs/deploying.md, with the reader's values",
    () => {
      using folder = mkdtempDisposableSync(join(tmpdir(), 'curfew-overlay-'));
      const document = readFileSync(join(DEPLOY, '../docs/deploying.md'), 'utf8');
      const [, overlay = ''] = /```yaml\n(# kustomization.yaml\n[^`]+)```/.exec(document) ?? [];
      // Kustomize compares real paths.
      const base = relative(realpathSync(folder.path), DEPLOY);
      writeFileSync(join(folder.path, 'kustomization.yaml'), overlay.replace('../curfew/deploy', base));
      const mine = '[featureGates]\nnodeRepair = false\n';
      writeFileSync(join(folder.path, 'config.toml'), mine);
      const { stdout, stderr, status } = spawnSync(kubectl ?? '', ['kustomize', folder.path], { encoding: 'utf8' });
      expect([status, stderr]).toEqual([0, '']);
      const manifests = parseAllDocuments(stdout).map(each => MANIFEST.parse(each.toJS()));
      const { namespace, name, key } = CONFIG_MAP;
      const configMaps = manifests.filter(({ kind }) => kind === 'ConfigMap');
      expect(configMaps.find(({ metadata }) => metadata.name === name)).toMatchObject({
        metadata: { namespace },
        data: { [key]: mine },
      });
      const settings = configMaps.find(({ metadata }) => metadata.name.startsWith('curfew-forwarder-'));
      expect(settings).toMatchObject({ data: { CLUSTER_NAME: 'prod', AWS_REGION: 'eu-west-1' } });
      expect(stdout).toMatch(new RegExp(`configMapRef:\\s+name: ${settings?.metadata.name ?? 'none'}`));
      expect(stdout).toMatch(/image: registry\.example\.com\/curfew-forwarder:0\.1\.0/);
      expect(stdout).toMatch(/key: gpu\n/);
    },
  );

  // EKS Auto Mode's `system` nodes and the usual nodes for Karpenter take nothing else.
  it('lets the forwarder run on nodes that only add-ons may use', () => {
    const { spec } = DEPLOYMENT.parse(parse(text('forwarder/deployment.yaml')));
    expect(spec.template.spec.tolerations).toContainEqual({ key: 'CriticalAddonsOnly', operator: 'Exists' });
  });

  it('keeps Services of its namespace out of the settings of the forwarder: one named health would set HEALTH_PORT', () => {
    const { spec } = DEPLOYMENT.parse(parse(text('forwarder/deployment.yaml')));
    expect(spec.template.spec.enableServiceLinks).toBe(false);
  });

  it('keeps the forwarder off nodes that cannot run its image', () => {
    const { spec } = DEPLOYMENT.parse(parse(text('forwarder/deployment.yaml')));
    expect(spec.template.spec.nodeSelector).toEqual({ 'kubernetes.io/os': 'linux' });
  });
});
