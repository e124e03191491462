import { describe, expect, it } from 'vitest';
import { nodeManifest, nodeName, podName } from '../../../bench/forward/objects.ts';
import { podManifest, podStatus } from '../../../bench/forward/pods.ts';
import { isAnnotated, workload, WORKLOAD_DURATION, type Step, type Write } from '../../../bench/forward/workload.ts';
import { fingerprintOf } from '../../../forwarder/fingerprint.ts';
import { podInterest, NO_WATCHED_NODES, projectNode } from '../../../forwarder/project.ts';
import { createApiServer } from '../../../packages/kube-apiserver/src/api-server.ts';
import type { ApiServerCore, WatchEvent } from '../../../packages/kube-apiserver/src/types.ts';
import { RESOURCES } from '../../../shared/contract/resources.ts';
import type { KubernetesObject } from '../../../shared/domain/kubernetes-object.ts';
import { toEpochMs } from '../../../shared/domain/time.ts';

const size = { nodes: 200, pods: 2000 };
const now = toEpochMs(Date.UTC(2026, 0, 5, 10, 0, 0));

function populated(): ApiServerCore {
  const core = createApiServer({ clock: { now: () => now } });
  for (let index = 0; index < size.nodes; index += 1) core.seed(nodeManifest(index));
  for (let index = 0; index < size.pods; index += 1) {
    const pod = podManifest({ index, generation: 0, nodes: size.nodes, annotated: isAnnotated(index) });
    core.seed({ ...pod, status: podStatus(index, now) });
  }
  return core;
}

function carryOut(core: ApiServerCore, write: Write): void {
  switch (write.kind) {
    case 'create':
      core.create(write.type, write.manifest);
      return;
    case 'patch':
      core.patch(
        write.ref,
        { type: 'merge', body: write.body },
        write.subresource && { subresource: write.subresource },
      );
      return;
    case 'delete':
      core.delete(write.ref, { gracePeriodSeconds: write.gracePeriodSeconds });
  }
}

const countOf = (steps: readonly Step[], kind: string): number =>
  steps.filter(step => step.object.startsWith(`${kind}/`)).length;

describe('workload', () => {
  it('is in order of time and within its five minutes', () => {
    const times = workload(size, 1).map(step => step.after);
    expect(times).toEqual(times.toSorted((a, b) => a - b));
    expect(times.every(time => time >= 0 && time < WORKLOAD_DURATION)).toBe(true);
  });

  it('has two posts of every node, and five writes for each twentieth pod', () => {
    const steps = workload(size, 1);
    expect(countOf(steps, 'Node')).toBe(2 * 200 + 1);
    expect(countOf(steps, 'Pod')).toBe(5 * 100);
  });

  it('replaces other pods in every run, with the same share of annotated ones', () => {
    const replaced = [1, 2, 3].map(run => workload(size, run).filter(step => step.object.startsWith('Pod/')));
    const names = replaced.flatMap(steps => [...new Set(steps.map(step => step.object))]);
    expect(new Set(names).size).toBe(names.length);
    expect(replaced.map(steps => steps.filter(step => step.changes > 0).length)).toEqual([4, 4, 4]);
  });

  it('can be carried out run after run', () => {
    const core = populated();
    for (const run of [1, 2]) for (const step of workload(size, run)) carryOut(core, step.write());
    expect(core.list(RESOURCES.Pod).items).toHaveLength(size.pods);
  });

  it('changes what matters exactly where it says so', () => {
    const core = populated();
    const counted = new Map<string, number>();
    const last = new Map<string, string>();
    const look = (object: KubernetesObject): string => fingerprintOf(projectNode(object).parts);
    for (const node of core.list(RESOURCES.Node).items) last.set(node.metadata.name, look(node));
    core.watch(RESOURCES.Node, { resourceVersion: core.resourceVersion }, (event: WatchEvent) => {
      if (event.type !== 'MODIFIED') return;
      const { name } = event.object.metadata;
      const fingerprint = look(event.object);
      if (fingerprint !== last.get(name)) counted.set(`Node/${name}`, (counted.get(`Node/${name}`) ?? 0) + 1);
      last.set(name, fingerprint);
    });
    core.watch(RESOURCES.Pod, { resourceVersion: core.resourceVersion }, (event: WatchEvent) => {
      if (event.type === 'ERROR' || event.type === 'BOOKMARK') return;
      const { object } = event;
      // The kubelet's last status is the one event of an annotated pod that changes nothing that is read.
      const terminated = JSON.stringify(object.status).includes('"terminated"');
      const stopped = event.type === 'MODIFIED' && terminated && object.metadata.deletionGracePeriodSeconds !== 0;
      if (podInterest(object, NO_WATCHED_NODES) === undefined || stopped) return;
      const key = `Pod/${object.metadata.name}`;
      counted.set(key, (counted.get(key) ?? 0) + 1);
    });
    const expected = new Map<string, number>();
    for (const step of workload(size, 1)) {
      carryOut(core, step.write());
      if (step.changes > 0) expected.set(step.object, (expected.get(step.object) ?? 0) + step.changes);
    }
    expect(Object.fromEntries(counted)).toEqual(Object.fromEntries(expected));
    expect(expected.size).toBeGreaterThan(3);
  });
});

describe('the objects', () => {
  it('are as large as those of real clusters', () => {
    expect(JSON.stringify(nodeManifest(7)).length).toBeGreaterThan(6000);
    const pod = podManifest({ index: 7, generation: 0, nodes: 10, annotated: false });
    expect(JSON.stringify({ ...pod, status: podStatus(7, now) }).length).toBeGreaterThan(5000);
  });

  it('have names of their own that the API server accepts', () => {
    const names = Array.from({ length: 100_000 }, (_unused, index) => podName(index, 0));
    expect(new Set(names).size).toBe(100_000);
    const nodes = Array.from({ length: 10_000 }, (_unused, index) => nodeName(index));
    expect(new Set(nodes).size).toBe(10_000);
    for (const name of [...names.slice(0, 500), ...nodes.slice(-500)])
      expect(name).toMatch(/^[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?$/);
  });
});
