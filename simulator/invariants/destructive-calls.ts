/**
 * What holds for every destructive call of any function:
 * - I4 at most once for an object, and only after the intent was recorded
 * - I6 not while something that the run wanted to know is unknown
 * - I10 with the UID that is meant
 */
import { annotationOf, dig, nameOf, REPLACES_ANNOTATION, textOf } from './reading.ts';
import { deadlineOf } from './deadline.ts';
import {
  does,
  exactVersionOf,
  failedReads,
  isKubernetes,
  knowsRecord,
  lastSeen,
  seenPod,
  targetOf,
} from './run-journal.ts';
import type { MakeCheck, PortCall, Run } from './invariant.ts';
import { graceOf } from './termination-oracle.ts';

/**
 * What a termination looks at to spare it, which its deadline ends: volumes and pods. And settings, of which its record keeps the last ones:
 * from the cluster and from records.
 */
const NEEDLESS_AT_DEADLINE =
  /^kubernetes (?:get|list) .*"resource":"(?:volumeattachments|pods|persistentvolumeclaims|nodelifecyclepolicies|nodepools|configmaps)"|^records get .*"id":"(?:kept-policy|known-pool)\/|^records get .*"id":"configuration"/;

/** Work of others on a node, which spares that node, and not a replacement of ours that is of no use. */
const WORK_OF_OTHERS = /^kubernetes list .*"resource":"(?:maintenancerequests|externalremediationrequests|leases)"/;

const DESTROYED_RESOURCES: readonly string[] = ['pods', 'nodes', 'nodeclaims'];
/** Objects whose patches must name the object that is meant. */
const KNOWN_BY_UID: readonly string[] = ['pods', 'nodes', 'nodeclaims'];

export const checkDestructiveCalls: MakeCheck = ({ mirror, clockTolerance, violate }) => {
  /** The Node of a NodeClaim that is acted on. */
  const nodeOf = (name: string | undefined): string | undefined =>
    textOf(dig(mirror.named('nodeclaims', name), 'status', 'nodeName'));
  /** The time that a pod has to stop in, before the deadline of its node; 0 for what is no delete of a pod. It may be gone by now. */
  const headStart = (call: PortCall, run: Run): number => {
    if (!isKubernetes(call, 'delete') || targetOf(call).resource !== 'pods') return 0;
    const pod = seenPod(call, run);
    return pod === undefined ? 0 : graceOf(pod);
  };
  /** Whether the deadline of NodeClaim or Node may ask for it by the function's clock, as the run saw them last. They end together. */
  const isPastDeadline = (call: PortCall, run: Run): boolean => {
    const latest = call.time + clockTolerance + headStart(call, run);
    const deadlines = ['nodeclaims', 'nodes'].map(resource => {
      const object = lastSeen(run, resource);
      return object && deadlineOf(object, mirror);
    });
    return run.by === 'finalizer' && deadlines.some(deadline => deadline !== undefined && deadline <= latest);
  };
  /** UIDs of NodeClaims and Nodes that Curfew deleted. */
  const deleted = new Set<string>();
  return {
    onCall(call, run) {
      if (isKubernetes(call, 'patch') && KNOWN_BY_UID.includes(targetOf(call).resource) && !namesItsObject(call)) {
        violate('I10', `${run.by} patches ${describe(call)} without its UID or resourceVersion`);
      }
      if (!isDestructive(call)) return;
      if (call.port === 'kubernetes' && textOf(dig(call.args[1], 'preconditions', 'uid')) === undefined) {
        violate('I10', `${run.by} ${does(call)} ${describe(call)} without its UID as precondition`);
      }
      const { name } = targetOf(call);
      const claim = mirror.named('nodeclaims', name);
      const isReplacement = claim !== undefined && annotationOf(claim, REPLACES_ANNOTATION) !== undefined;
      const isNeedless = (read: string): boolean =>
        (NEEDLESS_AT_DEADLINE.test(read) && isPastDeadline(call, run)) || (isReplacement && WORK_OF_OTHERS.test(read));
      const proven = readProvenBy(call);
      const unknown = failedReads(run, [name, nodeOf(name)]).filter(read => read !== proven && !isNeedless(read));
      if (unknown.length > 0)
        violate('I6', `${run.by} ${does(call)} ${describe(call)} although it could not read ${unknown.join(', ')}`);
      if (!knowsRecord(run))
        violate('I4', `${run.by} ${does(call)} ${describe(call)} without having recorded its intent`);
    },
    onClusterRestored() {
      for (const uid of deleted) {
        const object = mirror.all('nodes').get(uid) ?? mirror.all('nodeclaims').get(uid);
        if (object !== undefined && object.metadata.deletionTimestamp === undefined) deleted.delete(uid);
      }
    },
    onWrite({ verb, before, resource }, by) {
      if (verb !== 'delete' || before === undefined || !['nodes', 'nodeclaims'].includes(resource.resource)) return;
      if (deleted.has(before.metadata.uid)) violate('I4', `${by} deleted ${nameOf(before)} a second time`);
      deleted.add(before.metadata.uid);
    },
  };
};

/** The read that a delete of an exact version makes needless: the API server itself looks whether the object is still what the run saw. */
const readProvenBy = (call: PortCall): string | undefined =>
  exactVersionOf(call) === undefined ? undefined : `kubernetes get ${JSON.stringify([call.args[0]])}`;

function isDestructive(call: PortCall): boolean {
  if (call.port === 'instances') return !['describe', 'checkOf', 'list'].includes(call.method);
  return isKubernetes(call, 'delete', 'evict') && DESTROYED_RESOURCES.includes(targetOf(call).resource);
}

/** A merge patch with uid or resourceVersion, or a JSON patch that tests one of them. */
function namesItsObject({ args }: PortCall): boolean {
  const body = dig(args[1], 'body');
  if (dig(args[1], 'type') === 'json') {
    return Array.isArray(body) && body.some(operation => dig(operation, 'op') === 'test');
  }
  return (
    textOf(dig(body, 'metadata', 'uid')) !== undefined || textOf(dig(body, 'metadata', 'resourceVersion')) !== undefined
  );
}

function describe(call: PortCall): string {
  if (call.port === 'instances') return `instance ${String(call.args[0])}`;
  const { resource, namespace, name = '' } = targetOf(call);
  return `${resource} ${namespace === undefined ? '' : `${namespace}/`}${name}`;
}
