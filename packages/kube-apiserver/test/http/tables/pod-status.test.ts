import { describe, expect, test } from 'vitest';
import { summarizePod } from '../../../src/http/tables/pod-status.ts';
import type { JsonObject, ObjectMeta } from '../../../src/kubernetes-object.ts';

const now = Date.parse('2026-01-01T01:00:00Z');

function summary(status: JsonObject, spec: JsonObject = {}, metadata: Partial<ObjectMeta> = {}) {
  const pod = {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'p', uid: 'u', resourceVersion: '1', creationTimestamp: '2026-01-01T00:00:00Z', ...metadata },
    spec: { containers: [{ name: 'a' }, { name: 'b' }], ...spec },
    status,
  };
  return summarizePod(pod, now);
}

const running = { name: 'a', ready: true, restartCount: 0, state: { running: {} } };
const ready = [{ type: 'Ready', status: 'True' }];

describe('the summary of a pod', () => {
  test('is its phase while no container reports', () => {
    expect(summary({ phase: 'Pending' })).toEqual({ ready: '0/2', status: 'Pending', restarts: '0' });
  });

  test('counts ready containers and restarts, and says when the last restart was', () => {
    const lastState = { terminated: { finishedAt: '2026-01-01T00:50:00Z' } };
    const statuses = [running, { ...running, name: 'b', ready: false, restartCount: 3, lastState }];
    expect(summary({ phase: 'Running', containerStatuses: statuses })).toEqual({
      ready: '1/2',
      status: 'Running',
      restarts: '3 (10m ago)',
    });
  });

  test('is the reason for which a container waits', () => {
    const waiting = { name: 'a', restartCount: 0, state: { waiting: { reason: 'CrashLoopBackOff' } } };
    expect(summary({ phase: 'Running', containerStatuses: [waiting] }).status).toBe('CrashLoopBackOff');
  });

  test.each([
    [{ reason: 'OOMKilled', exitCode: 137 }, 'OOMKilled'],
    [{ exitCode: 2 }, 'ExitCode:2'],
    [{ exitCode: 137, signal: 9 }, 'Signal:9'],
  ])('is how a container ended: %j', (terminated, status) => {
    const ended = { name: 'a', restartCount: 0, state: { terminated } };
    expect(summary({ phase: 'Failed', containerStatuses: [ended] }).status).toBe(status);
  });

  test('is Running, not Completed, while another container runs and the pod is ready', () => {
    const completed = { name: 'b', restartCount: 0, state: { terminated: { reason: 'Completed', exitCode: 0 } } };
    const status = { phase: 'Running', containerStatuses: [completed, running] };
    expect(summary({ ...status, conditions: ready }).status).toBe('Running');
    expect(summary(status).status).toBe('NotReady');
  });

  test('is Terminating once it is being deleted, but keeps the end of a finished pod', () => {
    const deleted = { deletionTimestamp: '2026-01-01T00:59:00Z' };
    expect(summary({ phase: 'Running' }, {}, deleted).status).toBe('Terminating');
    expect(summary({ phase: 'Succeeded' }, {}, deleted).status).toBe('Succeeded');
    expect(summary({ phase: 'Running', reason: 'NodeLost' }, {}, deleted).status).toBe('Unknown');
  });

  test('is the progress of the init containers while one of them holds the pod back', () => {
    const initContainers = [{ name: 'i' }, { name: 'j' }];
    const done = { name: 'i', restartCount: 0, state: { terminated: { exitCode: 0 } } };
    const failed = { name: 'j', restartCount: 2, state: { terminated: { exitCode: 1 } } };
    const at = (...initContainerStatuses: JsonObject[]): string =>
      summary({ phase: 'Pending', initContainerStatuses }, { initContainers }).status;
    expect(at({ name: 'i', state: { running: {} } })).toBe('Init:0/2');
    expect(at(done, { name: 'j', state: { waiting: { reason: 'ImagePullBackOff' } } })).toBe('Init:ImagePullBackOff');
    expect(at(done, failed)).toBe('Init:ExitCode:1');
  });

  test('counts a started sidecar among the containers', () => {
    const spec = { initContainers: [{ name: 's', restartPolicy: 'Always' }] };
    const sidecar = { name: 's', started: true, ready: true, restartCount: 0, state: { running: {} } };
    expect(
      summary({ phase: 'Running', initContainerStatuses: [sidecar], containerStatuses: [running] }, spec).ready,
    ).toBe('2/3');
  });

  test('is the scheduling gate or the reason of the status before the phase', () => {
    const gated = {
      phase: 'Pending',
      conditions: [{ type: 'PodScheduled', status: 'False', reason: 'SchedulingGated' }],
    };
    expect(summary(gated).status).toBe('SchedulingGated');
    expect(summary({ phase: 'Failed', reason: 'Evicted' }).status).toBe('Evicted');
  });
});
