/**
 * I5: a drain ends within five minutes of the moment from which nothing holds it: its pods are gone or may go, its custom resource is
 * complete, failed or out of time, or nobody asks for it any more.
 */
import type { KubernetesObject } from '../../shared/domain/kubernetes-object.ts';
import { toEpochMs, toIsoText } from '../../shared/domain/time.ts';
import { drainConfig, isComplete, isDrainable, isLeftBehind, STATE_LABEL, type DrainConfig } from './drain-oracle.ts';
import type { DrainRequests } from './drain-requests.ts';
import { LONGEST_DELAY, type Check, type CheckContext } from './invariant.ts';
import { configurationIn } from './mirror.ts';
import { annotationOf, dig, instantOf, labelOf, nameOf } from './reading.ts';
import { isPolicyReadable } from './policy-oracle.ts';
import { protectionEnd, protectionFactsOf } from './protection-oracle.ts';
import { followConfiguration } from './refused-configuration.ts';

export function checkDrainEnd(context: CheckContext, requests: DrainRequests): Pick<Check, 'onAudit' | 'onMinute'> {
  const { mirror, now, quietSince, violate } = context;
  const configuration = followConfiguration(mirror);
  /** When the drain of a node began, by name. */
  const begun = new Map<string, number>();
  /** By UID: since when nothing holds its end. */
  const free = new Map<string, number>();
  const complain = (object: KubernetesObject, isHeld: boolean, quiet: number, denials: readonly number[]): void => {
    const { uid } = object.metadata;
    if (isHeld) return void free.delete(uid);
    const since = Math.max(free.get(uid) ?? now(), quiet, ...denials);
    free.set(uid, since);
    if (now() - since <= LONGEST_DELAY) return;
    const text = toIsoText(toEpochMs(since));
    violate('I5', `nothing holds the end of the drain of ${nameOf(object)} since ${text}, and it is not over`);
    free.set(uid, Infinity);
  };
  return {
    onAudit(record) {
      configuration.onAudit(record);
      const { function: by, decision, name } = record;
      if (by === 'drain' && (decision === 'begin' || decision === 'fallBack')) begun.set(name, now());
    },
    onMinute() {
      const quiet = quietSince();
      if (quiet === undefined || configuration.isRefused()) return free.clear();
      const draining = [...mirror.all('nodes').values()].filter(node => labelOf(node, STATE_LABEL) === 'draining');
      const resources = context.objects('drainrequests.nvsentinel.nvidia.com').filter(isOurs);
      if (draining.length + resources.length === 0) return free.clear();
      const config = drainConfig(configurationIn(mirror));
      const denialOf = ({ metadata }: KubernetesObject): number => context.lastDenial('drainrequests', metadata);
      for (const node of draining) {
        // What it has asked a controller for goes first: two never drain one node.
        const own = resources.filter(resource => dig(resource, 'spec', 'nodeName') === node.metadata.name);
        const denials = [context.lastDenial('nodes', node.metadata), ...own.map(denialOf)];
        complain(node, isNodeHeld(node, config, { context, requests, begun }), quiet, denials);
      }
      for (const resource of resources) {
        complain(resource, isResourceHeld(resource, config, context), quiet, [denialOf(resource)]);
      }
    },
  };
}

const isOurs = (resource: KubernetesObject): boolean => annotationOf(resource, 'curfew.dev/drain') !== undefined;

interface Known {
  readonly context: CheckContext;
  readonly requests: DrainRequests;
  readonly begun: ReadonlyMap<string, number>;
}

function isNodeHeld(
  node: KubernetesObject,
  config: DrainConfig | undefined,
  { context, requests, begun }: Known,
): boolean {
  const { mirror, now } = context;
  const { name } = node.metadata;
  const policies = [...mirror.all('nodelifecyclepolicies').values()];
  // What a custom drain waits for is its resource, which is judged for itself; without a configuration it waits for one. What has begun goes on in Observe.
  if (!policies.every(isPolicyReadable) || config === undefined || config.custom !== undefined) return true;
  const open = requests.open(name, Infinity);
  if (open.length === 0) return false;
  const force = open.some(request => request.force);
  const facts = protectionFactsOf(node, mirror);
  const namespaces = new Set(
    [...mirror.all('poddisruptionbudgets').values()].map(({ metadata }) => metadata.namespace),
  );
  const mayStay = (pod: KubernetesObject): boolean => {
    const rule = config.modeOf(pod);
    if (rule === undefined || !isDrainable(pod) || isLeftBehind(pod, now())) return false;
    if (pod.metadata.deletionTimestamp !== undefined) return true;
    const mode = force ? 'Immediate' : rule;
    if (mode === 'AllowCompletion') return true;
    if (mode === 'DeleteAfterTimeout' && now() < (begun.get(name) ?? Infinity) + config.deleteAfterMs) return true;
    return namespaces.has(pod.metadata.namespace) || (protectionEnd(pod, facts) ?? 0) > now();
  };
  return mirror.podsOn(name).some(mayStay);
}

/** Whether the custom resource may still be there: its controller has time. */
function isResourceHeld(
  resource: KubernetesObject,
  config: DrainConfig | undefined,
  { mirror, now }: CheckContext,
): boolean {
  const policies = [...mirror.all('nodelifecyclepolicies').values()];
  if (config?.custom === undefined || !policies.every(isPolicyReadable)) return true;
  const end = (instantOf(resource.metadata.creationTimestamp) ?? Infinity) + config.custom.timeoutMs;
  return !isComplete(resource) && now() < end;
}
