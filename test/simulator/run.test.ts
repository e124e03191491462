import { describe, expect, it } from 'vitest';
import { formatLine } from '../../simulator/trace.ts';
import type { EpochMs } from '../../shared/domain/time.ts';
import { actionsAtOnce, runScenario } from '../../simulator/run.ts';
import { complaints, GATE, nodeObjects, scenario, simulate, story } from './simulate.ts';

const UNHEALTHY = `${GATE}  objects:\n${nodeObjects('a')}`;

describe('runScenario', () => {
  it('gives the same trace, byte for byte, every time', async () => {
    const text = async (): Promise<string> => (await simulate(UNHEALTHY)).trace.map(formatLine).join('\n');
    const first = await text();
    expect(first).not.toBe('');
    expect(await text()).toBe(first);
  });

  it('traces writes, Events and audit records of Curfew as the contract has it, and nothing of anybody else', async () => {
    const { trace } = await simulate(UNHEALTHY);
    const lines = trace.map(entry => JSON.parse(formatLine(entry)) as Record<string, unknown>);
    expect(lines.filter(({ kind }) => kind === 'write')).toEqual([
      {
        t: '2024-11-01T15:30:00.000Z',
        kind: 'write',
        by: 'repair',
        verb: 'patch',
        resource: 'nodeclaims',
        name: 'a',
        uid: expect.any(String),
        body: {
          metadata: {
            resourceVersion: expect.any(String),
            uid: expect.any(String),
            annotations: { 'karpenter.sh/nodeclaim-termination-timestamp': '2024-11-01T15:30:00Z' },
          },
        },
      },
      {
        t: '2024-11-01T15:30:00.000Z',
        kind: 'write',
        by: 'repair',
        verb: 'delete',
        resource: 'nodeclaims',
        name: 'a',
        uid: expect.any(String),
      },
    ]);
    expect(lines.find(({ kind }) => kind === 'event')).toEqual({
      t: '2024-11-01T15:00:00.000Z',
      kind: 'event',
      by: 'repair',
      type: 'Normal',
      reason: 'NodeRepairScheduled',
      message: expect.stringContaining('due at 2024-11-01T15:30:00Z'),
      about: { kind: 'Node', name: 'a', uid: expect.any(String) },
    });
    expect(lines.find(({ kind, decision }) => kind === 'audit' && decision === 'repair')).toMatchObject({
      t: '2024-11-01T15:30:00.000Z',
      function: 'repair',
      reason: 'TolerationElapsed',
      name: 'a',
      about: { kind: 'Node', name: 'a' },
      details: { nodePool: 'a' },
    });
  });

  it('honours uid and creationTimestamp of a manifest, and fills in the start', async () => {
    const result = await simulate(`  objects:
    - { apiVersion: v1, kind: Node, metadata: { name: given, uid: u-1, creationTimestamp: "2024-01-01T00:00:00Z" } }
    - { apiVersion: v1, kind: Node, metadata: { name: plain } }
  expect:
    - { final: { resource: nodes, name: given, match: { metadata: { uid: u-1, creationTimestamp: "2024-01-01T00:00:00Z" } } } }
    - { final: { resource: nodes, name: plain, match: { metadata: { creationTimestamp: "2024-11-01T15:00:00Z" } } } }
`);
    expect(complaints(result)).toEqual([]);
  });

  it('merges what is applied again into what is there, and null takes away', async () => {
    const result = await simulate(`  objects:
    - { apiVersion: v1, kind: Node, metadata: { name: a, labels: { x: "1", y: "2" } }, spec: { unschedulable: true }, status: { phase: Running } }
  steps:
    - { at: 1m, apply: { apiVersion: v1, kind: Node, metadata: { name: a, labels: { x: null, z: "3" } }, status: { conditions: [{ type: Ready, status: "True" }] } } }
  expect:
    - final:
        resource: nodes
        name: a
        match: { metadata: { labels: { y: "2", z: "3" } }, spec: { unschedulable: true }, status: { phase: Running, conditions: [{ type: Ready }] } }
        absent: [metadata.labels.x]
`);
    expect(complaints(result)).toEqual([]);
  });

  it('lets an object go whose last finalizer the author takes off', async () => {
    const result = await simulate(`  objects:
    - { apiVersion: v1, kind: Node, metadata: { name: a, finalizers: [example.com/hold] } }
  steps:
    - { at: 1m, delete: { resource: nodes, name: a } }
    - { at: 2m, patch: { resource: nodes, name: a, merge: { metadata: { finalizers: null } } } }
  expect:
    - { final: { resource: nodes, name: a, exists: false } }
`);
    expect(complaints(result)).toEqual([]);
  });

  it('creates the ConfigMap only when the scenario has configuration or templates', async () => {
    const expectation = (rest: string): string =>
      `  expect:\n    - { final: { resource: configmaps, namespace: curfew, name: curfew-config, ${rest} } }\n`;
    expect(complaints(await simulate(expectation('exists: false')))).toEqual([]);
    const templates = '  templates: { drain-template.yaml: "kind: Drain" }\n';
    const both = expectation(
      'match: { data: { drain-template.yaml: "kind: Drain" } }, absent: [\'data["config.toml"]\']',
    );
    expect(complaints(await simulate(templates + both))).toEqual([]);
  });

  it('tells of steps that had no effect', async () => {
    const result = await simulate(`  steps:
    - { at: 1m, delete: { resource: nodes, name: gone } }
    - { at: 2m, busEvent: { source: m, detail-type: HealthEvents, detail: { cluster: simulated } } }
    - { at: 3m, busEvent: { source: curfew.worker, detail-type: TerminationHookAnswered, detail: { key: a/b } } }
`);
    expect(story(result, 'scenario')).toEqual([
      '15:01:00.000 scenario delete nodes gone (no effect: it does not exist)',
      '15:02:00.000 scenario event HealthEvents from m (no effect: no rule takes this source and detail-type)',
      '15:03:00.000 scenario event TerminationHookAnswered from curfew.worker (no effect: no rule takes this source and detail-type, or not without detail.cluster: simulated)',
    ]);
  });

  it('does not let timers multiply while a node stays in termination', async () => {
    const stuck = UNHEALTHY.replace('karpenter.sh/termination]', 'example.com/stuck]');
    const audits = async (duration: string): Promise<number> =>
      (await simulate(`  duration: ${duration}\n${stuck}`)).trace.filter(({ kind }) => kind === 'audit').length;
    const [once, twice] = [await audits('6h'), await audits('12h')];
    expect(once).toBeGreaterThan(1);
    expect(twice).toBeLessThan(2.1 * once);
  });

  it.each(['api', 'store'])('waits out an outage of the %s', async part => {
    const result = await simulate(`${UNHEALTHY}  steps:
    - { at: 29m, outage: { of: ${part}, for: 20m } }
  expect:
    - { before: 49m, write: {}, times: 0 }
    - { after: 49m, before: 52m, write: { verb: delete, resource: nodeclaims, name: a }, times: 1 }
`);
    expect(complaints(result)).toEqual([]);
    expect(result.buried).toEqual([]);
  });

  it('says why a message went to a dead-letter queue', async () => {
    const result = await simulate(`  duration: 5m
  steps:
    - { at: 1m, busEvent: { source: m, detail-type: DrainRequested, detail: { id: r1, node: n1 } } }
`);
    expect(story(result, 'drain')).toEqual([
      '15:01:00.000 drain a message went to the dead-letter queue (InvalidMessage): DrainRequested is not valid: detail.node: Invalid input: expected object, received string',
    ]);
  });

  it('keeps what the forwarder has to say while the bus is out', async () => {
    const result = await simulate(`${UNHEALTHY.replace('"False"', '"True"')}  steps:
    - { at: 1m, outage: { of: bus, for: 20m } }
    - { at: 2m, patch: { resource: nodes, name: a, merge: { status: { conditions: [{ type: Ready, status: "False", lastTransitionTime: "2024-11-01T15:02:00Z" }] } } } }
  expect:
    - { before: 21m, event: { reason: NodeRepairScheduled }, times: 0 }
    - { at: 21m, within: 20s, event: { reason: NodeRepairScheduled } }
    - { at: 32m, within: 0s, write: { verb: delete, resource: nodeclaims }, times: 1 }
`);
    expect(complaints(result)).toEqual([]);
  });

  it('makes up for what a dead forwarder missed', async () => {
    const result = await simulate(`${UNHEALTHY.replace('"False"', '"True"')}  steps:
    - { at: 2m, patch: { resource: nodes, name: a, merge: { status: { conditions: [{ type: Ready, status: "False", lastTransitionTime: "2024-11-01T15:02:00Z" }] } } } }
    - { at: 2m, restart: forwarder }
  expect:
    - { at: 32m, within: 0s, write: { verb: delete, resource: nodeclaims }, times: 1 }
`);
    expect(complaints(result)).toEqual([]);
  });
});

describe('a scenario of nothing but Nodes', () => {
  const nodes = (count: number): string =>
    Array.from(
      { length: count },
      (_, index) =>
        `    - { apiVersion: v1, kind: Node, metadata: { name: n${index} }, spec: { providerID: "aws:///us-west-2a/i-${index}" } }\n`,
    ).join('');

  it('is no standstill, however many they are: one instant may take more actions, the more objects there are', async () => {
    const few = scenario(`  duration: 1m\n  objects:\n${nodes(50)}`);
    let now: EpochMs | undefined;
    let actions = 0;
    let most = 0;
    const result = await runScenario(few, {
      onProgress: time => {
        actions = time === now ? actions + 1 : 1;
        now = time;
        most = Math.max(most, actions);
      },
    });
    expect(result.violations).toEqual([]);
    const eachNode = most / few.objects.length;
    expect(eachNode).toBeGreaterThan(1);
    // 50 MB are about 200,000 Nodes, which took more actions at their first instant than one limit for all scenarios allowed.
    const many = { objects: Array.from({ length: 4000 }, () => few.objects).flat(), steps: [] };
    expect(actionsAtOnce(many)).toBeGreaterThan(2 * eachNode * many.objects.length);
  });
});
