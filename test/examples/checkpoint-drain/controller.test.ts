import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import {
  DONE,
  decide,
  FAILED,
  LABEL,
  REQUESTED,
  type SeenPod,
} from '../../../examples/checkpoint-drain/controller/decide.ts';
import { REQUESTS, runPass, type PassDeps } from '../../../examples/checkpoint-drain/controller/pass.ts';
import { createApiServer } from '../../../packages/kube-apiserver/src/api-server.ts';
import { createInProcessKubernetesApi } from '../../../runtime/in-process/kubernetes-api.ts';
import { RESOURCES } from '../../../shared/contract/resources.ts';
import { parseConfig } from '../../../shared/contract/config-schema.ts';
import { TerminalError } from '../../../shared/errors.ts';
import { createManualClock } from '../../fakes/manual-clock.ts';

const MANIFESTS = new URL('../../../examples/checkpoint-drain/manifests/', import.meta.url);
const text = (file: string): string => readFileSync(new URL(file, MANIFESTS), 'utf8');
const PROTECTED = 'karpenter.sh/do-not-disrupt';
const request = { uid: 'r1', nodeName: 'n1' };
const pod = (change: Partial<SeenPod> = {}): SeenPod => ({
  key: 'ml/a',
  nodeName: 'n1',
  labels: { [LABEL]: 'true' },
  annotations: {},
  terminating: false,
  ...change,
});

describe('a pod', () => {
  it.each<[string, SeenPod | undefined, string]>([
    ['that is gone', undefined, 'gone'],
    ['of that name elsewhere', pod({ nodeName: 'n2' }), 'gone'],
    ['that is stopping', pod({ terminating: true }), 'wait'],
    ['that knows nothing of checkpoints', pod({ labels: {} }), 'evict'],
    ['that was not asked', pod(), 'ask'],
    ['that was asked by an earlier request', pod({ annotations: { [REQUESTED]: 'r0', [DONE]: 'r0' } }), 'ask'],
    ['that saves its work', pod({ annotations: { [REQUESTED]: 'r1' } }), 'wait'],
    ['that has saved its work', pod({ annotations: { [REQUESTED]: 'r1', [DONE]: 'r1' } }), 'evict'],
    ['that is protected', pod({ labels: {}, annotations: { [PROTECTED]: 'true' } }), 'wait'],
    [
      'that has saved its work, and is protected',
      pod({ annotations: { [REQUESTED]: 'r1', [DONE]: 'r1', [PROTECTED]: '2h' } }),
      'wait',
    ],
    [
      'that is not protected any more',
      pod({ labels: {}, annotations: { [PROTECTED]: '2h' }, protectionEnded: true }),
      'evict',
    ],
    ['that cannot', pod({ annotations: { [REQUESTED]: 'r1', [FAILED]: 'disk full' } }), 'failed'],
  ])('%s', (_, seen, kind) => {
    expect(decide(request, seen).kind).toBe(kind);
  });
});

function controller() {
  const clock = createManualClock();
  const core = createApiServer({ clock });
  core.seed(parse(text('crd.yaml')));
  for (const name of ['checkpoint', 'ml']) core.seed({ apiVersion: 'v1', kind: 'Namespace', metadata: { name } });
  const create = (name: string, labels: Record<string, string> = {}) =>
    core.seed({
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { namespace: 'ml', name, labels },
      spec: { nodeName: 'n1', terminationGracePeriodSeconds: 0 },
    });
  create('saves', { [LABEL]: 'true' });
  create('other');
  const ask = (name: string, pods: readonly string[]) =>
    core.create(
      REQUESTS,
      {
        apiVersion: 'checkpoint.example.com/v1alpha1',
        kind: 'CheckpointRequest',
        metadata: { name, namespace: 'checkpoint' },
        spec: { nodeName: 'n1', pods: { ml: [...pods] } },
      },
      { user: 'curfew:drain', namespace: 'checkpoint' },
    );
  ask('r', ['saves', 'other']);
  const kubernetes = createInProcessKubernetesApi(core, 'checkpoint-controller');
  const live = () => core.get({ type: REQUESTS, namespace: 'checkpoint', name: 'r' });
  const pods = (): string[] => core.list(RESOURCES.Pod).items.map(({ metadata }) => metadata.name);
  const annotate = (annotations: Record<string, string>) =>
    core.patch(
      { type: RESOURCES.Pod, namespace: 'ml', name: 'saves' },
      { type: 'merge', body: { metadata: { annotations } } },
      { user: 'workload' },
    );
  const deps: PassDeps = { kubernetes, clock, namespace: 'checkpoint' };
  const pass = (changed: Partial<PassDeps['kubernetes']> = {}): Promise<void> =>
    runPass({ ...deps, kubernetes: { ...kubernetes, ...changed } });
  return { pass, live, pods, annotate, ask, kubernetes };
}

describe('a pass', () => {
  it('asks, waits for the answer, evicts, and is complete', async () => {
    const { pass, live, pods, annotate } = controller();
    await pass();
    expect(pods()).toEqual(['saves']);
    expect(live().status).toMatchObject({
      conditions: [{ type: 'DrainInProgress', message: 'ml/saves saves its work; ml/other is evicted' }],
    });
    await pass();
    const { resourceVersion } = live().metadata;
    await pass();
    expect(live().metadata.resourceVersion).toBe(resourceVersion);
    annotate({ [DONE]: live().metadata.uid });
    await pass();
    expect(pods()).toEqual([]);
    await pass();
    expect(live().status).toMatchObject({
      conditions: [{ type: 'DrainComplete', status: 'True', message: '2 pods saved their work and are gone' }],
    });
  });

  it('fails with the workload, and keeps its pod', async () => {
    const { pass, live, pods, annotate } = controller();
    await pass();
    annotate({ [FAILED]: 'disk full' });
    await pass();
    expect(live().status).toMatchObject({
      conditions: [{ type: 'DrainFailed', message: 'ml/saves cannot save its work: disk full' }],
    });
    await pass();
    expect(pods()).toEqual(['saves']);
  });

  it('handles the requests after one that cannot be handled, and says why that one cannot', async () => {
    const { pass, pods, ask, kubernetes } = controller();
    ask('second', ['other']);
    const denied = pass({
      patch: (ref, ...rest) =>
        ref.name === 'saves'
          ? Promise.reject(new TerminalError('Forbidden', 'an admission policy denies it'))
          : kubernetes.patch(ref, ...rest),
    });
    await expect(denied).rejects.toThrow('CheckpointRequest r: an admission policy denies it');
    expect(pods()).toEqual(['saves']);
  });
});

it('its configuration falls back', () => {
  const parsed = parseConfig(text('config.toml'));
  expect(parsed.ok && parsed.value.drain?.customDrain?.fallbackMode).toBe('DeleteAfterTimeout');
});
