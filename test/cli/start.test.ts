import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startEmbeddedCluster, type EmbeddedCluster } from '../../cli/start/embedded-cluster.ts';
import { storyObjects } from '../../cli/start/story.ts';
import { systemClock } from '../../shared/adapters/system-clock.ts';
import { RESOURCES } from '../../shared/contract/resources.ts';
import { toTimestamp } from '../../shared/domain/time.ts';
import { runCurfew, runHere, startHere } from './run-curfew.ts';

let folder: string;
let kubeconfig: string;
let cluster: EmbeddedCluster;
const writers = new Set<string>();

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'curfew-test-'));
  kubeconfig = join(folder, 'kubeconfig');
  cluster = await startEmbeddedCluster(systemClock, 0);
  writeFileSync(kubeconfig, cluster.kubeconfig());
  for (const manifest of storyObjects(toTimestamp(systemClock.now()))) cluster.core.seed(manifest);
  const long = {
    type: 'NetworkUnavailable',
    status: 'True',
    reason: 'Test',
    lastTransitionTime: '2024-11-01T15:02:48Z',
  };
  cluster.core.patch(
    { type: RESOURCES.Node, name: 'node-1' },
    { type: 'merge', body: { status: { conditions: [long] } } },
    { user: 'kubelet', subresource: 'status' },
  );
  cluster.core.observe(({ user }) => writers.add(user));
});
afterAll(async () => {
  await cluster.close();
  rmSync(folder, { recursive: true, force: true });
});

const RBAC = 'rbac.authorization.k8s.io';

/** A user who is in all the roles of `deploy/`, and in no other. */
function bindToAllRoles(name: string): void {
  for (const [kind, resource] of [
    ['ClusterRole', 'clusterroles'],
    ['Role', 'roles'],
  ] as const) {
    for (const { metadata } of cluster.core.list({ group: RBAC, version: 'v1', resource }).items) {
      if (!metadata.name.startsWith('curfew-')) continue;
      cluster.core.seed({
        apiVersion: `${RBAC}/v1`,
        kind: `${kind}Binding`,
        metadata: {
          name: `${metadata.name}-${name}`,
          ...(metadata.namespace !== undefined && { namespace: metadata.namespace }),
        },
        roleRef: { apiGroup: RBAC, kind, name: metadata.name },
        subjects: [{ apiGroup: RBAC, kind: 'User', name }],
      });
    }
  }
}

describe('start --kubeconfig', () => {
  it('observes: decides, says what it would do, and writes nothing', async () => {
    const { code, stdout, stderr } = await runCurfew(['start', '--kubeconfig', kubeconfig], output =>
      output.includes('would delete'),
    );
    expect(stderr).toBe('');
    expect(code).toBe(0);
    expect(stdout).toContain('Mode: observe');
    expect(stdout).toMatch(/repair {7}repair Node node-1: NetworkUnavailable=True since \d/);
    expect(stdout).toMatch(/would patch nodeclaims\/default-1 .*nodeclaim-termination-timestamp/);
    expect(stdout).toContain('would delete nodeclaims/default-1');
    expect([...writers]).toEqual([]);
    expect(
      cluster.core.get({ type: RESOURCES.NodeClaim, name: 'default-1' }).metadata.deletionTimestamp,
    ).toBeUndefined();
  });

  const isDeleting = (): boolean =>
    cluster.core.get({ type: RESOURCES.NodeClaim, name: 'default-1' }).metadata.deletionTimestamp !== undefined;

  it('enforces when told to', async () => {
    const { code, stdout } = await startHere({ kubeconfig, enforce: true }, isDeleting);
    expect(code).toBe(0);
    expect(stdout).toContain('Mode: enforce');
    expect([...writers]).toEqual(['admin']);
  });

  it('watches as a user with exactly the rights of deploy/', async () => {
    bindToAllRoles('watcher');
    const file = join(folder, 'watcher');
    writeFileSync(file, cluster.kubeconfig('watcher'));
    const { code, stdout, stderr } = await startHere({ kubeconfig: file, enforce: true }, output =>
      output.includes('Ctrl-C'),
    );
    expect(stderr).toBe('');
    expect(code).toBe(0);
    expect(stdout).toContain('Mode: enforce');
    expect(stdout).not.toContain('Forbidden');
  });

  it('names what a user may not do, and the files with the roles for it', async () => {
    const file = join(folder, 'nobody');
    writeFileSync(file, cluster.kubeconfig('nobody'));
    const observing = await startHere({ kubeconfig: file });
    expect(observing.stderr).toMatch(
      /^your user may not list nodes, watch nodes, .*get configmaps curfew-config in curfew/,
    );
    expect(observing.stderr).toContain(
      ': bind it to the roles in deploy/forwarder/rbac.yaml, deploy/rbac/finalizer.yaml, deploy/rbac/drain.yaml, deploy/rbac/repair.yaml, and deploy/rbac/grace-period.yaml\n',
    );
    expect(observing.stderr).not.toContain('delete');
    expect(observing.code).toBe(2);
    const enforcing = await startHere({ kubeconfig: file, enforce: true });
    expect(enforcing.stderr).toContain('delete nodeclaims.karpenter.sh');
  });

  it("says that Curfew's own CRD is missing, and watches all the same", async () => {
    const name = 'nodelifecyclepolicies.curfew.dev';
    const ref = { type: { group: 'apiextensions.k8s.io', version: 'v1', resource: 'customresourcedefinitions' }, name };
    const { apiVersion, kind, spec } = cluster.core.get(ref);
    cluster.core.delete(ref, {});
    const { code, stdout } = await startHere({ kubeconfig }, output => output.includes('Ctrl-C'));
    cluster.core.seed({ apiVersion, kind, metadata: { name }, spec });
    expect(stdout).toContain(`The cluster does not serve ${name}: install it with \`kubectl apply -f deploy/crds\``);
    expect(code).toBe(0);
  });

  it('says that the API server is away, and that it is back', async () => {
    const clock = systemClock;
    let other = await startEmbeddedCluster(clock, 0);
    const port = Number(new URL(other.url).port);
    const file = join(folder, 'other');
    writeFileSync(file, other.kubeconfig());
    let closing: Promise<void> | undefined;
    let reopening: Promise<void> | undefined;
    const reopen = async (): Promise<void> => {
      await closing;
      other = await startEmbeddedCluster(clock, port);
    };
    const { stdout } = await startHere({ kubeconfig: file }, output => {
      if (output.includes('Ctrl-C')) closing ??= other.close();
      if (output.includes('does not answer')) reopening ??= reopen();
      return output.includes('answers again');
    });
    await reopening;
    await other.close();
    expect(stdout).toMatch(/cluster {6}the API server does not answer: .*ECONN(REFUSED|RESET)/);
    expect(stdout).toMatch(/cluster {6}the API server answers again, after \d+\.\d s/);
    expect(stdout.match(/does not answer/g)).toHaveLength(1);
  });

  it.each([
    ['a missing file', ['--kubeconfig', '/nowhere/kubeconfig'], /^kubeconfig \/nowhere\/kubeconfig does not exist: /],
    ['a missing context', ['--context', 'other'], /has no context other: it has curfew$/],
    ['contradicting options', ['--serve'], /^give either --serve or --kubeconfig/],
  ])('refuses %s with one line and exit code 2', async (_, args, line) => {
    const file = args.includes('--kubeconfig') ? [] : ['--kubeconfig', kubeconfig];
    const { code, stderr } = await runHere(['start', ...file, ...args]);
    expect(stderr.trimEnd()).toMatch(line);
    expect(stderr.trimEnd().split('\n')).toHaveLength(1);
    expect(code).toBe(2);
  });

  it('says that a cluster does not answer', async () => {
    const unreachable = join(folder, 'unreachable');
    writeFileSync(unreachable, cluster.kubeconfig().replace(/127\.0\.0\.1:\d+/, '127.0.0.1:9'));
    const { code, stderr } = await startHere({ kubeconfig: unreachable });
    expect(stderr).toMatch(/^http:\/\/127\.0\.0\.1:9 \(context curfew\) cannot be reached: .*ECONNREFUSED.*\n$/);
    expect(code).toBe(2);
  });
});

describe('start', () => {
  it.each([
    ['--enforce', '--enforce goes with --kubeconfig'],
    ['--context=x', '--context goes with --kubeconfig'],
    ['--port=1', '--port goes with --serve and --example'],
    ['--example=none', 'there is no example "none": give one of managed-database'],
  ])('refuses %s alone', async (option, message) => {
    expect(await runHere(['start', option])).toEqual({ code: 2, stdout: '', stderr: `${message}\n` });
  });
});
