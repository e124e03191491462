import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { admissionCommand, type AdmissionOptions } from '../../cli/policies.ts';
import { startEmbeddedCluster, type EmbeddedCluster } from '../../cli/start/embedded-cluster.ts';
import { systemClock } from '../../shared/adapters/system-clock.ts';
import { json, serve } from '../shared/adapters/kubernetes/scripted-server.ts';
import { runCurfew } from './run-curfew.ts';

const POOLS = `
apiVersion: karpenter.sh/v1
kind: NodePool
metadata: { name: web, labels: { team: web } }
spec: {}
---
apiVersion: karpenter.sh/v1
kind: NodePool
metadata: { name: batch }
spec: { disruption: { customFinalizerName: example.com/batch } }
---
apiVersion: v1
kind: ConfigMap
metadata: { name: passed-over }
`;
const policy = (name: string, spec: string): string => `
---
apiVersion: curfew.dev/v1alpha1
kind: NodeLifecyclePolicy
metadata: { name: ${name} }
spec: ${spec}
`;
const OF_WEB = policy('web', '{ nodePoolSelector: { matchLabels: { team: web } }, termination: { builtin: Replace } }');

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'curfew-policies-'));
});
afterAll(() => rmSync(folder, { recursive: true }));

async function admission(text: string, options: AdmissionOptions = {}) {
  const file = join(folder, 'objects.yaml');
  writeFileSync(file, text);
  let out = '';
  let error = '';
  const code = await admissionCommand([file], options, { out: each => (out += each), error: each => (error += each) });
  return { code, out, error: error.replaceAll(folder, '.') };
}

const kindsIn = (yaml: string): unknown[] => parseAllDocuments(yaml).map(document => document.toJS().kind);
const expressionOf = (yaml: string, name: string): unknown =>
  parseAllDocuments(yaml)[0]
    ?.toJS()
    .spec.variables.find((variable: { name: string }) => variable.name === name).expression;

describe('curfew policies admission', () => {
  it('prints one policy and its binding, with the finalizer of each pool, the same each time', async () => {
    const { code, out, error } = await admission(POOLS + OF_WEB);
    expect([code, error]).toEqual([0, '']);
    expect(kindsIn(out)).toEqual(['MutatingAdmissionPolicy', 'MutatingAdmissionPolicyBinding']);
    const table = '{"batch": "example.com/batch", "web": "curfew.dev/termination"}';
    expect(expressionOf(out, 'finalizer')).toContain(`variables.pool in ${table} ? ${table}[variables.pool] : ""`);
    expect(expressionOf(out, 'replaces')).toBe('variables.pool in ["web"]');
    const reversed = (POOLS + OF_WEB).split('---').toReversed().join('---');
    expect((await admission(reversed)).out).toBe(out);
  });

  it('means all pools, also later ones, and nodes without one, where a policy selects all', async () => {
    const { out } = await admission(POOLS + policy('all', '{ termination: { builtin: Replace, scope: NodeOnly } }'));
    expect(expressionOf(out, 'finalizer')).toBe(
      'request.resource.resource == "nodes" ? (variables.pool in {"batch": "example.com/batch"} ? {"batch": "example.com/batch"}[variables.pool] : "curfew.dev/termination") : (variables.pool in {"batch": ""} ? {"batch": ""}[variables.pool] : "")',
    );
    expect(expressionOf(out, 'replaces')).toBe('!(variables.pool in [])');
  });

  it('patches with no list that stands in the object: Kubernetes 1.37 refuses the write for it', async () => {
    const { out } = await admission(POOLS + OF_WEB);
    const lists = ['present', 'before'].map(name => `variables.${name}`);
    expect(lists).not.toContain(expressionOf(out, 'kept'));
    expect(expressionOf(out, 'kept')).toMatch(/^variables\.present\.filter\(.*\)$/);
    expect(expressionOf(out, 'finalizers')).toBe(
      'variables.finalizer in variables.kept ? variables.kept : variables.kept + [variables.finalizer]',
    );
  });

  it('leaves out what only observes, and says when nothing is left', async () => {
    const { code, out, error } = await admission(policy('all', '{ mode: Observe, termination: {} }'));
    expect([code, error]).toEqual([
      0,
      'No NodePool and no policy asks for a termination finalizer: this policy puts none on.\n',
    ]);
    expect(expressionOf(out, 'finalizer')).toBe('request.resource.resource == "nodes" ? "" : ""');
  });

  it.each([
    [
      'a misspelt field',
      policy('all', '{ termination: { scoop: None } }'),
      /^NodeLifecyclePolicy all: spec.termination.*scoop/,
    ],
    [
      'a finalizer without a domain',
      policy('all', '{ termination: { finalizerName: mine } }'),
      /must be a domain and a name/,
    ],
    ['a policy that is none', policy('all', '{ terminations: {} }'), /^NodeLifecyclePolicy all: .*terminations/],
  ])('prints nothing for %s but what is wrong', async (_, text, message) => {
    const { code, out, error } = await admission(POOLS + text);
    expect([code, out]).toEqual([1, '']);
    expect(error).toMatch(message);
  });

  it('says what cannot be read', async () => {
    expect(await admission('a: [')).toMatchObject({ code: 2, out: '' });
    const both = await admission(POOLS, { kubeconfig: 'x' });
    expect([both.code, both.error]).toEqual([
      2,
      'give either files or a cluster: --kubeconfig and --context go without files\n',
    ]);
  });

  it('says that a cluster older than 1.36 takes no such policy', async () => {
    const server = await serve(({ url }, response) => {
      if (url === '/version') return json(response, 200, { gitVersion: 'v1.33.1-eks-1' });
      if (url === '/apis/admissionregistration.k8s.io/v1') {
        return json(response, 200, {
          kind: 'APIResourceList',
          resources: [{ name: 'validatingadmissionpolicies', kind: 'ValidatingAdmissionPolicy' }],
        });
      }
      const items = url.startsWith('/apis/karpenter.sh/') ? [parseAllDocuments(POOLS)[1]?.toJS() as unknown] : [];
      return json(response, 200, { kind: 'List', apiVersion: 'v1', metadata: { resourceVersion: '1' }, items });
    });
    const file = join(folder, 'older');
    writeFileSync(
      file,
      JSON.stringify({
        'current-context': 'c',
        contexts: [{ name: 'c', context: { cluster: 'c', user: 'u' } }],
        clusters: [{ name: 'c', cluster: { server: server.url } }],
        users: [{ name: 'u', user: {} }],
      }),
    );
    const { code, stdout, stderr } = await runCurfew(['policies', 'admission', '--kubeconfig', file]);
    expect([code, kindsIn(stdout)]).toEqual([0, ['MutatingAdmissionPolicy', 'MutatingAdmissionPolicyBinding']]);
    expect(stderr).toBe(
      'The cluster does not serve MutatingAdmissionPolicy in admissionregistration.k8s.io/v1, as Kubernetes 1.36 and newer do, and will ' +
        'refuse this policy. Without it the finalizer goes on as soon as Curfew sees the object, and builtin: Replace is as Keep.\n',
    );
  });

  describe('on a cluster', () => {
    let cluster: EmbeddedCluster;
    beforeAll(async () => {
      cluster = await startEmbeddedCluster(systemClock, 0);
    });
    afterAll(() => cluster.close());

    it('reads its NodePools and policies, and the cluster takes what it prints', async () => {
      const { core } = cluster;
      for (const document of parseAllDocuments(POOLS + OF_WEB)) core.seed(document.toJS());
      const kubeconfig = join(folder, 'kubeconfig');
      writeFileSync(kubeconfig, cluster.kubeconfig());
      const { code, stdout, stderr } = await runCurfew(['policies', 'admission', '--kubeconfig', kubeconfig]);
      expect([code, stderr]).toEqual([0, '']);
      expect(stdout).toBe((await admission(POOLS + OF_WEB)).out);
      for (const document of parseAllDocuments(stdout)) {
        const manifest = document.toJS();
        const resource = core.resourceForKind(manifest.apiVersion, manifest.kind);
        if (resource === undefined) throw new Error(`${manifest.kind} is not served`);
        core.create(resource, manifest);
      }
      const claims = { group: 'karpenter.sh', version: 'v1', resource: 'nodeclaims' };
      const labels = { 'karpenter.sh/nodepool': 'web' };
      const finalizers = ['karpenter.sh/termination'];
      const metadata = { name: 'web-1', labels, finalizers };
      const claim = core.create(claims, { apiVersion: 'karpenter.sh/v1', kind: 'NodeClaim', metadata, spec: {} });
      expect(claim.metadata.finalizers).toEqual(['curfew.dev/termination']);
    });
  });
});
