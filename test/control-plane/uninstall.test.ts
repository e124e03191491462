/** `curfew uninstall` on kube-apiserver. */
import { spawnSync } from 'node:child_process';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { terminationPolicy } from '../../cli/policies/termination-policy.ts';
import { runCurfew } from '../cli/run-curfew.ts';
import { SERVES_MUTATING_POLICIES } from './mutating-policies.ts';
import { startControlPlane, type ControlPlane } from './start.ts';

const KARPENTERS = 'karpenter.sh/termination';
const OURS = 'a.example/f';
const POOL = { 'karpenter.sh/nodepool': 'web' };

let plane: ControlPlane;
beforeAll(async () => {
  plane = await startControlPlane();
});
afterAll(() => plane?.stop());

function kubectl(input: unknown, ...parameters: string[]): string {
  const { kubectl: command = 'kubectl', adminKubeconfig } = plane;
  const ran = spawnSync(command, ['--kubeconfig', adminKubeconfig, ...parameters], {
    encoding: 'utf8',
    input: JSON.stringify(input),
  });
  if (ran.status !== 0) throw new Error(ran.stderr);
  return ran.stdout;
}

const list = (items: readonly unknown[]): object => ({ apiVersion: 'v1', kind: 'List', items });
const node = (name: string): object => ({
  apiVersion: 'v1',
  kind: 'Node',
  metadata: { name, labels: POOL, finalizers: [KARPENTERS] },
});
const finalizers = (): string => kubectl('', 'get', 'nodes', '-o', 'jsonpath={.items[*].metadata.finalizers[*]}');

it('leaves no Node under our finalizer, and gives Karpenter its own back', async () => {
  const marked = { 'curfew.dev/termination-finalizer': OURS };
  const metadata = { name: 'held', labels: POOL, annotations: marked, finalizers: [OURS] };
  kubectl({ apiVersion: 'v1', kind: 'Node', metadata }, 'create', '-f', '-');
  const { code, stdout, stderr } = await runCurfew(['uninstall', '--kubeconfig', plane.adminKubeconfig]);
  const said = `taken ${OURS} off Node held, put ${KARPENTERS} on\n`;
  expect({ code, stdout, stderr }).toEqual({ code: 0, stdout: said, stderr: '' });
  expect(finalizers()).toBe(KARPENTERS);
  kubectl('', 'patch', 'node', 'held', '--type=merge', '-p', '{"metadata":{"finalizers":null}}');
  kubectl('', 'delete', 'node', 'held');
});

// kube-apiserver goes by a deleted admission policy for a moment.
it.skipIf(!SERVES_MUTATING_POLICIES)('does so too where the admission policy was there until now', async () => {
  const others = { nodeClaims: OURS, nodes: OURS, replaces: true };
  kubectl(list(terminationPolicy({ pools: new Map(), others })), 'apply', '-f', '-');
  await vi.waitFor(
    () => {
      kubectl(node('probe'), 'apply', '-f', '-');
      kubectl(node('probe'), 'annotate', '-f', '-', '--overwrite', `probe=${Math.random()}`);
      expect(finalizers()).toBe(OURS);
    },
    { timeout: 20_000, interval: 500 },
  );
  kubectl(list(['a', 'b', 'c'].map(node)), 'create', '-f', '-');
  expect(finalizers()).toBe([OURS, OURS, OURS, OURS].join(' '));
  const { code, stderr } = await runCurfew(['uninstall', '--kubeconfig', plane.adminKubeconfig]);
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  expect(finalizers()).toBe([KARPENTERS, KARPENTERS, KARPENTERS, KARPENTERS].join(' '));
});
