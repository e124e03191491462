import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { rbacCommand } from '../../cli/rbac.ts';

const rule = (kind: string, fields = '', group = 'example.com'): string => `
---
apiVersion: curfew.dev/v1alpha1
kind: FinalizerRule
metadata: { name: ${kind.toLowerCase()} }
spec: { group: "${group}", version: v1, kind: ${kind}, finalizerName: example.com/cleanup, cleanup: { builtin: { name: None } }${fields} }
`;
const definition = (kind: string, plural: string, group = 'example.com'): string => `
---
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: { name: "${plural}.${group}" }
spec: { group: "${group}", scope: Namespaced, names: { kind: ${kind}, plural: "${plural}" }, versions: [{ name: v1 }] }
`;

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'curfew-rbac-'));
});
afterAll(() => rmSync(folder, { recursive: true }));

async function rbac(text: string, use: 'finalizerrules' | 'hooks' = 'finalizerrules') {
  const file = join(folder, 'objects.yaml');
  writeFileSync(file, text);
  let out = '';
  let error = '';
  const code = await rbacCommand(use, [file], {}, { out: each => (out += each), error: each => (error += each) });
  return { code, error, objects: parseAllDocuments(out).map(document => document.toJS() as unknown) };
}

describe('curfew rbac finalizerrules', () => {
  it('grants each kind once, to the forwarder and to the finalizer function', async () => {
    const text = rule('Queue') + rule('Database') + rule('Queue') + definition('Queue', 'queues');
    const { code, objects } = await rbac(text + definition('Database', 'databases'));
    expect(code).toBe(0);
    expect(objects).toMatchObject([
      {
        kind: 'ClusterRole',
        metadata: { name: 'curfew-forwarder-finalizerrules' },
        rules: [
          { apiGroups: ['example.com'], resources: ['databases'], verbs: ['list', 'watch'] },
          { apiGroups: ['example.com'], resources: ['queues'], verbs: ['list', 'watch'] },
        ],
      },
      {
        kind: 'ClusterRoleBinding',
        subjects: [{ kind: 'ServiceAccount', name: 'curfew-forwarder', namespace: 'curfew' }],
      },
      {
        kind: 'ClusterRole',
        metadata: { name: 'curfew-finalizer-finalizerrules' },
        rules: [
          { resources: ['databases'], verbs: ['get', 'list', 'patch'] },
          { resources: ['databases/status'], verbs: ['patch'] },
          { resources: ['queues'], verbs: ['get', 'list', 'patch'] },
          { resources: ['queues/status'], verbs: ['patch'] },
        ],
      },
      { kind: 'ClusterRoleBinding', subjects: [{ kind: 'Group', name: 'curfew:finalizer' }] },
    ]);
  });

  it('prints nothing when a rule is not valid, or nobody says how its kind is served', async () => {
    const { code, error, objects } = await rbac(rule('Queue') + rule('Other', ', onDeadline: Never'));
    expect([code, objects]).toEqual([1, []]);
    expect(error).toContain('FinalizerRule queue: what serves Queue in example.com/v1 is not known');
    expect(error).toContain('FinalizerRule other: spec.onDeadline');
  });
});

describe('what curfew rbac prints for kinds that give away more than their objects', () => {
  it.each([
    ['Secret', 'secrets', '', 'secrets: Secrets hold passwords'],
    ['Pod', 'pods', '', 'pods: such objects run code'],
    ['Job', 'jobs', 'batch', 'jobs.batch: such objects run code'],
    [
      'ClusterRole',
      'clusterroles',
      'rbac.authorization.k8s.io',
      'clusterroles.rbac.authorization.k8s.io: such objects decide',
    ],
  ])('comes with a warning for a rule on %s', async (kind, plural, group, warning) => {
    const text =
      rule('Queue') + rule(kind, '', group) + definition('Queue', 'queues') + definition(kind, plural, group);
    const { code, error, objects } = await rbac(text);
    expect([code, objects.length]).toEqual([0, 4]);
    expect(error.split('\n')).toEqual([expect.stringContaining(`warning: ${warning}`), '']);
    expect(error).toContain('read and patch every one in the cluster');
    expect(error).toContain('docs/security.md');
  });

  it.each([
    ['*', 'example.com'],
    ['queues/status', 'example.com'],
    ['queues, secrets', 'example.com'],
    ['queues]\\n    verbs: [create', 'example.com'],
    ['queues', '*'],
    ['queues', 'example.com]\\n    verbs: [create'],
  ])('is nothing where a definition has the plural %s in group %s', async (plural, group) => {
    const { code, error, objects } = await rbac(rule('Queue', '', group) + definition('Queue', plural, group));
    expect([code, objects]).toEqual([1, []]);
    expect(error).toContain('is not known');
  });

  it('comes with a warning for a hook', async () => {
    const job = CONFIG.replace('example.com/v1', 'batch/v1').replace('Deregistration', 'Job');
    const { code, error } = await rbac(policy('deregister.yaml') + job + definition('Job', 'jobs', 'batch'), 'hooks');
    expect(code).toBe(0);
    expect(error).toContain('warning: jobs.batch: such objects run code');
    expect(error).toContain('by templates of anyone who may write the ConfigMap');
  });

  it('comes without one for kinds of your own', async () => {
    expect((await rbac(rule('Queue') + definition('Queue', 'queues'))).error).toBe('');
  });
});

const policy = (template: string): string => `
---
apiVersion: curfew.dev/v1alpha1
kind: NodeLifecyclePolicy
metadata: { name: edge }
spec: { termination: { hooks: [{ name: deregister, at: before-drain, customResource: { template: ${template}, conditionType: Done }, deadline: 5m }] } }
`;
const CONFIG = `
---
apiVersion: v1
kind: ConfigMap
metadata: { name: curfew-config, namespace: curfew }
data:
  deregister.yaml: "apiVersion: example.com/v1\\nkind: Deregistration\\nmetadata: { namespace: default }\\n"
  computed.yaml: "apiVersion: example.com/v1\\nkind: {{ .Hook }}\\n"
`;

describe('curfew rbac hooks', () => {
  it('grants the custom resources of hooks to the forwarder and to the finalizer function', async () => {
    const text = policy('deregister.yaml') + CONFIG + definition('Deregistration', 'deregistrations');
    const { code, objects } = await rbac(text, 'hooks');
    expect(code).toBe(0);
    expect(objects).toMatchObject([
      {
        metadata: { name: 'curfew-forwarder-hooks' },
        rules: [{ apiGroups: ['example.com'], resources: ['deregistrations'], verbs: ['list', 'watch'] }],
      },
      { subjects: [{ kind: 'ServiceAccount', name: 'curfew-forwarder', namespace: 'curfew' }] },
      {
        metadata: { name: 'curfew-finalizer-hooks' },
        rules: [{ apiGroups: ['example.com'], resources: ['deregistrations'], verbs: ['get', 'create'] }],
      },
      { subjects: [{ kind: 'Group', name: 'curfew:finalizer' }] },
    ]);
  });

  it.each([
    ['other.yaml', 'there is no key other.yaml of ConfigMap curfew/curfew-config'],
    ['computed.yaml', 'key computed.yaml of ConfigMap curfew/curfew-config does not name apiVersion and kind'],
    ['deregister.yaml', 'what serves Deregistration in example.com/v1 is not known'],
  ])('prints nothing when the kind of template %s is not known, and says why', async (template, message) => {
    const { code, error, objects } = await rbac(policy(template) + CONFIG, 'hooks');
    expect([code, objects]).toEqual([1, []]);
    expect(error).toContain(`NodeLifecyclePolicy edge, hook deregister: ${message}`);
  });

  it('has nothing to grant without such hooks', async () => {
    const { code, error } = await rbac(CONFIG, 'hooks');
    expect([code, error]).toEqual([
      0,
      'No hook of a NodeLifecyclePolicy is a custom resource: nothing need be granted.\n',
    ]);
  });
});
