import { describe, expect, it } from 'vitest';
import { addDuration, seconds } from '../../../shared/domain/time.ts';
import { startOrphanedPods } from '../../../simulator/actors/orphaned-pods.ts';
import { createCloud } from '../../../simulator/cloud.ts';
import { createVirtualTime } from '../../../simulator/virtual-time.ts';
import { createWorld } from '../../../simulator/world.ts';
import { scenario } from '../simulate.ts';

const PODS = { group: '', version: 'v1', resource: 'pods' };
const NODES = { group: '', version: 'v1', resource: 'nodes' };
const aNode = (name: string) => ({ apiVersion: 'v1', kind: 'Node', metadata: { name } });
const aPod = (name: string, nodeName?: string) => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name, namespace: 'default' },
  spec: { containers: [{ name: 'main', image: 'main:1' }], ...(nodeName !== undefined && { nodeName }) },
});

async function start() {
  const parsed = scenario('  objects: []\n');
  const time = createVirtualTime({ start: parsed.start });
  const { core } = createWorld(parsed, time);
  for (const name of ['n1', 'n2']) core.create(NODES, aNode(name));
  startOrphanedPods({ core, scheduler: time, cloud: createCloud(time) });
  const after = (duration: number) => time.runUntil(addDuration(time.now(), seconds(duration)));
  await after(0);
  const pods = (): readonly string[] => core.list(PODS).items.map(({ metadata }) => metadata.name);
  return { core, after, pods };
}

describe('the garbage collector of pods', () => {
  it('removes the pods of a Node that is gone, and no other', async () => {
    const { core, after, pods } = await start();
    for (const pod of [aPod('a', 'n1'), aPod('b', 'n2'), aPod('unbound')]) core.create(PODS, pod);
    core.delete({ type: NODES, name: 'n1' });
    await after(4);
    expect(pods()).toEqual(['a', 'b', 'unbound']);
    await after(2);
    expect(pods()).toEqual(['b', 'unbound']);
  });

  it('leaves them alone when a Node of that name is back', async () => {
    const { core, after, pods } = await start();
    core.create(PODS, aPod('a', 'n1'));
    core.delete({ type: NODES, name: 'n1' });
    await after(1);
    core.create(NODES, aNode('n1'));
    await after(10);
    expect(pods()).toEqual(['a']);
  });
});
