/** The commands of docs/deploying.md on an empty kube-apiserver. */
import { spawnSync } from 'node:child_process';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { z } from 'zod';
import { terminationPolicy } from '../../cli/policies/termination-policy.ts';
import { NO_FINALIZERS } from '../../cli/policies/termination-settings.ts';
import { createAccessProbe } from '../../shared/adapters/kubernetes/access-probe.ts';
import { loadKubeconfig } from '../../shared/adapters/kubernetes/kubeconfig.ts';
import { createTransport } from '../../shared/adapters/kubernetes/transport.ts';
import { systemClock } from '../../shared/adapters/system-clock.ts';
import { FUNCTION_NAMES } from '../../shared/contract/names.ts';
import { kubernetesGroupOf, PERMISSIONS } from '../../shared/contract/permissions.ts';
import { RetryableError } from '../../shared/errors.ts';
import { runCurfew } from '../cli/run-curfew.ts';
import { SERVES_MUTATING_POLICIES } from './mutating-policies.ts';
import { REMOVAL, REMOVAL_TEST } from './removal.ts';
import { startControlPlane, type ControlPlane } from './start.ts';

const DEPLOY = fileURLToPath(new URL('../../deploy', import.meta.url));

const FUNCTIONS = FUNCTION_NAMES.filter(name => PERMISSIONS[name].kubernetes.length > 0);
const PARTS = [...FUNCTIONS, 'forwarder'] as const;
type Part = (typeof PARTS)[number];
const userOf = (part: Part): string =>
  part === 'forwarder' ? 'system:serviceaccount:curfew:curfew-forwarder' : `arn:aws:sts:::assumed-role/${part}`;

const ON_SERVER = ['apply', '--server-side', '--field-manager=argocd-controller'];
const TERMINATION = JSON.stringify({
  apiVersion: 'v1',
  kind: 'List',
  items: terminationPolicy({ pools: new Map(), others: { ...NO_FINALIZERS, nodes: 'a.example/f' } }),
});

let plane: ControlPlane;
beforeAll(async () => {
  plane = await startControlPlane({
    users: PARTS.map(part => ({
      name: userOf(part),
      groups: part === 'forwarder' ? [] : [kubernetesGroupOf(part)],
    })),
    log: line => process.stderr.write(`${line}\n`),
  });
});
afterAll(() => plane?.stop());

const kubectl = (...parameters: string[]) => kubectlWith('', ...parameters);

function kubectlWith(input: string, ...parameters: string[]) {
  const { kubectl: command = 'kubectl', adminKubeconfig } = plane;
  const { status, stdout, stderr } = spawnSync(command, ['--kubeconfig', adminKubeconfig, ...parameters], {
    encoding: 'utf8',
    input,
  });
  return { status, stdout, stderr, lines: stdout.trim().split('\n') };
}

/** What a function's own probe finds, with the token of the part. */
async function probe(name: Part): Promise<string> {
  const { options } = await loadKubeconfig(plane.kubeconfigFor(userOf(name)));
  const transport = createTransport({ ...options, clock: systemClock, userAgent: `curfew-${name}` });
  try {
    await createAccessProbe(transport, PERMISSIONS[name].kubernetes)();
    return 'allowed';
  } catch (error) {
    return error instanceof RetryableError ? `${error.reason}: ${error.message}` : String(error);
  } finally {
    transport.close();
  }
}

describe('installing in a cluster', () => {
  it.each(PARTS)('%s notices before that it may do nothing', async name => {
    expect(await probe(name)).toMatch(/^Forbidden: the API server does not allow: .*(get|list) nodes/);
  });

  it('is one command that applies everything at once, and nothing again', () => {
    const first = kubectl('apply', '-k', DEPLOY);
    expect([first.status, first.stderr]).toEqual([0, '']);
    expect(first.lines.filter(line => !line.endsWith(' created'))).toEqual([]);
    for (const part of [
      'namespace/curfew',
      'customresourcedefinition',
      'clusterrole',
      'configmap/curfew-config',
      'deployment.apps/curfew-forwarder',
      'validatingadmissionpolicy',
    ]) {
      expect(first.stdout).toContain(part);
    }
    const second = kubectl('apply', '-k', DEPLOY);
    // kubectl always replaces the selector of a budget.
    const changed = second.lines.filter(line => !line.endsWith(' unchanged'));
    expect([second.status, changed]).toEqual([0, ['poddisruptionbudget.policy/curfew-forwarder configured']]);
  });

  // GitOps tools apply on the server, or change over to it. Where the server fills in part of what is owned as a whole, that conflicts.
  it('can change over to server-side apply', () => {
    expect(kubectl(...ON_SERVER, '-k', DEPLOY).stderr).toBe('');
    const drift = kubectl('diff', '--server-side', '--field-manager=argocd-controller', '-k', DEPLOY);
    expect([drift.status, drift.stdout]).toEqual([0, '']);
  });

  it.skipIf(!SERVES_MUTATING_POLICIES)('can change the policy of terminations over to server-side apply', () => {
    expect(kubectlWith(TERMINATION, 'apply', '-f', '-').stderr).toBe('');
    const again = kubectlWith(TERMINATION, 'apply', '-f', '-');
    expect(again.lines.filter(line => !line.endsWith(' unchanged'))).toEqual([]);
    expect(kubectlWith(TERMINATION, ...ON_SERVER, '-f', '-').stderr).toBe('');
    expect(kubectlWith(TERMINATION, 'delete', '-f', '-').stderr).toBe('');
  });

  it.skipIf(SERVES_MUTATING_POLICIES)(
    'cannot take the policy of terminations before 1.36, and is told so',
    async () => {
      expect(kubectlWith(TERMINATION, 'apply', '-f', '-').stderr).toContain(
        'no matches for kind "MutatingAdmissionPolicy"',
      );
      const { code, stderr } = await runCurfew(['policies', 'admission', '--kubeconfig', plane.adminKubeconfig]);
      expect([code, stderr]).toEqual([
        0,
        expect.stringContaining('The cluster does not serve MutatingAdmissionPolicy'),
      ]);
    },
  );

  it('lets the pod of the forwarder into its namespace', () => {
    const template = kubectl(
      'get',
      '-n',
      'curfew',
      'deployment',
      'curfew-forwarder',
      '-o',
      'jsonpath={.spec.template}',
    );
    const { spec } = z.object({ spec: z.looseObject({}) }).parse(JSON.parse(template.stdout));
    const pod = { apiVersion: 'v1', kind: 'Pod', metadata: { namespace: 'curfew', name: 'forwarder' }, spec };
    const created = kubectlWith(JSON.stringify(pod), 'create', '--dry-run=server', '-f', '-');
    expect([created.status, created.stderr]).toEqual([0, '']);
    // What its limits are for: a pod that may do more is refused.
    const other = { ...pod, spec: { ...spec, hostNetwork: true } };
    expect(kubectlWith(JSON.stringify(other), 'create', '--dry-run=server', '-f', '-').stderr).toContain('PodSecurity');
  });

  it.each(PARTS)('%s may do after it all that it needs', async name => {
    await vi.waitFor(async () => expect(await probe(name)).toBe('allowed'), { timeout: 10_000 });
  });

  it('gives the functions of an upgrade their rights by deploy/rbac alone, before definitions and forwarder change', async () => {
    kubectl('delete', '-f', `${DEPLOY}/rbac`);
    const applied = kubectl('apply', '-f', `${DEPLOY}/rbac`);
    expect([applied.status, applied.stderr]).toEqual([0, '']);
    await vi.waitFor(async () => {
      expect(await Promise.all(FUNCTIONS.map(probe))).toEqual(FUNCTIONS.map(() => 'allowed'));
    }, 10_000);
  });

  it('takes the sample policy once its definition is served', () => {
    const definition = 'crd/nodelifecyclepolicies.curfew.dev';
    expect(kubectl('wait', '--for=condition=Established', definition, '--timeout=30s').status).toBe(0);
    expect(kubectl('apply', '-f', `${DEPLOY}/samples`).stdout.trim().split('\n')).toEqual([
      'nodelifecyclepolicy.curfew.dev/observe created',
      'nodelifecyclepolicy.curfew.dev/brake created',
    ]);
    expect(kubectl('get', 'nlp', 'observe', '-o', 'jsonpath={.spec.mode}').stdout).toBe('Observe');
  });

  // Why the sample is not part of the kustomization: kubectl looks up every kind before it applies the first object.
  // The server forgets a kind a moment after its definition has gone, and kubectl keeps on disk what it knew.
  it('could not take a policy together with its definition', REMOVAL_TEST, async () => {
    kubectl('delete', '-f', `${DEPLOY}/samples`, '-f', `${DEPLOY}/crds`, REMOVAL);
    await vi.waitUntil(() => !kubectl('get', '--raw', '/apis').stdout.includes('curfew.dev'), 30_000);
    const nothingKnown = ['--cache-dir', await mkdtemp(join(tmpdir(), 'kubectl-'))];
    const together = kubectl(...nothingKnown, 'apply', '-f', `${DEPLOY}/crds`, '-f', `${DEPLOY}/samples`);
    expect(together.status).not.toBe(0);
    expect(together.stderr).toMatch(/ensure CRDs are installed first|could not find the requested resource/);
  });

  it('is removed by one command, which leaves nothing of Curfew', REMOVAL_TEST, () => {
    kubectl('apply', '-k', DEPLOY);
    const removal = kubectl('delete', '-k', DEPLOY, REMOVAL);
    expect([removal.status, removal.stderr]).toEqual([0, '']);
    const kinds =
      'crd,clusterroles,clusterrolebindings,validatingadmissionpolicies,validatingadmissionpolicybindings,ns';
    expect(kubectl('get', kinds, '-o', 'name').lines.filter(line => line.includes('curfew'))).toEqual([]);
  });
});
