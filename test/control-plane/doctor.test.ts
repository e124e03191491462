/** `curfew doctor` on kube-apiserver: what `deploy/` installs, and the admission policy of terminations of this version and of one before. */
import { spawnSync } from 'node:child_process';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { terminationPolicy } from '../../cli/policies/termination-policy.ts';
import type { KubernetesManifest } from '../../shared/domain/kubernetes-object.ts';
import { blocks } from '../docs/documents.ts';
import { documentOf } from '../docs/observability.ts';
import { PERMISSIONS } from '../../shared/contract/permissions.ts';
import { runCurfew } from '../cli/run-curfew.ts';
import { minorOf } from './flags.ts';
import { SERVES_MUTATING_POLICIES } from './mutating-policies.ts';
import { startControlPlane, type ControlPlane } from './start.ts';

const BUILTIN = 'karpenter.sh/termination';
const POLICY = {
  apiVersion: 'curfew.dev/v1alpha1',
  kind: 'NodeLifecyclePolicy',
  metadata: { name: 'all' },
  spec: { nodePoolSelector: {}, mode: 'Enforce', termination: { finalizerName: 'a.example/f' } },
};
/** What `curfew policies admission` prints for it. */
const PRINTED = terminationPolicy({
  pools: new Map(),
  others: { nodeClaims: 'a.example/f', nodes: 'a.example/f', replaces: false },
});

let plane: ControlPlane;
beforeAll(async () => {
  plane = await startControlPlane();
  kubectl('', 'apply', '--server-side', '-k', 'deploy/');
  kubectl('', 'wait', '--for=condition=Established', '--timeout=30s', 'crd', '--all');
});
afterAll(() => plane?.stop());

function tryKubectl(input: unknown, ...parameters: string[]) {
  const { kubectl: command = 'kubectl', adminKubeconfig } = plane;
  const options = { encoding: 'utf8', input: JSON.stringify(input) } as const;
  return spawnSync(command, ['--kubeconfig', adminKubeconfig, ...parameters], options);
}
function kubectl(input: unknown, ...parameters: string[]): void {
  const { status, stderr } = tryKubectl(input, ...parameters);
  if (status !== 0) throw new Error(stderr);
}
const apply = (items: readonly object[]): void =>
  kubectl({ apiVersion: 'v1', kind: 'List', items }, 'apply', '-f', '-');
const doctor = () => runCurfew(['doctor', '--kubeconfig', plane.adminKubeconfig]);

it('finds what deploy/ installs, with the rights of each part, and that no forwarder runs yet', async () => {
  const { code, stdout, stderr } = await doctor();
  expect([code, stderr]).toEqual([1, '']);
  const found = stdout.split('\n').filter(line => /^(ok|FAILED|skipped)/.test(line));
  expect(found.filter(line => line.startsWith('ok'))).toEqual(
    expect.arrayContaining(
      [
        'definition of NodeLifecyclePolicy: is served, 0 objects',
        'definition of FinalizerRule: is served, 0 objects',
        'ConfigMap curfew/curfew-config: is there',
        ...['finalizer', 'drain', 'repair', 'grace-period', 'forwarder'].map(part => `rights of ${part}: all there`),
      ].map(says => `ok      ${says}`),
    ),
  );
  expect(found.filter(line => !line.startsWith('ok'))).toEqual([
    expect.stringMatching(/^FAILED +forwarder: 0 ready, /),
    'FAILED  lease of the forwarder: nobody holds it: no forwarder works',
  ]);
});

describe('the commands of docs/sandbox.md', () => {
  const commands = blocks(documentOf('docs/sandbox.md'))
    .flatMap(({ lines }) => lines)
    .filter(line => /^kubectl (?!apply)/.test(line));
  const typed = (command: string) => {
    // No kubelet would run its pod.
    const words = command.replace('--attach --rm', '--dry-run=server').split(' ').slice(1);
    return tryKubectl('', ...words);
  };

  it.each(commands)('%s', command => expect(typed(command)).toMatchObject({ status: 0, stderr: '' }));

  it('list the rights of repair, and beside them what everybody may', () => {
    const list = commands.find(command => command.includes('can-i')) ?? '';
    const rows = typed(list)
      .stdout.split('\n')
      .slice(1)
      .map(line => line.split(/\s{2,}/)[0] ?? '');
    const listed = new Set(rows.filter(resource => resource !== '' && !resource.startsWith('self')));
    const needed = PERMISSIONS.repair.kubernetes.map(
      ({ group, resource, subresource }) =>
        [resource, group].filter(Boolean).join('.') + (subresource ? `/${subresource}` : ''),
    );
    expect([...listed].toSorted()).toEqual([...new Set(needed)].toSorted());
  });
});

describe.skipIf(!SERVES_MUTATING_POLICIES)('the admission policy of terminations', () => {
  const said = async (): Promise<string> =>
    (await doctor()).stdout.split('\n').find(line => line.includes('MutatingAdmissionPolicy')) ?? '';
  /** An API server looks once a second which policies there are. */
  const IN_FORCE = { timeout: 20_000, interval: 500 };
  let nodes = 0;
  /** Creates a Node as Karpenter does; prints the finalizers that it got. */
  const launch = () =>
    tryKubectl(
      { apiVersion: 'v1', kind: 'Node', metadata: { name: `n${(nodes += 1)}`, finalizers: [BUILTIN] } },
      'create',
      '-f',
      '-',
      '-o',
      'jsonpath={.metadata.finalizers}',
    );

  it('is not asked for where there is none', async () => expect(await said()).toBe(''));

  it('is well as it is printed', async () => {
    apply([POLICY, ...PRINTED]);
    await vi.waitFor(() => expect(launch().stdout).toBe(`["${BUILTIN}","a.example/f"]`), IN_FORCE);
    expect(await said()).toBe(
      'ok      MutatingAdmissionPolicy termination.curfew.dev: is as curfew policies admission prints it',
    );
  });

  it('is of a version before: Kubernetes 1.37 refuses Nodes, and 1.36 will when it is upgraded', async () => {
    apply(PRINTED.map(ofBefore));
    const isStrict = minorOf(plane.versions.kubernetes) >= 37;
    expect(await said()).toMatch(
      isStrict
        ? /^FAILED .* refuses Nodes of pools under builtin: Keep$/
        : /^WARNING .* Kubernetes 1\.37 refuses Nodes /,
    );
    await vi.waitFor(() => {
      const { status, stdout, stderr } = launch();
      if (isStrict) expect(stderr).toContain('termination.curfew.dev');
      else expect([status, stdout]).toEqual([0, `["${BUILTIN}","a.example/f"]`]);
    }, IN_FORCE);
  });

  it('is of other pools than there are', async () => {
    apply(PRINTED);
    apply([{ ...POLICY, spec: { ...POLICY.spec, termination: { finalizerName: 'b.example/f' } } }]);
    expect(await said()).toMatch(/^WARNING .*: NodePools or policies have changed since it was printed$/);
  });
});

/** What an earlier Curfew printed: without Replace it patched with the list that stands in the object. */
function ofBefore(manifest: KubernetesManifest): KubernetesManifest {
  const kept = `variables.replaces ? variables.present.filter(name, name != "${BUILTIN}") : variables.present`;
  const spec = manifest['spec'] as { readonly variables?: readonly { readonly name: string }[] };
  if (spec.variables === undefined) return manifest;
  const variables = spec.variables.map(each => (each.name === 'kept' ? { ...each, expression: kept } : each));
  return { ...manifest, spec: { ...spec, variables } };
}
