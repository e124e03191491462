/** Facts of an instance: which one it is, and whether it is there. Pure. */
import type { KubernetesObject } from '../../../shared/domain/kubernetes-object.ts';
import { providerIDOfClaim } from '../../../shared/domain/node-claim.ts';
import { providerIDOfNode } from '../../../shared/domain/node.ts';
import { addDuration, isDue, minutes, type EpochMs } from '../../../shared/domain/time.ts';
import type { InstanceState } from '../../../shared/ports/instances.ts';

/** `spec.providerID` of a Node, `status.providerID` of a NodeClaim. */
export const providerIDOf = (object: KubernetesObject): string | undefined =>
  object.kind === 'Node' ? providerIDOfNode(object) : providerIDOfClaim(object);

/** Whether the instance is gone; `undefined`: the cloud knows no such instance. */
export const isGone = (state: InstanceState | undefined): state is 'terminated' | undefined =>
  state === undefined || state === 'terminated';

/** Age from which EC2 knows an instance: before that, answers come from a copy of its data that may be behind (its API is eventually consistent). */
const KNOWN_AFTER = minutes(5);

/** The instant until which "not found" is no answer about an instance. @param launchTime undefined: not known, and long ago */
export const unknownUntil = (launchTime: EpochMs | undefined): EpochMs | undefined =>
  launchTime === undefined ? undefined : addDuration(launchTime, KNOWN_AFTER);

/** Whether "not found" says nothing yet about an instance that was launched then. */
export function isUnknownYet(launchTime: EpochMs | undefined, now: EpochMs): boolean {
  const until = unknownUntil(launchTime);
  return until !== undefined && !isDue(now, until);
}
