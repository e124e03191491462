import { describe, expect, it } from 'vitest';
import { simulate, story } from '../simulate.ts';

const pod = (name: string, annotations = '{}', grace = 30): string =>
  `    - { apiVersion: v1, kind: Pod, metadata: { namespace: prod, name: ${name}, annotations: ${annotations} }, spec: { nodeName: n1, terminationGracePeriodSeconds: ${grace} } }\n`;
const node = (annotations = '{}'): string =>
  `    - { apiVersion: v1, kind: Node, metadata: { name: n1, annotations: ${annotations} } }\n`;
const removePod = (at: string, name: string, more = ''): string =>
  `    - { at: ${at}, delete: { resource: pods, namespace: prod, name: ${name}${more} } }\n`;

const kubelet = async (objects: string, steps: string): Promise<string[]> =>
  story(await simulate(`  objects:\n${objects}  steps:\n${steps}`), 'kubelet');

describe('kubelet', () => {
  it('removes a deleted pod at once, unless it takes time to stop', async () => {
    const objects = node() + pod('quick') + pod('slow', '{ sim.curfew.dev/stops-after: 10s }');
    expect(await kubelet(objects, removePod('1m', 'quick') + removePod('1m', 'slow'))).toEqual([
      '15:01:00.000 kubelet delete pods prod/quick',
      '15:01:10.000 kubelet delete pods prod/slow',
    ]);
  });

  it('gives a pod no more than its grace period', async () => {
    const objects =
      node() +
      pod('slow', '{ sim.curfew.dev/stops-after: 10m }') +
      pod('never', '{ sim.curfew.dev/stops-after: never }', 60);
    expect(await kubelet(objects, removePod('1m', 'slow') + removePod('1m', 'never'))).toEqual([
      '15:01:30.000 kubelet delete pods prod/slow',
      '15:02:00.000 kubelet delete pods prod/never',
    ]);
  });

  it('follows a grace period that is shortened meanwhile', async () => {
    const objects = node() + pod('never', '{ sim.curfew.dev/stops-after: never }', 600);
    const steps = removePod('1m', 'never') + removePod('2m', 'never', ', gracePeriodSeconds: 90');
    expect(await kubelet(objects, steps)).toEqual(['15:02:30.000 kubelet delete pods prod/never']);
  });

  it('leaves pods alone while it is dead, and catches up when it is back', async () => {
    const steps =
      removePod('1m', 'web') +
      '    - { at: 10m, patch: { resource: nodes, name: n1, merge: { metadata: { annotations: { sim.curfew.dev/kubelet: null } } } } }\n';
    expect(await kubelet(node('{ sim.curfew.dev/kubelet: dead }') + pod('web'), steps)).toEqual([
      '15:10:00.000 kubelet delete pods prod/web',
    ]);
  });

  it('is not needed for a delete with grace period 0, also where it is dead', async () => {
    const result = await simulate(`  objects:
${node('{ sim.curfew.dev/kubelet: dead }') + pod('web')}  steps:
${removePod('1m', 'web', ', gracePeriodSeconds: 0')}  expect:
    - { final: { resource: pods, namespace: prod, name: web, exists: false } }
`);
    expect(result.verdicts).toMatchObject([{ holds: true }]);
    expect(story(result, 'kubelet')).toEqual([]);
  });

  it('finishes pods that are being deleted when the run starts', async () => {
    const terminating = `    - { apiVersion: v1, kind: Pod, metadata: { namespace: prod, name: old, deletionTimestamp: "2024-11-01T15:00:20Z", annotations: { sim.curfew.dev/stops-after: never } }, spec: { nodeName: n1 } }\n`;
    expect(await kubelet(node() + terminating, '    - { at: 1m, restart: forwarder }\n')).toEqual([
      '15:00:20.000 kubelet delete pods prod/old',
    ]);
  });

  it('goes by the deletionTimestamp of a manifest, be it longer ahead than the grace period', async () => {
    const result = await simulate(`  objects:
    - apiVersion: v1
      kind: Pod
      metadata: { name: a, deletionTimestamp: "2024-11-01T15:10:00Z", annotations: { sim.curfew.dev/stops-after: never } }
  steps: []
`);
    expect(story(result, 'kubelet')).toEqual(['15:10:00.000 kubelet delete pods default/a']);
  });

  it('does nothing when it is not among the actors', async () => {
    const result = await simulate(`  actors: [cloud]
  objects:
${node() + pod('web')}  steps:
${removePod('1m', 'web')}  expect:
    - { final: { resource: pods, namespace: prod, name: web } }
`);
    expect(result.verdicts).toMatchObject([{ holds: true }]);
  });
});
