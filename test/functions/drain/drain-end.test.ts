/** What a drain does at its end: the cordon goes when nothing else wants it, and the pods that nobody waits for are evicted. */
import { expect, it } from 'vitest';
import { RECONCILERS } from '../../../runtime/functions.ts';
import { formatFailures } from '../../../simulator/report.ts';
import { runScenario } from '../../../simulator/run.ts';
import { drainsOf, failuresOf, historyText, scenarioOf } from '../../builders/scenario.ts';

const event = (at: string, detail: string): string =>
  `{ at: ${at}, busEvent: { source: nvsentinel, detail-type: HealthEvent, detail: { nodeName: n1, isFatal: true, ${detail} } } }`;
const takenBack = (at: string, id: string): string =>
  event(at, `id: ${id}, healthEventStatus: { nodeQuarantined: Cancelled }`);
const podAt = (at: string, more: string): string =>
  `{ at: ${at}, apply: { apiVersion: v1, kind: Pod, metadata: { namespace: ml, name: p1${more} }, spec: { nodeName: n1 } } }`;

const endsOf = (mode: string, steps: readonly string[], expect: readonly string[]): Promise<readonly string[]> =>
  failuresOf({
    duration: '10m',
    rest: drainsOf(mode),
    objects: ['{ apiVersion: v1, kind: Node, metadata: { name: n1 } }'],
    steps,
    expect,
  });

const UNCORDONED = 'write: { verb: patch, resource: nodes, name: n1, body: { spec: { unschedulable: null } } }';
const CORDONED = '{ final: { resource: nodes, name: n1, match: { spec: { unschedulable: true } } } }';
const endedAt = (at: string, id: string): string =>
  `{ at: ${at}, audit: { function: drain, decision: end, details: { id: ${id}, status: Cancelled } } }`;

it('leaves the cordon on for a request that waits', async () => {
  const gpuA = 'recommendedAction: 2, entitiesImpacted: [{ entityType: GPU_UUID, entityValue: A }]';
  const devices = `, annotations: { dgxc.nvidia.com/devices: '{"devices":{"nvidia.com/gpu":["A"]}}' }`;
  const steps = [
    podAt('10s', devices),
    event('1m', `id: e1, ${gpuA}`),
    event('2m', 'id: e2'),
    takenBack('3m', 'e1'),
    takenBack('5m', 'e2'),
  ];
  const expectations = [
    endedAt('3m', 'e1'),
    `{ before: 5m, ${UNCORDONED}, times: 0 }`,
    endedAt('5m', 'e2'),
    `{ at: 5m, ${UNCORDONED}, times: 1 }`,
  ];
  expect(await endsOf('AllowCompletion', steps, expectations)).toEqual([]);
});

it('leaves the cordon on for a fault that was drained before and is still there', async () => {
  const steps = [event('1m', 'id: e1'), podAt('2m', ''), event('3m', 'id: e2'), takenBack('4m', 'e2')];
  expect(await endsOf('AllowCompletion', steps, [endedAt('4m', 'e2'), CORDONED])).toEqual([]);
});

it('evicts what it does not wait for', async () => {
  const status =
    'status: { conditions: [{ type: Ready, status: "False", lastTransitionTime: "2024-11-01T14:00:00Z" }] }';
  const pod = `{ at: 10s, apply: { apiVersion: v1, kind: Pod, metadata: { namespace: ml, name: p1 }, spec: { nodeName: n1 }, ${status} } }`;
  const expectations = [
    '{ at: 1m, write: { verb: evict, namespace: ml, name: p1 }, times: 1 }',
    '{ at: 1m, audit: { function: drain, decision: end, reason: DrainSucceeded } }',
  ];
  expect(await endsOf('Immediate', [pod, event('1m', 'id: e1')], expectations)).toEqual([]);
});

const NODE_DELETED = 'delete: { resource: nodes, name: n1 }';

/** The answers of a node with a pod that stays until it completes, one a line. */
async function answersTo(events: readonly string[], expectations: readonly string[] = []): Promise<readonly string[]> {
  const steps = events.map((what, index) => {
    const detail = `{ nodeName: n1, isFatal: true, ${what} }`;
    const step =
      what === NODE_DELETED ? what : `busEvent: { source: nvsentinel, detail-type: HealthEvent, detail: ${detail} }`;
    return `{ at: ${index + 1}m, ${step} }`;
  });
  const scenario = scenarioOf(
    historyText({
      duration: '10m',
      rest: drainsOf('AllowCompletion'),
      objects: [
        '{ apiVersion: v1, kind: Node, metadata: { name: n1 } }',
        '{ apiVersion: v1, kind: Pod, metadata: { namespace: ml, name: p1 }, spec: { nodeName: n1 }, status: { phase: Running } }',
      ],
      steps,
      expect: expectations,
    }),
  );
  const answers: string[] = [];
  const result = await runScenario(scenario, {
    reconcilers: {
      drain: deps =>
        RECONCILERS.drain({
          ...deps,
          bus: {
            publish(entries) {
              for (const { detailType, detail } of entries) {
                if (detailType === 'DrainCompleted')
                  answers.push([detail['id'], detail['status'], detail['reason']].join(' '));
              }
              return deps.bus.publish(entries);
            },
          },
        }),
    },
  });
  expect(formatFailures(result)).toEqual([]);
  return answers;
}

it('a request that needs no drain', async () => {
  expect(await answersTo(['id: e1, drainOverrides: { skip: true }'])).toEqual(['e1 AlreadyDrained Skipped']);
});

it('a request that is taken back, while the drain goes on for another and after that', async () => {
  const takenBack = (id: string): string => `id: ${id}, healthEventStatus: { nodeQuarantined: Cancelled }`;
  expect(await answersTo(['id: e1', 'id: e2', takenBack('e2')])).toEqual(['e2 Cancelled ManuallyReleased']);
  expect(await answersTo(['id: e1', 'id: e2', takenBack('e2'), takenBack('e1')])).toEqual([
    'e2 Cancelled ManuallyReleased',
    'e1 Cancelled ManuallyReleased',
  ]);
});

it('requests for a Node that goes, or is gone already', async () => {
  expect(await answersTo(['id: e1', 'id: e2', NODE_DELETED, 'id: e3'])).toEqual([
    'e1 Cancelled NodeGone',
    'e2 Cancelled NodeGone',
    'e3 Cancelled NodeGone',
  ]);
});

it('a request that fails beside a drain, of which the Node tells nothing', async () => {
  const failed =
    '{ write: { resource: nodes, body: { metadata: { labels: { dgxc.nvidia.com/nvsentinel-state: drain-failed } } } }, times: 0 }';
  expect(await answersTo(['id: e1', 'id: e2, recommendedAction: 2'], [failed])).toEqual([
    'e2 Failed NoSupportedEntity',
  ]);
});

it('says that the node is released also when another run writes the record meanwhile', async () => {
  const scenario = scenarioOf(
    historyText({
      duration: '10m',
      rest: drainsOf('AllowCompletion'),
      objects: [
        '{ apiVersion: v1, kind: Node, metadata: { name: n1, labels: { dgxc.nvidia.com/nvsentinel-state: drain-succeeded } } }',
      ],
      steps: [event('1m', 'id: e1, isHealthy: true, healthEventStatus: { nodeQuarantined: UnQuarantined }')],
      expect: ['{ at: 1m, audit: { function: drain, decision: release }, times: 1 }'],
    }),
  );
  let writes = 0;
  const drain: typeof RECONCILERS.drain = deps =>
    RECONCILERS.drain({
      ...deps,
      records: {
        get: key => deps.records.get(key),
        delete: (key, version) => deps.records.delete(key, version),
        async put(record, version) {
          // The first write of what the run has released comes too late.
          if (record.state['quarantineEnd'] !== undefined && writes++ === 0) {
            const { quarantineEnd: _, ...state } = record.state;
            await deps.records.put({ ...record, state }, version);
          }
          return deps.records.put(record, version);
        },
      },
    });
  expect(formatFailures(await runScenario(scenario, { reconcilers: { drain } }))).toEqual([]);
  expect(writes).toBeGreaterThan(1);
});
