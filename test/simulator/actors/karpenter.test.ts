import { describe, expect, it } from 'vitest';
import { startKarpenter } from '../../../simulator/actors/karpenter.ts';
import { createCloud } from '../../../simulator/cloud.ts';
import { createVirtualTime } from '../../../simulator/virtual-time.ts';
import { createWorld } from '../../../simulator/world.ts';
import { addDuration, minutes, seconds } from '../../../shared/domain/time.ts';
import { complaints, nodeObjects, scenario, simulate, story } from '../simulate.ts';

const DELETE = '    - { at: 1m, delete: { resource: nodeclaims, name: a } }\n';

describe('karpenter', () => {
  it('removes Node, instance and finalizer 5 s after the NodeClaim is deleted', async () => {
    const result = await simulate(`  objects:
${nodeObjects('a', 'True')}  steps:
${DELETE}  expect:
    - { final: { resource: nodes, name: a, exists: false } }
    - { final: { resource: nodeclaims, name: a, exists: false } }
    - { final: { instance: "aws:///us-west-2a/i-a", state: terminated } }
`);
    expect(complaints(result)).toEqual([]);
    expect(story(result, 'karpenter')).toEqual([
      '15:01:05.000 karpenter delete nodes a',
      '15:01:05.000 karpenter patch nodeclaims a, which is gone with that',
    ]);
  });

  it('takes its own finalizer off the Node and leaves those of others', async () => {
    const finalizers = `    - at: 0s
      patch: { resource: nodes, name: a, merge: { metadata: { finalizers: [karpenter.sh/termination, example.com/mine] } } }
`;
    const result = await simulate(`  objects:
${nodeObjects('a', 'True')}  steps:
${finalizers}${DELETE}  expect:
    - { final: { resource: nodes, name: a, match: { metadata: { finalizers: [example.com/mine] } }, absent: ["metadata.finalizers[1]"] } }
    - { final: { resource: nodeclaims, name: a, exists: false } }
`);
    expect(complaints(result)).toEqual([]);
  });

  it('does nothing for a NodeClaim without its finalizer', async () => {
    const result = await simulate(`  objects:
${nodeObjects('a', 'True').replace('finalizers: [karpenter.sh/termination]', 'finalizers: [example.com/mine]')}  steps:
${DELETE}  expect:
    - { final: { resource: nodes, name: a } }
    - { final: { instance: "aws:///us-west-2a/i-a", state: running } }
`);
    expect(complaints(result)).toEqual([]);
    expect(story(result, 'karpenter')).toEqual([]);
  });

  it('leaves a Node of another instance alone that took over the name', async () => {
    const result = await simulate(`  objects:
${nodeObjects('a', 'True')}  steps:
${DELETE}    - { at: 61s, delete: { resource: nodes, name: a } }
    - { at: 62s, apply: { apiVersion: v1, kind: Node, metadata: { name: a }, spec: { providerID: "aws:///us-west-2a/i-new" } } }
  expect:
    - { final: { resource: nodes, name: a, match: { spec: { providerID: "aws:///us-west-2a/i-new" } } } }
    - { final: { resource: nodeclaims, name: a, exists: false } }
    - { final: { instance: "aws:///us-west-2a/i-new", state: running } }
`);
    expect(complaints(result)).toEqual([]);
  });

  it('looks at a node that is held no more often because its NodeClaim changed', async () => {
    const parsed = scenario(`  objects:
${nodeObjects('a', 'True')}    - { apiVersion: v1, kind: Pod, metadata: { namespace: prod, name: p, annotations: { karpenter.sh/do-not-disrupt: "true" } }, spec: { nodeName: a } }
`);
    const time = createVirtualTime({ start: parsed.start });
    const world = createWorld(parsed, time);
    let lists = 0;
    const core = {
      ...world.core,
      list: (...args: Parameters<typeof world.core.list>) => {
        if (args[0].resource === 'pods') lists += 1;
        return world.core.list(...args);
      },
    };
    startKarpenter({ core, scheduler: time, cloud: createCloud(time) });
    const claim = { type: { group: 'karpenter.sh', version: 'v1', resource: 'nodeclaims' }, name: 'a' };
    world.core.delete(claim);
    const listsOfAnHour = async (): Promise<number> => {
      const before = lists;
      await time.runUntil(addDuration(time.now(), minutes(60)));
      return lists - before;
    };
    const unchanged = await listsOfAnHour();
    for (let index = 0; index < 20; index += 1) {
      world.core.patch(claim, { type: 'merge', body: { metadata: { annotations: { change: String(index) } } } });
      await time.runUntil(addDuration(time.now(), seconds(3)));
    }
    expect(await listsOfAnHour()).toBeLessThanOrEqual(unchanged);
  });
});

const POOL = `    - { apiVersion: karpenter.sh/v1, kind: NodePool, metadata: { name: gpu }, spec: { template: { spec: { requirements: [{ key: topology.kubernetes.io/zone, operator: In, values: [us-west-2c, us-west-2a] }] } } } }
`;
const CLAIM = (name: string, spec = '{}'): string =>
  `{ apiVersion: karpenter.sh/v1, kind: NodeClaim, metadata: { name: ${name}, labels: { karpenter.sh/nodepool: gpu, team: ml } }, spec: ${spec} }`;

describe('karpenter launches', () => {
  it('no NodeClaim that nothing says so of', async () => {
    const result = await simulate(`  objects:
${POOL}    - ${CLAIM('c')}
  expect:
    - { final: { resource: nodes, name: c, exists: false } }
`);
    expect(complaints(result)).toEqual([]);
    expect(story(result, 'karpenter')).toEqual([]);
  });

  it('those of a pool that a step names, 30 s after their creation', async () => {
    const taints = '{ taints: [{ key: curfew.dev/reserved, effect: NoSchedule }] }';
    const result = await simulate(`  objects:
${POOL}  steps:
    - { at: 0s, launch: { nodePool: gpu, result: succeed } }
    - { at: 1m, apply: ${CLAIM('c', taints)} }
  expect:
    - { final: { resource: nodes, name: c, match: { metadata: { creationTimestamp: "2024-11-01T15:01:30Z", labels: { karpenter.sh/nodepool: gpu, team: ml, topology.kubernetes.io/zone: us-west-2c } }, spec: { providerID: "aws:///us-west-2c/i-c", taints: [{ key: curfew.dev/reserved, effect: NoSchedule }] }, status: { conditions: [{ type: Ready, status: "True" }] } } } }
    - { final: { resource: nodeclaims, name: c, match: { metadata: { finalizers: [karpenter.sh/termination] }, status: { nodeName: c, providerID: "aws:///us-west-2c/i-c", conditions: [{ type: Launched, status: "True" }, { type: Registered, status: "True" }, { type: Initialized, status: "True" }] } } } }
    - { final: { instance: "aws:///us-west-2c/i-c", state: running } }
`);
    expect(complaints(result)).toEqual([]);
  });

  it('in the zone that the NodeClaim requires', async () => {
    const zone = '{ requirements: [{ key: topology.kubernetes.io/zone, operator: In, values: [us-west-2b] }] }';
    const result = await simulate(`  objects:
${POOL}    - ${CLAIM('c', zone)}
  steps: [{ at: 10m, launch: { nodePool: gpu, result: succeed } }]
  expect:
    - { final: { resource: nodes, name: c, match: { metadata: { creationTimestamp: "2024-11-01T15:10:00Z" }, spec: { providerID: "aws:///us-west-2b/i-c" } } } }
`);
    expect(complaints(result)).toEqual([]);
  });

  it('none without capacity: the NodeClaim goes after 10 s', async () => {
    const result = await simulate(`  objects:
${POOL}  steps:
    - { at: 0s, launch: { nodePool: gpu, result: insufficientCapacity } }
    - { at: 1m, apply: ${CLAIM('c')} }
  expect:
    - { final: { resource: nodeclaims, name: c, exists: false } }
    - { final: { resource: nodes, name: c, exists: false } }
`);
    expect(complaints(result)).toEqual([]);
    expect(story(result, 'karpenter')).toEqual(['15:01:10.000 karpenter delete nodeclaims c']);
  });

  it('never, until a later step says otherwise', async () => {
    const result = await simulate(`  objects:
${POOL}    - ${CLAIM('c')}
  steps:
    - { at: 0s, launch: { nodePool: gpu, result: never } }
    - { at: 20m, launch: { nodePool: gpu, result: succeed } }
  expect:
    - { final: { resource: nodes, name: c, match: { metadata: { creationTimestamp: "2024-11-01T15:20:00Z" } } } }
`);
    expect(complaints(result)).toEqual([]);
  });

  it('and what it launched it ends', async () => {
    const result = await simulate(`  objects:
${POOL}    - ${CLAIM('c')}
  steps:
    - { at: 0s, launch: { nodePool: gpu, result: succeed } }
    - { at: 5m, delete: { resource: nodeclaims, name: c } }
  expect:
    - { final: { resource: nodes, name: c, exists: false } }
    - { final: { resource: nodeclaims, name: c, exists: false } }
    - { final: { instance: "aws:///us-west-2c/i-c", state: terminated } }
`);
    expect(complaints(result)).toEqual([]);
  });
});

describe('karpenter drains', () => {
  const pod = (name: string, rest = ''): string =>
    `    - { apiVersion: v1, kind: Pod, metadata: { namespace: prod, name: ${name}, labels: { app: a }${rest} }, spec: { nodeName: a, containers: [] } }\n`;
  const NODE = nodeObjects('a', 'True');
  const BUDGET =
    '    - { apiVersion: policy/v1, kind: PodDisruptionBudget, metadata: { namespace: prod, name: b }, spec: { minAvailable: 1, selector: { matchLabels: { app: a } } } }\n';
  const GRACE = NODE.replace(
    '      status: { nodeName',
    '      spec: { terminationGracePeriod: 10m }\n      status: { nodeName',
  );

  it('by evictions, and is done 5 s after the last pod is gone', async () => {
    const result = await simulate(`  objects:
${NODE}${pod('p', ', annotations: { sim.curfew.dev/stops-after: 20s }')}  steps:
${DELETE}`);
    expect(story(result, 'karpenter')).toEqual([
      '15:01:00.000 karpenter evict pods prod/p',
      '15:01:25.000 karpenter delete nodes a',
      '15:01:25.000 karpenter patch nodeclaims a, which is gone with that',
    ]);
  });

  it('waits for a budget and for protection', async () => {
    const result = await simulate(`  objects:
${NODE}${BUDGET}${pod('p')}${pod('q', ', annotations: { karpenter.sh/do-not-disrupt: "true" }')}  steps:
${DELETE}    - { at: 20m, delete: { resource: poddisruptionbudgets, namespace: prod, name: b } }
    - { at: 30m, patch: { resource: pods, namespace: prod, name: q, merge: { metadata: { annotations: { karpenter.sh/do-not-disrupt: null } } } } }
`);
    // The budget of two pods lets one go at once.
    expect(story(result, 'karpenter')).toEqual([
      '15:01:00.000 karpenter evict pods prod/p',
      '15:30:00.000 karpenter evict pods prod/q',
      '15:30:05.000 karpenter delete nodes a',
      '15:30:05.000 karpenter patch nodeclaims a, which is gone with that',
    ]);
  });

  it('protects for the time that the annotation says', async () => {
    const result = await simulate(`  objects:
${NODE}${pod('p', ', annotations: { karpenter.sh/do-not-disrupt: 30m }')}  steps:
${DELETE}`);
    expect(story(result, 'karpenter')[0]).toBe('15:30:00.000 karpenter evict pods prod/p');
  });

  it('deletes what is left at the end of its grace period, and ends 5 s later whatever is there', async () => {
    const result = await simulate(`  objects:
${GRACE}${pod('p', ', annotations: { karpenter.sh/do-not-disrupt: "true", sim.curfew.dev/stops-after: never }')}  steps:
    - { at: 30s, patch: { resource: nodes, name: a, merge: { metadata: { annotations: { sim.curfew.dev/kubelet: dead } } } } }
${DELETE}`);
    expect(story(result, 'karpenter')).toEqual([
      '15:01:00.000 karpenter patch nodeclaims a',
      '15:11:00.000 karpenter delete pods prod/p',
      '15:11:05.000 karpenter delete nodes a',
      '15:11:05.000 karpenter patch nodeclaims a, which is gone with that',
    ]);
  });

  it('ends after 5 s where the termination timestamp has passed', async () => {
    const passed = NODE.replace(
      'finalizers: [karpenter.sh/termination]',
      'finalizers: [karpenter.sh/termination], annotations: { karpenter.sh/nodeclaim-termination-timestamp: "2024-11-01T15:00:30Z" }',
    );
    const result = await simulate(`  objects:
${passed}${pod('p', ', annotations: { karpenter.sh/do-not-disrupt: "true" }')}  steps:
${DELETE}`);
    expect(story(result, 'karpenter')).toEqual([
      '15:01:00.000 karpenter delete pods prod/p',
      '15:01:05.000 karpenter delete nodes a',
      '15:01:05.000 karpenter patch nodeclaims a, which is gone with that',
    ]);
  });

  it('waits for no pod that has finished, tolerates its taint, or belongs to the machine', async () => {
    const result = await simulate(`  objects:
${NODE}${pod('done').replace(' }\n', ', status: { phase: Succeeded } }\n')}${pod('static', ', annotations: { kubernetes.io/config.mirror: x }')}${pod('daemon').replace('containers: []', 'containers: [], tolerations: [{ operator: Exists }]')}  steps:
${DELETE}`);
    expect(story(result, 'karpenter')[0]).toBe('15:01:05.000 karpenter delete nodes a');
  });

  it('gives a pod up that should be gone for a minute', async () => {
    const result = await simulate(`  objects:
${NODE}${pod('p')}  steps:
    - { at: 30s, patch: { resource: nodes, name: a, merge: { metadata: { annotations: { sim.curfew.dev/kubelet: dead } } } } }
${DELETE}`);
    // 30 s of grace, a minute, the next look, and 5 s.
    expect(story(result, 'karpenter')[1]).toBe('15:02:35.000 karpenter delete nodes a');
  });
});
