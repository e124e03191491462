import { describe, expect, it } from 'vitest';
import { startPods } from '../../../simulator/actors/pod-start.ts';
import { createCloud } from '../../../simulator/cloud.ts';
import { createVirtualTime } from '../../../simulator/virtual-time.ts';
import { createWorld } from '../../../simulator/world.ts';
import { scenario } from '../simulate.ts';

const PODS = { group: '', version: 'v1', resource: 'pods' };
const NODES = { group: '', version: 'v1', resource: 'nodes' };
const aNode = (name: string, annotations = {}) => ({ apiVersion: 'v1', kind: 'Node', metadata: { name, annotations } });

async function start() {
  const parsed = scenario('  objects:\n    - { apiVersion: v1, kind: Node, metadata: { name: n1 } }\n');
  const time = createVirtualTime({ start: parsed.start });
  const { core } = createWorld(parsed, time);
  startPods({ core, scheduler: time, cloud: createCloud(time) });
  const settle = () => time.runUntil(time.now());
  await settle();
  const phaseOf = (name: string): unknown => core.get({ type: PODS, namespace: 'default', name }).status?.['phase'];
  const create = async (name: string, nodeName?: string) => {
    const containers = [{ name: 'main', image: 'main:1' }];
    const spec = { containers, ...(nodeName !== undefined && { nodeName }) };
    core.create(PODS, { apiVersion: 'v1', kind: 'Pod', metadata: { name, namespace: 'default' }, spec });
    await settle();
  };
  return { core, create, settle, phaseOf };
}

describe('the kubelet that starts pods', () => {
  it('makes bound pods Running and Ready, and leaves those alone that nobody bound', async () => {
    const { core, create, phaseOf } = await start();
    await create('bound', 'n1');
    await create('unbound');
    expect([phaseOf('bound'), phaseOf('unbound')]).toEqual(['Running', 'Pending']);
    const { status } = core.get({ type: PODS, namespace: 'default', name: 'bound' });
    expect(status).toMatchObject({
      startTime: '2024-11-01T15:00:00Z',
      conditions: [
        { type: 'PodScheduled' },
        { type: 'Initialized' },
        { type: 'ContainersReady' },
        { type: 'Ready', status: 'True' },
      ],
      containerStatuses: [{ name: 'main', ready: true, state: { running: { startedAt: '2024-11-01T15:00:00Z' } } }],
    });
  });

  it('starts pods of a node that joins, or whose kubelet comes back, when it does', async () => {
    const { core, create, settle, phaseOf } = await start();
    await create('early', 'n2');
    expect(phaseOf('early')).toBe('Pending');
    core.create(NODES, aNode('n2', { 'sim.curfew.dev/kubelet': 'dead' }));
    await settle();
    expect(phaseOf('early')).toBe('Pending');
    core.patch(
      { type: NODES, name: 'n2' },
      { type: 'merge', body: { metadata: { annotations: { 'sim.curfew.dev/kubelet': null } } } },
    );
    await settle();
    expect(phaseOf('early')).toBe('Running');
  });
});
