import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { parseEnv } from 'node:util';
import { fileURLToPath } from 'node:url';
import { parse, parseAllDocuments } from 'yaml';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { readConfig } from '../../forwarder/config.ts';
import { DRAIN_RESOURCES, WATCHED_RESOURCES } from '../../forwarder/resources.ts';

const FOLDER = fileURLToPath(new URL('../../deploy/forwarder', import.meta.url));

const manifests = readdirSync(FOLDER)
  .filter(file => file.endsWith('.yaml') && file !== 'kustomization.yaml')
  .flatMap(file => parseAllDocuments(readFileSync(join(FOLDER, file), 'utf8')))
  .map((document): unknown => document.toJS());

/** The one manifest of that kind and name, read with a schema that says what the test looks at. */
function manifest<Schema extends z.ZodType>(kind: string, name: string, schema: Schema): z.output<Schema> {
  const identity = z.object({ kind: z.literal(kind), metadata: z.object({ name: z.literal(name) }) });
  const found = manifests.filter(candidate => identity.safeParse(candidate).success);
  expect(found).toHaveLength(1);
  return schema.parse(found[0]);
}

const rules = z.object({
  rules: z.array(
    z.object({
      apiGroups: z.array(z.string()),
      resources: z.array(z.string()),
      resourceNames: z.array(z.string()).optional(),
      verbs: z.array(z.string()),
    }),
  ),
});
const labels = z.record(z.string(), z.string());
const deployment = z.object({
  spec: z.object({
    selector: z.object({ matchLabels: labels }),
    template: z.object({
      metadata: z.object({ labels }),
      spec: z.object({
        serviceAccountName: z.string(),
        terminationGracePeriodSeconds: z.number(),
        containers: z.array(
          z.object({ env: z.array(z.looseObject({ name: z.string(), value: z.string().optional() })) }),
        ),
      }),
    }),
  }),
});

describe('manifests of the forwarder', () => {
  it('let it read exactly what it watches, in the whole cluster', () => {
    const granted = manifest('ClusterRole', 'curfew-forwarder', rules).rules.flatMap(rule =>
      rule.apiGroups.flatMap(group => rule.resources.map(resource => `${rule.verbs.join()} ${group}/${resource}`)),
    );
    const watched = [...WATCHED_RESOURCES, ...DRAIN_RESOURCES]
      .filter(({ selection }) => selection?.namespace === undefined)
      .map(({ type }) => `list,watch ${type.group}/${type.resource}`);
    expect(granted.toSorted()).toEqual(watched.toSorted());
  });

  it('let it read one ConfigMap and write one Lease in its namespace', () => {
    const selection = WATCHED_RESOURCES.find(({ type }) => type.resource === 'configmaps')?.selection;
    expect(selection).toEqual({ namespace: 'curfew', fieldSelector: 'metadata.name=curfew-config' });
    expect(manifest('Role', 'curfew-forwarder', rules).rules).toEqual([
      { apiGroups: [''], resources: ['configmaps'], resourceNames: ['curfew-config'], verbs: ['list', 'watch'] },
      { apiGroups: ['coordination.k8s.io'], resources: ['leases'], verbs: ['create'] },
      {
        apiGroups: ['coordination.k8s.io'],
        resources: ['leases'],
        resourceNames: ['curfew-forwarder'],
        verbs: ['get', 'patch'],
      },
    ]);
  });

  it('configure it completely once the three settings are filled in', () => {
    const data = parseEnv(readFileSync(join(FOLDER, 'settings.env'), 'utf8'));
    expect(Object.keys(data).toSorted()).toEqual(['AWS_REGION', 'CLUSTER_NAME', 'EVENT_BUS_NAME']);
    expect(() => readConfig([], data)).toThrow('must be set');
    const { spec } = manifest('Deployment', 'curfew-forwarder', deployment).spec.template;
    const filledIn = Object.fromEntries(Object.keys(data).map(name => [name, 'x']));
    const env = Object.fromEntries((spec.containers[0]?.env ?? []).map(({ name, value }) => [name, value ?? 'curfew']));
    const config = readConfig([], { ...filledIn, ...env });
    expect(config).toMatchObject({ lease: { namespace: 'curfew', name: 'curfew-forwarder' } });
    if (config === 'help') throw new Error('not a configuration');
    expect((config.settings.drainTimeout ?? 0) / 1000).toBeLessThan(spec.terminationGracePeriodSeconds);
  });

  it('agree with each other', () => {
    const { spec } = manifest('Deployment', 'curfew-forwarder', deployment);
    const budget = manifest(
      'PodDisruptionBudget',
      'curfew-forwarder',
      z.object({ spec: z.object({ selector: z.object({ matchLabels: labels }) }) }),
    );
    expect(spec.template.metadata.labels).toMatchObject(spec.selector.matchLabels);
    expect(budget.spec.selector).toEqual(spec.selector);
    manifest('ServiceAccount', spec.template.spec.serviceAccountName, z.unknown());
    const listed = z
      .object({ resources: z.array(z.string()), configMapGenerator: z.array(z.object({ envs: z.array(z.string()) })) })
      .parse(parse(readFileSync(join(FOLDER, 'kustomization.yaml'), 'utf8')));
    const settings = listed.configMapGenerator.flatMap(({ envs }) => envs);
    expect([...listed.resources, ...settings, 'kustomization.yaml'].toSorted()).toEqual(readdirSync(FOLDER).toSorted());
  });
});
