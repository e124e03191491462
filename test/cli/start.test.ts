import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startEmbeddedCluster, type EmbeddedCluster } from '../../cli/start/embedded-cluster.ts';
import { storyObjects } from '../../cli/start/story.ts';
import { systemClock } from '../../shared/adapters/system-clock.ts';
import { RESOURCES } from '../../shared/contract/resources.ts';
import { toTimestamp } from '../../shared/domain/time.ts';
import { runCurfew } from './run-curfew.ts';

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

describe('start --kubeconfig', () => {
  it('observes: decides, says what it would do, and writes nothing', async () => {
    const { code, stdout, stderr } = await runCurfew(['start', '--kubeconfig', kubeconfig], output =>
      output.includes('would delete'),
    );
    expect(stderr).toBe('');
    expect(code).toBe(0);
    expect(stdout).toContain('Mode: observe');
    expect(stdout).toMatch(/repair {5}repair Node node-1: NetworkUnavailable=True since 2024-11-01T15:02:48Z/);
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
    const { code, stdout } = await runCurfew(['start', '--kubeconfig', kubeconfig, '--enforce'], isDeleting);
    expect(code).toBe(0);
    expect(stdout).toContain('Mode: enforce');
    expect([...writers]).toEqual(['admin']);
  });

  it.each([
    ['a missing file', ['--kubeconfig', '/nowhere/kubeconfig'], /^kubeconfig \/nowhere\/kubeconfig does not exist: /],
    ['a missing context', ['--context', 'other'], /has no context other: it has curfew$/],
    ['contradicting options', ['--serve'], /^give either --serve or --kubeconfig/],
  ])('refuses %s with one line and exit code 2', async (_, args, line) => {
    const file = args.includes('--kubeconfig') ? [] : ['--kubeconfig', kubeconfig];
    const { code, stderr } = await runCurfew(['start', ...file, ...args]);
    expect(stderr.trimEnd()).toMatch(line);
    expect(stderr.trimEnd().split('\n')).toHaveLength(1);
    expect(code).toBe(2);
  });

  it('says that a cluster does not answer', async () => {
    const unreachable = join(folder, 'unreachable');
    writeFileSync(unreachable, cluster.kubeconfig().replace(/127\.0\.0\.1:\d+/, '127.0.0.1:9'));
    const { code, stderr } = await runCurfew(['start', '--kubeconfig', unreachable]);
    expect(stderr).toMatch(/^http:\/\/127\.0\.0\.1:9 \(context curfew\) cannot be reached: .*ECONNREFUSED.*\n$/);
    expect(code).toBe(2);
  });
});

describe('start', () => {
  it.each([
    ['--enforce', '--enforce goes with --kubeconfig'],
    ['--context=x', '--context goes with --kubeconfig'],
    ['--port=1', '--port goes with --serve'],
  ])('refuses %s alone', async (option, message) => {
    expect(await runCurfew(['start', option])).toEqual({ code: 2, stdout: '', stderr: `${message}\n` });
  });
});
