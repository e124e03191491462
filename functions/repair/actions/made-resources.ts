/**
 * What becomes of the custom resources that repairs have made, under the contract of node-healthcheck-operator: condition `Succeeded` True
 * or False at the remediator's end, annotated when its time is over, deleted by us once the node is well or gone.
 */
import { deleteExactly } from '../../../shared/custom-resource/delete.ts';
import { findInAnyVersion } from '../../../shared/custom-resource/follow.ts';
import { ANNOTATIONS } from '../../../shared/contract/names.ts';
import type { ObjectRef } from '../../../shared/domain/kubernetes-object.ts';
import { readConditions } from '../../../shared/domain/node.ts';
import { toTimestamp } from '../../../shared/domain/time.ts';
import { RetryableError } from '../../../shared/errors.ts';
import type { MadeResource, Ours, ResourceName, RungAnswer } from '../rule/record.ts';
import type { ActionDeps } from './action.ts';
import { nodeOfRequest } from './drain.ts';
import { objectOf } from '../../../shared/ports/read-answer.ts';

/** The annotation by which remediators of node-healthcheck-operator know that they are out of time. */
const TIMED_OUT_ANNOTATION = 'remediation.medik8s.io/nhc-timed-out';
const SUCCEEDED = 'Succeeded';

const refOf = ({ group, version, resource, namespace, name }: ResourceName): ObjectRef => ({
  type: { group, version, resource },
  name,
  ...(namespace !== undefined && { namespace }),
});

/** How the remediator says that it ended; undefined: not yet. Nothing is known of one that somebody removed, or that is out of sight. */
export async function remediationAnswer(
  { kubernetes }: Pick<ActionDeps, 'kubernetes'>,
  { resources }: Pick<Ours, 'resources'>,
): Promise<RungAnswer | undefined> {
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
