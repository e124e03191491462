/** The custom resource, and the status that the bridge writes. Pure. */
import { readConditions } from '../../../shared/domain/node.ts';
import type { JsonObject, KubernetesObject, ResourceType } from '../../../shared/domain/kubernetes-object.ts';
import { toTimestamp, type EpochMs } from '../../../shared/domain/time.ts';

export const REQUESTS: ResourceType = {
  group: 'slurm.example.com',
  version: 'v1alpha1',
  resource: 'slurmdrainrequests',
};

export interface DrainRequest {
  readonly name: string;
  readonly nodeName: string;
  readonly slurmNodeName: string | undefined;
  readonly reason: string;
  /** Complete, failed, or being deleted: nothing is to be done. */
  readonly settled: boolean;
}

/** Undefined when its spec names no node; the schema of the CRD forbids that. */
export function readRequest({ metadata, spec, status }: KubernetesObject): DrainRequest | undefined {
  const nodeName = textAt(spec, 'nodeName');
  if (nodeName === undefined) return undefined;
  const isTrue = (type: string): boolean =>
    readConditions(status?.['conditions']).some(each => each.type === type && each.status === 'True');
  return {
    name: metadata.name,
    nodeName,
    slurmNodeName: textAt(spec, 'slurmNodeName'),
    reason: textAt(spec, 'reason') ?? '',
    settled: metadata.deletionTimestamp !== undefined || isTrue('DrainComplete') || isTrue('DrainFailed'),
  };
}

/** How a drain stands. */
export interface Progress {
  readonly slurmNodeName: string | undefined;
  /** Undefined while Slurm cannot be asked. */
  readonly jobs: number | undefined;
  readonly inProgress: 'True' | 'False' | 'Unknown';
  readonly complete: boolean;
  /** One CamelCase word. */
  readonly reason: string;
  readonly message: string;
}

/** A status that says the same is written again this often: Curfew's `heartbeat` counts on it. */
const REPEAT_MS = 60_000;

/**
 * The merge patch for the status; undefined when it says so already. While Slurm is not seen nothing is repeated: the heartbeat that
 * Curfew waits for then stays out.
 */
export function statusPatch(object: KubernetesObject, progress: Progress, now: EpochMs): JsonObject | undefined {
  const { status } = object;
  const known = readConditions(status?.['conditions']);
  const { slurmNodeName, jobs, inProgress, complete, reason, message } = progress;
  const wanted = [
    { type: 'DrainInProgress', status: inProgress },
    { type: 'DrainComplete', status: complete ? 'True' : 'False' },
  ].map(each => ({ ...each, reason, message }));
  const isSaid = wanted.every(each =>
    known.some(
      old => old.type === each.type && old.status === each.status && old.reason === reason && old.message === message,
    ),
  );
  const isSeen = jobs !== undefined;
  const observed = Date.parse(textAt(status, 'observedTime') ?? '');
  const isFresh = now - observed < REPEAT_MS;
  if (isSaid && (!isSeen || isFresh)) return undefined;
  const conditions = wanted.map(each => {
    const old = known.find(({ type }) => type === each.type);
    const since = old?.status === each.status ? old.lastTransitionTime : undefined;
    return { ...each, lastTransitionTime: toTimestamp(since ?? now) };
  });
  const { uid, resourceVersion } = object.metadata;
  return {
    metadata: { uid, resourceVersion },
    status: {
      conditions,
      ...(slurmNodeName !== undefined && { slurmNodeName }),
      ...(isSeen && { jobs, observedTime: toTimestamp(now) }),
    },
  };
}

function textAt(part: JsonObject | undefined, key: string): string | undefined {
  const value = part?.[key];
  return typeof value === 'string' && value !== '' ? value : undefined;
}
