import { describe, expect, it } from 'vitest';
import type { ActiveDrain } from '../../../functions/drain/record.ts';
import { answerNode, finishNode, prepareNode, readShownDrain, showDrain } from '../../../functions/drain/node.ts';
import { createApiServer } from '../../../packages/kube-apiserver/src/api-server.ts';
import { createInProcessKubernetesApi } from '../../../runtime/in-process/kubernetes-api.ts';
import { RESOURCES } from '../../../shared/contract/resources.ts';
import type { KubernetesObject } from '../../../shared/domain/kubernetes-object.ts';
import { readConditions } from '../../../shared/domain/node.ts';
import { RetryableError } from '../../../shared/errors.ts';
import type { WriteOutcome } from '../../../shared/ports/kubernetes-api.ts';
import { active, NOW } from './observations.ts';

const ref = { type: RESOURCES.Node, name: 'n1' };
const STATE = 'dgxc.nvidia.com/nvsentinel-state';
const { cordon: _, ...FRESH } = active();
const ACTIVE: ActiveDrain = { ...FRESH, requests: [] };
const PREPARED = { active: ACTIVE, cordon: { quarantined: false, by: 'own' }, showDraining: true } as const;

function cluster() {
  const core = createApiServer({ clock: { now: () => Date.parse('2024-11-01T15:00:00Z') } });
  core.seed({ apiVersion: 'v1', kind: 'Node', metadata: { name: 'n1' } });
  const deps = { kubernetes: createInProcessKubernetesApi(core, 'curfew:drain') };
  const live = (): KubernetesObject => core.get(ref);
  return { core, deps, live };
}

describe('the Node of a drain', () => {
  it('is not written when it is as it should be (NV107)', async () => {
    const { deps, live } = cluster();
    expect(await prepareNode(deps, live(), PREPARED)).toMatchObject({ kind: 'ok' });
    const prepared = live();
    expect(prepared).toMatchObject({ metadata: { labels: { [STATE]: 'draining' } }, spec: { unschedulable: true } });
    expect(await prepareNode(deps, prepared, PREPARED)).toMatchObject({ kind: 'ok' });
    expect(live().metadata.resourceVersion).toBe(prepared.metadata.resourceVersion);

    const end = { status: 'Succeeded', uncordon: false, ended: [] } as const;
    expect(await finishNode(deps, live(), end)).toMatchObject({ kind: 'ok' });
    const finished = live();
    expect(finished.metadata.labels).toEqual({ [STATE]: 'drain-succeeded' });
    expect(await finishNode(deps, finished, end)).toMatchObject({ kind: 'ok' });
    expect(live().metadata.resourceVersion).toBe(finished.metadata.resourceVersion);
  });

  it('is not written over when it changed in between', async () => {
    const { core, deps, live } = cluster();
    const seen = live();
    core.patch(ref, { type: 'merge', body: { metadata: { labels: { [STATE]: 'remediating' } } } });
    expect(await prepareNode(deps, seen, PREPARED)).toEqual({ kind: 'changed' });
    expect(live().metadata.labels).toEqual({ [STATE]: 'remediating' });
  });

  // NVSentinel's label: from which state to which. What others write is never refused, and `remediating` is theirs.
  it.each([
    [undefined, 'draining', 'drain-succeeded', 'drain-failed', undefined],
    ['quarantined', 'draining', 'drain-succeeded', 'drain-failed', 'quarantined'],
    ['draining', 'draining', 'drain-succeeded', 'drain-failed', undefined],
    ['drain-succeeded', 'draining', 'drain-succeeded', 'drain-failed', undefined],
    ['drain-failed', 'draining', 'drain-succeeded', 'drain-failed', undefined],
    ['remediating', 'remediating', 'remediating', 'remediating', 'remediating'],
    ['remediation-succeeded', 'draining', 'drain-succeeded', 'drain-failed', 'remediation-succeeded'],
    ['remediation-failed', 'draining', 'drain-succeeded', 'drain-failed', 'remediation-failed'],
  ])('goes from the state %s without an error (NV104)', async (from, ...[begun, succeeded, failed, cancelled]) => {
    const labels = from === undefined ? {} : { [STATE]: from };
    const after = async (
      change: (given: ReturnType<typeof cluster>) => Promise<unknown>,
    ): Promise<string | undefined> => {
      const given = cluster();
      given.core.patch(ref, { type: 'merge', body: { metadata: { labels } } });
      expect(await change(given)).toMatchObject({ kind: 'ok' });
      return given.live().metadata.labels?.[STATE];
    };
    const end = (status: 'Succeeded' | 'Failed' | 'Cancelled') =>
      after(({ deps, live }) => finishNode(deps, live(), { status, uncordon: false, ended: [] }));
    expect(await after(({ deps, live }) => prepareNode(deps, live(), PREPARED))).toBe(begun);
    expect(await end('Succeeded')).toBe(succeeded);
    expect(await end('Failed')).toBe(failed);
    expect(await end('Cancelled')).toBe(cancelled);
  });

  it('answers a person who asked on it, and nobody else', async () => {
    const { core, deps, live } = cluster();
    core.patch(ref, { type: 'merge', body: { metadata: { annotations: { 'curfew.dev/drain-requested': ' m7 ' } } } });
    const ended = (id: string) => ({
      id,
      status: 'Failed' as const,
      reason: 'TimedOut',
      message: 'why',
      left: [],
      drained: 0,
      scope: { kind: 'full' as const },
      startTime: ACTIVE.startTime,
      endTime: ACTIVE.startTime,
      fault: { agent: '', componentClass: '', checkName: '', entities: [] },
      recovered: false,
    });
    const answer = (): string | undefined => live().metadata.annotations?.['curfew.dev/drain-answer'];
    await answerNode(deps, live(), [ended('e1')]);
    expect(answer()).toBeUndefined();
    await answerNode(deps, live(), [ended('e1'), ended('m7')]);
    expect(JSON.parse(answer() ?? '')).toEqual({
      id: 'm7',
      status: 'Failed',
      reason: 'TimedOut',
      message: 'why',
      drained: 0,
      left: [],
    });
  });
});

const own = {
  type: 'DrainInProgress',
  status: 'True',
  reason: 'CurfewDraining',
  message: 'drain e1',
  lastTransitionTime: '',
};
const others = { type: 'Drained', status: 'True', reason: 'Maintenance', message: '', lastTransitionTime: '' };
const node = (...conditions: (typeof own)[]): KubernetesObject => ({
  apiVersion: 'v1',
  kind: 'Node',
  metadata: { name: 'n1', uid: 'u1', resourceVersion: '7', creationTimestamp: '2024-11-01T12:00:00Z' },
  status: { conditions },
});
const show = async (
  object: KubernetesObject,
  answer: () => Promise<WriteOutcome>,
  state: 'drained' | 'inProgress' = 'drained',
) => {
  const bodies: unknown[] = [];
  const patch = (_: unknown, { body }: { body: unknown }) => {
    bodies.push(body);
    return answer();
  };
  const shown = await showDrain({ kubernetes: { patch } }, object, state, { message: 'm', now: NOW });
  return { bodies, version: shown?.metadata.resourceVersion };
};
const fails = (reason: string) => () => Promise.reject(new RetryableError('no', { reason }));

it('reads those that are ours by their reason', () => {
  const read = (...conditions: (typeof own)[]) => readShownDrain(readConditions(conditions));
  expect([read(own), read(others), read({ ...others, reason: 'CurfewDrained' })]).toEqual([
    'inProgress',
    'nothing',
    'drained',
  ]);
});

it('changes the message of one that is shown, which is no transition', async () => {
  const since = '2024-11-01T12:00:00Z';
  const shown = node({ ...own, lastTransitionTime: since });
  const answer: WriteOutcome = { kind: 'ok', object: shown };
  const { bodies } = await show(shown, () => Promise.resolve(answer), 'inProgress');
  expect(bodies).toMatchObject([{ status: { conditions: [{ message: 'm', lastTransitionTime: since }] } }]);
  const same = node({ ...own, message: 'm' });
  expect((await show(same, () => Promise.resolve(answer), 'inProgress')).bodies).toEqual([]);
});

it('leaves one of somebody else alone', async () => {
  const answer = () => Promise.reject(new Error('nothing is to be written'));
  expect(await show(node(others), answer)).toEqual({ bodies: [], version: '7' });
  const ofOthers = { ...own, reason: 'Maintenance' };
  expect(await show(node(ofOthers), answer, 'inProgress')).toEqual({ bodies: [], version: '7' });
});

it('puts one on and takes the other off, of the Node that was looked at', async () => {
  const answer: WriteOutcome = {
    kind: 'ok',
    object: { ...node(), metadata: { ...node().metadata, resourceVersion: '8' } },
  };
  expect(await show(node(own), () => Promise.resolve(answer))).toMatchObject({
    version: '8',
    bodies: [
      {
        metadata: { uid: 'u1', resourceVersion: '7' },
        status: {
          conditions: [
            { type: 'DrainInProgress', $patch: 'delete' },
            { type: 'Drained', status: 'True', reason: 'CurfewDrained' },
          ],
        },
      },
    ],
  });
});

it('is looked at again after a lost race, and says what else went wrong', async () => {
  await expect(show(node(), fails('TooManyRequests'))).rejects.toThrow(RetryableError);
  expect(await show(node(), () => Promise.resolve({ kind: 'conflict', message: '' }))).toMatchObject({
    version: undefined,
  });
});
