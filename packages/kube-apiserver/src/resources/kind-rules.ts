/** Rules that only one kind has: what its creation fills in, and what it refuses. */
import { complainAboutBinding, complainAboutPolicy, prepareBinding, preparePolicy } from '../admission/policy-rules.ts';
import type { JsonObject } from '../json.ts';
import { arrayAt, isObject, objectAt, textAt } from '../json.ts';
import { metadataOf, nameOf } from '../objects.ts';
import { complainAboutEvent, complainAboutLease } from './event-rules.ts';
import { complainAboutNode, prepareNode } from './node-rules.ts';
import type { ResourceRules, Transition } from './resource-rules.ts';

/** Grace period of a pod that does not name one. */
export const DEFAULT_TERMINATION_GRACE_PERIOD_SECONDS = 30;

/** The rules of a built-in kind beyond those of every object. */
export function kindRules(kind: string): Pick<ResourceRules, 'prepare' | 'validate'> {
  switch (kind) {
    case 'Node':
      return { prepare: prepareNode, validate: complainAboutNode };
    case 'Event':
      return { validate: complainAboutEvent };
    case 'Lease':
      return { validate: complainAboutLease };
    case 'Pod':
      return { prepare: preparePod };
    case 'Namespace':
      return { prepare: prepareNamespace };
    case 'PodDisruptionBudget':
      return { prepare: prepareBudget };
    case 'ValidatingAdmissionPolicy':
    case 'MutatingAdmissionPolicy':
      return { prepare: preparePolicy, validate: complainAboutPolicy };
    case 'ValidatingAdmissionPolicyBinding':
    case 'MutatingAdmissionPolicyBinding':
      return { prepare: prepareBinding, validate: complainAboutBinding };
    case 'PersistentVolume':
    case 'PersistentVolumeClaim':
      return { prepare: preparePending };
    default:
      return {};
  }
}

function preparePod({ next, old }: Transition): JsonObject {
  if (old !== undefined) return next;
  const spec = {
    restartPolicy: 'Always',
    terminationGracePeriodSeconds: DEFAULT_TERMINATION_GRACE_PERIOD_SECONDS,
    dnsPolicy: 'ClusterFirst',
    schedulerName: 'default-scheduler',
    // kubectl looks into it without asking whether it is there.
    securityContext: {},
    ...objectAt(next, 'spec'),
  };
  return { ...next, spec, status: { phase: 'Pending', qosClass: qosClass(spec) } };
}

function amounts(of: JsonObject): JsonObject[string][] {
  return [of.cpu, of.memory];
}

/** Guaranteed, Burstable or BestEffort, from the cpu and memory of the containers. */
function qosClass(spec: JsonObject): string {
  const resources = [...arrayAt(spec, 'containers'), ...arrayAt(spec, 'initContainers')]
    .filter(isObject)
    .map(container => objectAt(container, 'resources'));
  const named = resources.flatMap(each => [
    ...amounts(objectAt(each, 'requests')),
    ...amounts(objectAt(each, 'limits')),
  ]);
  if (named.every(amount => amount === undefined)) return 'BestEffort';
  const guaranteed = resources.every(each => {
    const limits = amounts(objectAt(each, 'limits'));
    const requests = amounts(objectAt(each, 'requests'));
    return limits.every((limit, index) => limit !== undefined && (requests[index] ?? limit) === limit);
  });
  return guaranteed ? 'Guaranteed' : 'Burstable';
}

/** Label by which a namespace can be selected by name. */
const NAMESPACE_NAME_LABEL = 'kubernetes.io/metadata.name';

function prepareNamespace({ next, old }: Transition): JsonObject {
  const metadata = metadataOf(next);
  const labels = { ...objectAt(metadata, 'labels'), [NAMESPACE_NAME_LABEL]: nameOf(next) };
  const named =
    textAt(objectAt(metadata, 'labels'), NAMESPACE_NAME_LABEL) === nameOf(next)
      ? next
      : { ...next, metadata: { ...metadata, labels } };
  if (old !== undefined) return named;
  return { ...named, spec: { finalizers: ['kubernetes'] }, status: { phase: 'Active' } };
}

/** A budget that its controller has not looked at allows nothing. */
function prepareBudget({ next, old }: Transition): JsonObject {
  if (old !== undefined) return next;
  return { ...next, status: { disruptionsAllowed: 0, currentHealthy: 0, desiredHealthy: 0, expectedPods: 0 } };
}

function preparePending({ next, old }: Transition): JsonObject {
  return old === undefined ? { ...next, status: { phase: 'Pending' } } : next;
}
