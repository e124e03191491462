import { expect, it } from 'vitest';
import { addDuration, minutes } from '../../../shared/domain/time.ts';
import { startEventTtl } from '../../../simulator/actors/event-ttl.ts';
import { createCloud } from '../../../simulator/cloud.ts';
import { createVirtualTime } from '../../../simulator/virtual-time.ts';
import { createWorld } from '../../../simulator/world.ts';
import { scenario } from '../simulate.ts';

const EVENTS = { group: '', version: 'v1', resource: 'events' };
const anEvent = (name: string) => ({
  apiVersion: 'v1',
  kind: 'Event',
  metadata: { name, namespace: 'default' },
  involvedObject: { kind: 'Node', name: 'n1' },
  reason: 'Test',
});

it('an Event goes an hour after its last write', async () => {
  const parsed = scenario('  objects: []\n');
  const time = createVirtualTime({ start: parsed.start });
  const { core } = createWorld(parsed, time);
  startEventTtl({ core, scheduler: time, cloud: createCloud(time) });
  const after = (duration: number) => time.runUntil(addDuration(time.now(), minutes(duration)));
  const names = (): readonly string[] => core.list(EVENTS).items.map(({ metadata }) => metadata.name);
  core.create(EVENTS, anEvent('a'));
  core.create(EVENTS, anEvent('b'));
  await after(30);
  core.create(EVENTS, anEvent('c'));
  core.patch({ type: EVENTS, namespace: 'default', name: 'a' }, { type: 'merge', body: { count: 2 } });
  await after(29);
  expect(names()).toEqual(['a', 'b', 'c']);
  await after(2);
  expect(names()).toEqual(['a', 'c']);
  await after(30);
  expect(names()).toEqual([]);
  core.create(EVENTS, anEvent('d'));
  await after(61);
  expect(names()).toEqual([]);
});
