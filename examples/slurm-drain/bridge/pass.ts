/**
 * One pass over everything: look, decide, act. Whatever woke the bridge, it looks at all requests and at Slurm; so a lost event, a crash
 * between two calls or a restart costs time and nothing else. Passes must not overlap: Slurm has no compare-and-set.
 */
import { RESOURCES } from '../../../shared/contract/resources.ts';
import type { KubernetesObject } from '../../../shared/domain/kubernetes-object.ts';
import { RetryableError } from '../../../shared/errors.ts';
import type { Clock } from '../../../shared/ports/clock.ts';
import type { KubernetesApi } from '../../../shared/ports/kubernetes-api.ts';
import { decideRequest, decideResume, orphansOf, unknown, type ClusterNode } from './decide.ts';
import { readRequest, REQUESTS, statusPatch, type DrainRequest, type Progress } from './request.ts';
import { isDraining, type Slurm, type SlurmNode, type SlurmView } from './slurm.ts';
import { objectOf, objectsOf } from '../../../shared/ports/read-answer.ts';

export interface PassDeps {
  readonly kubernetes: Pick<KubernetesApi, 'list' | 'get' | 'patch'>;
  readonly slurm: Slurm;
  readonly clock: Pick<Clock, 'now'>;
  /** How the reasons of this bridge begin; another one for each Kubernetes cluster that shares a Slurm. */
  readonly owner: string;
  /** Where the requests are. */
  readonly namespace: string;
  readonly log: (message: string, fields: Readonly<Record<string, unknown>>) => void;
}

/** Throws `RetryableError` when the API server cannot be asked. */
export async function runPass(deps: PassDeps): Promise<void> {
  const { kubernetes, slurm, owner, namespace } = deps;
  const objects = objectsOf(await kubernetes.list(REQUESTS, { namespace }), { ifNotServed: 'empty' });
  if (objects === undefined) throw new RetryableError('the CustomResourceDefinition of SlurmDrainRequest is missing');
  const requests = objects.flatMap(object => {
    const request = readRequest(object);
    return request === undefined ? [] : [{ object, request }];
  });
  const all = requests.map(({ request }) => request);
  const open = new Set(all.filter(({ settled }) => !settled).map(({ name }) => name));
  const seen = await slurm.look();
  const refused = new Map<DrainRequest, Progress>();
  let changed = false;
  for (const request of all) {
    const outcome = await drainNode(deps, request, open, seen);
    if (outcome === undefined) continue;
    changed = true;
    if (outcome !== 'lookAgain') refused.set(request, outcome);
  }
  const view = changed ? await slurm.look() : seen;
  for (const { object, request } of requests) {
    const progress = refused.get(request) ?? progressOf(deps, request, open, view);
    if (progress !== undefined) await writeStatus(deps, object, progress);
  }
  for (const { node, nodeName } of orphansOf(view, all, owner)) {
    const clusterNode = await lookAtNode(kubernetes, nodeName);
    if (decideResume({ node, requests: all, clusterNode }) === 'resume') await resume(deps, node);
  }
}

/** Drains the node where that is decided on a fresh look: somebody may have drained it meanwhile. Undefined: nothing is to be done. */
async function drainNode(
  { slurm, owner, log }: PassDeps,
  request: DrainRequest,
  open: ReadonlySet<string>,
  seen: SlurmView,
): Promise<'lookAgain' | Progress | undefined> {
  if (seen.kind === 'unknown' || decideRequest({ request, open, slurm: seen, owner }).kind !== 'drain')
    return undefined;
  const fresh = await slurm.nodes();
  if (fresh.kind === 'unknown') return unknown('SlurmUnknown', `Slurm cannot be asked: ${fresh.because}`);
  const decision = decideRequest({ request, open, slurm: { ...seen, nodes: fresh.value }, owner });
  if (decision.kind !== 'drain') return 'lookAgain';
  const { node, reason } = decision;
  const change = await slurm.drain(node.name, reason);
  log('drain', { request: request.name, node: node.name, reason, outcome: change.kind });
  if (change.kind === 'done') return 'lookAgain';
  return unknown('DrainRefused', `${node.name} cannot be drained: ${change.because}`);
}

function progressOf(
  { owner }: PassDeps,
  request: DrainRequest,
  open: ReadonlySet<string>,
  slurm: SlurmView,
): Progress | undefined {
  const decision = decideRequest({ request, open, slurm, owner });
  switch (decision.kind) {
    case 'nothing':
      return undefined;
    case 'report':
      return decision.progress;
    case 'drain':
      return unknown('DrainNotSeen', `${decision.node.name} was drained, and Slurm does not show it yet`);
  }
}

async function writeStatus({ kubernetes, clock, log }: PassDeps, object: KubernetesObject, progress: Progress) {
  const body = statusPatch(object, progress, clock.now());
  if (body === undefined) return;
  const { name, namespace = '' } = object.metadata;
  const written = await kubernetes.patch(
    { type: REQUESTS, namespace, name },
    { type: 'merge', body },
    { subresource: 'status' },
  );
  log('status', { request: name, ...progress, written: written.kind });
}

/** Ends our drain, if it still is: the reason is read again right before. */
async function resume({ slurm, log }: PassDeps, { name, reason }: SlurmNode): Promise<void> {
  const fresh = await slurm.nodes();
  const node = fresh.kind === 'read' ? fresh.value.get(name) : undefined;
  if (node === undefined || !isDraining(node) || node.reason !== reason) return;
  const change = await slurm.undrain(name);
  log('resume', {
    node: name,
    reason,
    outcome: change.kind,
    ...(change.kind === 'failed' && { because: change.because }),
  });
}

/** NVSentinel's annotation on a node in quarantine, and the states of its label in which somebody works on the node. */
const QUARANTINE_ANNOTATION = 'quarantineHealthEvent';
const STATE_LABEL = 'dgxc.nvidia.com/nvsentinel-state';
const AT_WORK = new Set(['quarantined', 'draining', 'remediating']);

async function lookAtNode(kubernetes: PassDeps['kubernetes'], name: string): Promise<ClusterNode | undefined> {
  const object = objectOf(await kubernetes.get({ type: RESOURCES.Node, name }), { ifNotServed: 'throw' });
  if (object === undefined) return undefined;
  const { labels = {}, annotations = {} } = object.metadata;
  const held =
    object.spec?.['unschedulable'] === true ||
    annotations[QUARANTINE_ANNOTATION] !== undefined ||
    AT_WORK.has(labels[STATE_LABEL] ?? '');
  return { held };
}
