/** One pass over all requests: look at each pod, decide, act, say how it stands. It keeps nothing between passes. */
import { RESOURCES } from '../../../shared/contract/resources.ts';
import { readConditions } from '../../../shared/domain/node.ts';
import type { JsonObject, KubernetesObject, ResourceType } from '../../../shared/domain/kubernetes-object.ts';
import { readPod } from '../../../shared/domain/pod.ts';
import { DEFAULT_PROTECTION_POLICY, isProtected } from '../../../shared/domain/protection.ts';
import { toTimestamp, type EpochMs } from '../../../shared/domain/time.ts';
import { messageOf, RetryableError } from '../../../shared/errors.ts';
import type { Clock } from '../../../shared/ports/clock.ts';
import type { KubernetesApi } from '../../../shared/ports/kubernetes-api.ts';
import { z } from 'zod';
import { decide, FAILED, REQUESTED, type CheckpointRequest, type PodDecision, type SeenPod } from './decide.ts';
import { objectOf, objectsOf } from '../../../shared/ports/read-answer.ts';

export const REQUESTS: ResourceType = {
  group: 'checkpoint.example.com',
  version: 'v1alpha1',
  resource: 'checkpointrequests',
};

export interface PassDeps {
  readonly kubernetes: Pick<KubernetesApi, 'list' | 'get' | 'patch' | 'evict'>;
  readonly clock: Pick<Clock, 'now'>;
  readonly namespace: string;
}

const spec = z.object({ nodeName: z.string(), pods: z.record(z.string(), z.array(z.string())).default({}) });

/** One that cannot be handled stops no other: what was wrong with any is thrown at the end, and the next pass begins anew. */
export async function runPass(deps: PassDeps): Promise<void> {
  const requests = objectsOf(await deps.kubernetes.list(REQUESTS, { namespace: deps.namespace }), {
    ifNotServed: 'empty',
  });
  if (requests === undefined) throw new RetryableError('the CustomResourceDefinition of CheckpointRequest is missing');
  const failures: string[] = [];
  for (const request of requests.filter(each => !isSettled(each))) {
    try {
      await handle(deps, request);
    } catch (error) {
      failures.push(`CheckpointRequest ${request.metadata.name}: ${messageOf(error)}`);
    }
  }
  if (failures.length > 0) throw new Error(failures.join('; '));
}

function isSettled({ metadata, status }: KubernetesObject): boolean {
  const isOver = readConditions(status?.['conditions']).some(
    ({ type, status: is }) => type !== 'DrainInProgress' && is === 'True',
  );
  return isOver || metadata.deletionTimestamp !== undefined;
}

async function handle(deps: PassDeps, object: KubernetesObject): Promise<void> {
  const { nodeName, pods } = spec.parse(object.spec);
  const request: CheckpointRequest = { uid: object.metadata.uid, nodeName };
  const names = Object.entries(pods).flatMap(([namespace, each]) => each.map(name => ({ namespace, name })));
  const waiting: string[] = [];
  const failed: string[] = [];
  for (const { namespace, name } of names) {
    const pod = objectOf(await deps.kubernetes.get({ type: RESOURCES.Pod, namespace, name }), {
      ifNotServed: 'throw',
    });
    const decision = await act(deps, request, pod);
    if (decision.kind === 'wait') waiting.push(decision.message);
    if (decision.kind === 'failed') failed.push(decision.message);
  }
  const [type, reason, message] =
    failed.length > 0
      ? ['DrainFailed', 'CheckpointFailed', failed.join('; ')]
      : waiting.length > 0
        ? ['DrainInProgress', 'SavingWork', waiting.join('; ')]
        : ['DrainComplete', 'AllPodsGone', `${names.length} pods saved their work and are gone`];
  await say(deps, object, { type, status: 'True', reason, message });
}

/** What is to be done is done, and waited for. */
async function act(
  { kubernetes, clock }: PassDeps,
  request: CheckpointRequest,
  pod: KubernetesObject | undefined,
): Promise<PodDecision> {
  const seen = pod && read(pod, clock.now());
  const decision = decide(request, seen);
  if (pod === undefined || seen === undefined) return decision;
  const { namespace = '', name, uid, resourceVersion } = pod.metadata;
  const ref = { type: RESOURCES.Pod, namespace, name };
  switch (decision.kind) {
    case 'ask': {
      // An answer to an earlier request goes with it.
      const annotations = { [REQUESTED]: request.uid, [FAILED]: null };
      await kubernetes.patch(ref, { type: 'merge', body: { metadata: { uid, annotations } } });
      return { kind: 'wait', message: `${seen.key} saves its work` };
    }
    case 'evict': {
      const outcome = await kubernetes.evict(ref, { preconditions: { uid, resourceVersion } });
      const why = 'message' in outcome ? `: ${outcome.message}` : '';
      return { kind: 'wait', message: `${seen.key} is evicted${why}` };
    }
    case 'gone':
    case 'wait':
    case 'failed':
      return decision;
  }
}

function read(pod: KubernetesObject, now: EpochMs): SeenPod {
  const { metadata, spec: podSpec } = pod;
  const { namespace, name, labels = {}, annotations = {}, deletionTimestamp } = metadata;
  const nodeName = podSpec?.['nodeName'];
  return {
    key: `${namespace}/${name}`,
    nodeName: typeof nodeName === 'string' ? nodeName : '',
    labels,
    annotations,
    terminating: deletionTimestamp !== undefined,
    protectionEnded: !isProtected(readPod(pod), now, DEFAULT_PROTECTION_POLICY),
  };
}

/** Once: what is said already is not written again. */
async function say({ kubernetes, clock }: PassDeps, object: KubernetesObject, condition: JsonObject): Promise<void> {
  const { name, namespace = '', uid } = object.metadata;
  const known = readConditions(object.status?.['conditions']);
  const isSaid = known.some(({ type, message }) => type === condition['type'] && message === condition['message']);
  if (isSaid) return;
  const conditions = [{ ...condition, lastTransitionTime: toTimestamp(clock.now()) }];
  const body = { metadata: { uid }, status: { conditions } };
  await kubernetes.patch({ type: REQUESTS, namespace, name }, { type: 'merge', body }, { subresource: 'status' });
}
