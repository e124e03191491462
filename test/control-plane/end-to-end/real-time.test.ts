/** Moving a scenario from virtual to real time. */
import { describe, expect, it } from 'vitest';
import { seconds, toEpochMs, toIsoText } from '../../../shared/domain/time.ts';
import { moveTo, TOLERANCE } from './real-time.ts';
import { scenarioOf } from '../../builders/scenario.ts';

const TEXT = `
apiVersion: curfew.dev/v1alpha1
kind: Scenario
metadata: { name: some }
spec:
  start: "2024-11-01T15:00:00Z"
  duration: 10s
  objects:
    - apiVersion: v1
      kind: Node
      metadata: { name: n1, annotations: { when: "2024-11-01T15:00:05Z", not: "15:00" } }
      status: { conditions: [{ type: Ready, lastTransitionTime: "2024-11-01T14:59:00Z" }] }
  steps:
    - { at: 3s, patch: { resource: nodes, name: n1, merge: { metadata: { annotations: { when: "2024-11-01T15:00:07Z" } } } } }
  expect:
    - { at: 5s, write: { body: { when: "2024-11-01T15:00:05Z" } } }
    - { after: 1s, before: 5s, write: { verb: delete }, times: 0 }
    - { before: 5s, write: { verb: delete } }
    - { final: { resource: nodes, name: n1, match: { when: "2024-11-01T15:00:05Z" } } }
`;

const moved = moveTo(scenarioOf(TEXT), toEpochMs(Date.UTC(2030, 0, 1)));
const windows = moved.expectations.flatMap(each => (each.kind === 'trace' ? [each.window] : []));

describe('a scenario that is moved', () => {
  it('begins and ends as much later', () => {
    expect([toIsoText(moved.start), toIsoText(moved.end)]).toEqual([
      '2030-01-01T00:00:00.000Z',
      '2030-01-01T00:00:10.000Z',
    ]);
    expect(moved.steps.map(({ time }) => toIsoText(time))).toEqual(['2030-01-01T00:00:03.000Z']);
  });

  it('has every instant in its objects, steps and expectations moved, and nothing else changed', () => {
    expect(moved.objects[0]?.manifest.body).toMatchObject({
      metadata: { name: 'n1', annotations: { when: '2030-01-01T00:00:05Z', not: '15:00' } },
      status: { conditions: [{ type: 'Ready', lastTransitionTime: '2029-12-31T23:59:00Z' }] },
    });
    expect(moved.steps[0]?.action).toMatchObject({
      merge: { metadata: { annotations: { when: '2030-01-01T00:00:07Z' } } },
    });
    expect(moved.expectations[0]).toMatchObject({ pattern: { fields: { body: { when: '2030-01-01T00:00:05Z' } } } });
    expect(moved.expectations[3]).toMatchObject({ match: { when: '2030-01-01T00:00:05Z' } });
  });

  it('lets what is expected come later, and never earlier', () => {
    expect(windows[0]?.from).toBe(moved.start + seconds(5));
    expect(windows[0]?.to).toBe(moved.start + seconds(6) + TOLERANCE);
  });

  it('forbids in exactly the time in which the scenario forbids', () => {
    expect([windows[1]?.from, windows[1]?.to]).toEqual([moved.start + seconds(1), moved.start + seconds(5) - 1]);
  });

  it('lets nothing come after an end without a beginning', () => {
    expect(windows[2]?.to).toBe(moved.start + seconds(5) - 1);
  });
});
