import { describe, expect, it } from 'vitest';
import { readRequest, statusPatch, type Progress } from '../../../examples/slurm-drain/bridge/request.ts';
import type { KubernetesObject } from '../../../shared/domain/kubernetes-object.ts';
import { at } from '../../builders/repair.ts';

const NOW = at('2024-11-01T15:10:00Z');
const object = (change: Partial<KubernetesObject> = {}): KubernetesObject => ({
  apiVersion: 'slurm.example.com/v1alpha1',
  kind: 'SlurmDrainRequest',
  metadata: { name: 'drain-n1-e1', uid: 'u', resourceVersion: '5', creationTimestamp: '2024-11-01T15:00:00Z' },
  spec: { nodeName: 'n1', reason: 'r' },
  ...change,
});
const RUNNING: Progress = {
  slurmNodeName: 'n1',
  jobs: 1,
  inProgress: 'True',
  complete: false,
  reason: 'JobsRunning',
  message: '1 job is on n1',
};
const condition = (type: string, status: string, change: object = {}) => ({
  type,
  status,
  reason: 'JobsRunning',
  message: '1 job is on n1',
  lastTransitionTime: '2024-11-01T15:05:00Z',
  ...change,
});
const said = (observedTime: string, change: object = {}): KubernetesObject =>
  object({
    status: {
      observedTime,
      conditions: [condition('DrainInProgress', 'True', change), condition('DrainComplete', 'False')],
    },
  });

it('a request is settled once it is complete, failed or going', () => {
  expect(readRequest(object())).toEqual({
    name: 'drain-n1-e1',
    nodeName: 'n1',
    slurmNodeName: undefined,
    reason: 'r',
    settled: false,
  });
  expect(readRequest(object({ spec: {} }))).toBeUndefined();
  for (const type of ['DrainComplete', 'DrainFailed']) {
    expect(readRequest(object({ status: { conditions: [condition(type, 'True')] } }))?.settled).toBe(true);
    expect(readRequest(object({ status: { conditions: [condition(type, 'False')] } }))?.settled).toBe(false);
  }
  const going = { ...object().metadata, deletionTimestamp: '2024-11-01T15:09:00Z' };
  expect(readRequest(object({ metadata: going }))?.settled).toBe(true);
});

describe('the status', () => {
  it('is written with both conditions, for exactly the object that was read', () => {
    expect(statusPatch(object(), RUNNING, NOW)).toEqual({
      metadata: { uid: 'u', resourceVersion: '5' },
      status: {
        slurmNodeName: 'n1',
        jobs: 1,
        observedTime: '2024-11-01T15:10:00Z',
        conditions: [
          condition('DrainInProgress', 'True', { lastTransitionTime: '2024-11-01T15:10:00Z' }),
          condition('DrainComplete', 'False', { lastTransitionTime: '2024-11-01T15:10:00Z' }),
        ],
      },
    });
  });
  it('keeps the time of a condition that says something else with the same status', () => {
    const patch = statusPatch(said('2024-11-01T15:09:30Z', { message: '2 jobs are on n1' }), RUNNING, NOW);
    expect(patch).toMatchObject({ status: { conditions: [{ lastTransitionTime: '2024-11-01T15:05:00Z' }, {}] } });
  });
  it('is repeated each minute while Slurm is seen, and only then', () => {
    expect(statusPatch(said('2024-11-01T15:09:01Z'), RUNNING, NOW)).toBeUndefined();
    expect(statusPatch(said('2024-11-01T15:09:00Z'), RUNNING, NOW)).toBeDefined();
    const unseen: Progress = { ...RUNNING, jobs: undefined };
    expect(statusPatch(said('2024-11-01T15:00:00Z'), unseen, NOW)).toBeUndefined();
  });
});
