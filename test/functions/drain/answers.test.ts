/** Who asked for a drain is answered with DrainCompleted, whatever becomes of the request. */
import { expect, it } from 'vitest';
import { RECONCILERS } from '../../../runtime/functions.ts';
import { formatFailures } from '../../../simulator/report.ts';
import { runScenario } from '../../../simulator/run.ts';
import { drainsOf, historyText, scenarioOf } from '../../builders/scenario.ts';

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
