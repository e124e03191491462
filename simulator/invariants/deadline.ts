/** Until when a termination may take, read apart from the rule that is watched. */
import type { KubernetesObject } from '../../shared/domain/kubernetes-object.ts';
import type { VersionsInForce } from './last-readable.ts';
import type { Mirror } from './mirror.ts';
import {
  annotationOf,
  dig,
  instanceOfClaim,
  instanceOfNode,
  instantOf,
  listOf,
  millisecondsOf,
  poolNameOf,
  TERMINATION_TIMESTAMP,
} from './reading.ts';

export const providerIDOf = (object: KubernetesObject): string | undefined =>
  instanceOfNode(object) ?? instanceOfClaim(object);

interface Declared {
  readonly time: number;
  /** What set it. */
  readonly source: string;
}

interface Known {
  readonly deadline?: Declared | undefined;
  /** From when on a hook that escalates may force. */
  readonly escalation?: number | undefined;
  /** The first deletion of Node and NodeClaim. */
  readonly deletion?: number | undefined;
}

/** What was known last of each object that is being deleted, by UID, and of each instance whose NodeClaim is, by providerID. */
const known = new WeakMap<Mirror, Map<string, Known>>();
/** Which versions of a policy may be in force. */
const inForce = new WeakMap<Mirror, VersionsInForce>();

/** A policy that cannot be read sets the deadline that it set when it could be; asked before the first change. */
export const watchDeadlines = (mirror: Mirror, versions: VersionsInForce): void => void inForce.set(mirror, versions);

const versionsIn = (mirror: Mirror, policy: KubernetesObject | undefined): readonly KubernetesObject[] =>
  policy === undefined ? [] : (inForce.get(mirror)?.(policy) ?? [policy]);

const policiesIn = (mirror: Mirror): readonly KubernetesObject[] =>
  [...mirror.all('nodelifecyclepolicies').values()].flatMap(policy => versionsIn(mirror, policy));

/**
 * Epoch milliseconds: what is declared now. That of an object that is being deleted comes nearer at any time; it moves away only when
 * what set it is edited, or sets none any more: another source that asks for more time is not heard, and one that went takes nothing
 * back. Asked at every run, so that no change is missed.
 */
export function deadlineOf(object: KubernetesObject, mirror: Mirror): number | undefined {
  const memory = known.get(mirror) ?? new Map<string, Known>();
  known.set(mirror, memory);
  const { uid, deletionTimestamp } = object.metadata;
  // A Node that is deleted for its NodeClaim has the deadline that is kept there, also where the NodeClaim goes in the same moment.
  const instance = providerIDOf(object) ?? '';
  const before = memory.get(uid) ?? memory.get(claimOf(object, mirror)?.metadata.uid ?? instance);
  const { deadline, escalation } = (deletionTimestamp === undefined ? undefined : before) ?? {};
  const claim = claimOf(object, mirror);
  const ofBoth = deletionOf(object, claim);
  // The Node may have gone meanwhile.
  const kept = deletionTimestamp === undefined ? undefined : before?.deletion;
  const deletion = kept === undefined || ofBoth === undefined ? ofBoth : Math.min(kept, ofBoth);
  const current = currentDeadline(object, mirror, deletion);
  const isKept = deadline !== undefined && !isTakenBack(deadline.source, object, mirror);
  const next: Known = {
    deadline: (isKept ? nearer(deadline, current) : current) ?? deadline,
    escalation: escalationOf(mirror, deletion) ?? escalation,
    deletion,
  };
  if (deletionTimestamp !== undefined) memory.set(uid, next);
  if (deletionTimestamp !== undefined && claim !== undefined && !memory.has(claim.metadata.uid))
    memory.set(claim.metadata.uid, next);
  if (deletionTimestamp !== undefined && object.kind === 'NodeClaim' && instance !== '') memory.set(instance, next);
  const least = Math.min(next.deadline?.time ?? Infinity, next.escalation ?? Infinity);
  return least === Infinity ? undefined : least;
}

function nearer(before: Declared, current: Declared | undefined): Declared {
  if (current === undefined) return before;
  return current.time <= before.time || current.source === before.source ? current : before;
}

/**
 * Whether the cluster holds a NodeClaim for the object's instance, and only one: then the instance ends with it. Not with a Node beside the
 * one that this NodeClaim names while both of those live.
 */
export function hasOneClaim(object: KubernetesObject, mirror: Mirror): boolean {
  const providerID = providerIDOf(object);
  const others = [...mirror.all('nodeclaims').values()].filter(
    claim => providerIDOf(claim) === providerID && claim.metadata.uid !== object.metadata.uid,
  );
  // A NodeClaim counts itself, also in the write that ends it.
  if (object.kind === 'NodeClaim') return others.length === 0;
  const [claim] = others;
  if (claim === undefined || others.length > 1) return false;
  if (claim.metadata.deletionTimestamp !== undefined) return true;
  return ![...mirror.all('nodes').values()].some(
    node =>
      node.metadata.uid !== object.metadata.uid &&
      node.metadata.name === dig(claim, 'status', 'nodeName') &&
      node.metadata.deletionTimestamp === undefined &&
      providerIDOf(node) === providerID,
  );
}

const ANNOTATION = 'annotation';
const CLAIM = 'NodeClaim';

function claimOf(object: KubernetesObject, mirror: Mirror): KubernetesObject | undefined {
  if (object.kind === 'NodeClaim') return object;
  const providerID = providerIDOf(object);
  return providerID === undefined ? undefined : mirror.claimOfInstance(providerID);
}

const periodOfPool = (pool: KubernetesObject | undefined): number | undefined => {
  const seconds = dig(pool, 'spec', 'disruption', 'terminationGracePeriodSeconds');
  return typeof seconds === 'number' ? seconds * 1000 : undefined;
};
const periodOfPolicy = (policy: KubernetesObject): number | undefined =>
  millisecondsOf(dig(policy, 'spec', 'termination', 'terminationGracePeriod'));

/** The annotation; else the deletion and the period of NodeClaim, NodePool or the shortest of any policy. */
function currentDeadline(object: KubernetesObject, mirror: Mirror, deletion: number | undefined): Declared | undefined {
  const claim = claimOf(object, mirror);
  const declared = claim && instantOf(annotationOf(claim, TERMINATION_TIMESTAMP));
  if (declared !== undefined) return { time: declared, source: ANNOTATION };
  if (deletion === undefined) return undefined;
  const ofClaim = millisecondsOf(dig(claim, 'spec', 'terminationGracePeriod'));
  if (ofClaim !== undefined) return { time: deletion + ofClaim, source: CLAIM };
  const pool = mirror.lastPools().get(poolNameOf(claim ?? object) ?? '');
  const ofPool = periodOfPool(pool);
  if (pool !== undefined && ofPool !== undefined) return { time: deletion + ofPool, source: pool.metadata.uid };
  return policiesIn(mirror)
    .flatMap(policy => {
      const period = periodOfPolicy(policy);
      return period === undefined ? [] : { time: deletion + period, source: policy.metadata.uid };
    })
    .toSorted((a, b) => a.time - b.time)[0];
}

/** Of a Node that was deleted before its NodeClaim the earlier one: the deletion of the other gives no more time (I5). */
function deletionOf(object: KubernetesObject, claim: KubernetesObject | undefined): number | undefined {
  const times = [claim, object].flatMap(each => instantOf(each?.metadata.deletionTimestamp) ?? []);
  return times.length === 0 ? undefined : Math.min(...times);
}

/** Whether what set a deadline is there and sets none any more. */
function isTakenBack(source: string, object: KubernetesObject, mirror: Mirror): boolean {
  const claim = claimOf(object, mirror);
  if (source === ANNOTATION) return claim !== undefined && annotationOf(claim, TERMINATION_TIMESTAMP) === undefined;
  const pool = mirror.all('nodepools').get(source);
  if (pool !== undefined) return periodOfPool(pool) === undefined;
  const versions = versionsIn(mirror, mirror.all('nodelifecyclepolicies').get(source));
  return versions.length > 0 && versions.every(version => periodOfPolicy(version) === undefined);
}

/** From when on a hook that escalates may force. */
function escalationOf(mirror: Mirror, deletion: number | undefined): number | undefined {
  const periods = policiesIn(mirror).flatMap(policy =>
    listOf(dig(policy, 'spec', 'termination', 'hooks'))
      .filter(hook => dig(hook, 'onTimeout') === 'Escalate')
      .map(hook => millisecondsOf(dig(hook, 'heartbeat') ?? dig(hook, 'deadline') ?? '10m') ?? 0),
  );
  return deletion === undefined || periods.length === 0 ? undefined : deletion + Math.min(...periods);
}
