/**
 * What became of what repairs have asked for. A custom resource follows the contract of node-healthcheck-operator: condition `Succeeded` True
 * or False at the remediator's end, annotated when its time is over, deleted by us once the node is well or gone.
 */
import type { ActionDeps } from './action.ts';
import { nodeOfRequest } from './drain.ts';
import { settledTime } from './attempt.ts';
import type { PassDeps } from './context.ts';
import type { ActionAnswer, MadeResource, NodeRecord, Ours, ResourceName, StoredNode } from './record.ts';
import { fewAtATime } from '../../shared/cluster/in-parallel.ts';
import { ANNOTATIONS } from '../../shared/contract/names.ts';
import { deleteExactly } from '../../shared/custom-resource/delete.ts';
import { findInAnyVersion } from '../../shared/custom-resource/follow.ts';
import type { ObjectRef } from '../../shared/domain/kubernetes-object.ts';
import { type NodeView, readConditions } from '../../shared/domain/node.ts';
import { addDuration, isDue, minutes, toTimestamp } from '../../shared/domain/time.ts';
import { RetryableError } from '../../shared/errors.ts';
import { objectOf, orNotKnown } from '../../shared/ports/read-answer.ts';

/** The annotation by which remediators of node-healthcheck-operator know that they are out of time. */
const TIMED_OUT_ANNOTATION = 'remediation.medik8s.io/nhc-timed-out';

const SUCCEEDED = 'Succeeded';

const refOf = ({ group, version, resource, namespace, name }: ResourceName): ObjectRef => ({
  type: { group, version, resource },
  name,
  ...(namespace !== undefined && { namespace }),
});

/** How the remediator says that it ended; undefined: not yet. Nothing is known of one that somebody removed, or that is out of sight. */
async function remediationAnswer(
  { kubernetes }: Pick<ActionDeps, 'kubernetes'>,
  { resources }: Pick<Ours, 'resources'>,
): Promise<ActionAnswer | undefined> {
  const made = resources?.at(-1);
  if (made === undefined) return undefined;
  const object = objectOf(await kubernetes.get(refOf(made)), { notServed: 'none' });
  if (object?.metadata.uid !== made.uid) return undefined;
  const end = readConditions(object.status?.['conditions']).find(({ type }) => type === SUCCEEDED);
  if (end?.status !== 'False') return undefined;
  const why = [end.reason, end.message].filter(text => text !== '').join(': ');
  return {
    kind: 'failed',
    message: `${made.resource} ${made.name} says Succeeded=False${why === '' ? '' : `, ${why}`}`,
  };
}

/** Tells the remediators of this repair that their time is over. */
export async function endRemediations(
  { kubernetes, clock }: Pick<ActionDeps, 'kubernetes' | 'clock'>,
  { resources = [] }: Pick<Ours, 'resources'>,
): Promise<void> {
  for (const made of resources) {
    const found = await findInAnyVersion(kubernetes, refOf(made));
    const { uid, annotations: marks } = found?.object.metadata ?? {};
    if (found === undefined || uid !== made.uid || marks?.[TIMED_OUT_ANNOTATION] !== undefined) continue;
    const annotations = { [TIMED_OUT_ANNOTATION]: toTimestamp(clock.now()) };
    const outcome = await kubernetes.patch(found.ref, {
      type: 'merge',
      body: { metadata: { uid: made.uid, annotations } },
    });
    if (outcome.kind === 'conflict')
      throw new RetryableError(`ending ${made.resource} ${made.name}: ${outcome.message}`);
  }
}

/** Exactly those that this repair made, recorded or not: the request on each names the node. */
export async function madeBy(
  { kubernetes }: Pick<ActionDeps, 'kubernetes'>,
  nodeUid: string,
  { resources = [], mayHaveMade = [] }: Pick<Ours, 'resources' | 'mayHaveMade'>,
): Promise<readonly MadeResource[]> {
  const made = [...resources];
  for (const name of mayHaveMade) {
    const { uid, annotations } = (await findInAnyVersion(kubernetes, refOf(name)))?.object.metadata ?? {};
    const isOurs = nodeOfRequest(annotations?.[ANNOTATIONS.repair] ?? '') === nodeUid;
    if (uid !== undefined && isOurs) made.push({ ...name, uid });
  }
  return made;
}

/** Each by its UID; what is gone already is no error. */
export async function deleteRemediations(
  deps: Pick<ActionDeps, 'kubernetes'>,
  resources: readonly MadeResource[],
): Promise<void> {
  for (const made of resources) await deleteExactly(deps.kubernetes, refOf(made), made.uid);
}

/** EC2 did not say what became of an instance: it is asked again after this long. */
const UNKNOWN_INSTANCE_CHECK = minutes(5);

/** What is asked about attempts where Node and NodeClaim do not tell: the live answer before each pass, into the records. */
export async function inquire(
  deps: PassDeps,
  records: Map<string, StoredNode>,
  nodes: readonly NodeView[],
): Promise<void> {
  const providerIDs = new Map(nodes.map(({ uid, providerID }) => [uid, providerID]));
  await fewAtATime([...records], async ([uid, stored]) => {
    const { attempt, ours } = stored.value;
    if (attempt === undefined) return;
    const now = deps.clock.now();
    const note = (change: Partial<NodeRecord>): void =>
      void records.set(uid, { ...stored, value: { ...stored.value, ...change } });
    if (attempt.action === 'CustomResource' && attempt.phase === 'accepted' && attempt.answer === undefined) {
      const answer = await remediationAnswer(deps, ours ?? {});
      if (answer !== undefined) note({ attempt: { ...attempt, answer } });
      return;
    }
    const isOpen = attempt.phase === 'intended' && isDue(now, settledTime(attempt));
    const providerID = providerIDs.get(uid);
    if (attempt.action !== 'Terminate' || attempt.claim !== undefined || !isOpen || providerID === undefined) return;
    const found = await orNotKnown(deps.instances.describe(providerID));
    // Nobody knows, and nothing is repeated (I4): it is asked again, and the other repairs of the pool go on.
    if (found !== undefined && 'kind' in found)
      return note({ attempt: { ...attempt, askTime: addDuration(now, UNKNOWN_INSTANCE_CHECK) } });
    const isEnding = found === undefined || found.state === 'shutting-down' || found.state === 'terminated';
    if (isEnding) note({ attempt: { ...attempt, phase: 'accepted' } });
  });
}
