/** The instances that may have been left behind, by a list of all. Pure. */
import { addDuration, type EpochMs, isDue, minutes } from '../../../../shared/domain/time.ts';

/** Time that Karpenter gives an instance to become a Node; then it ends it itself. */
const REGISTRATION_TIMEOUT = minutes(15);

/** The instances of a list that nothing in the cluster has, and that are old enough for it. Each is looked at by itself before it is reported. */
export function orphanCandidates<Instance extends { readonly providerID: string; readonly launchTime: EpochMs }>(
  now: EpochMs,
  instances: readonly Instance[],
  owned: ReadonlySet<string | undefined>,
): readonly Instance[] {
  return instances.filter(
    ({ providerID, launchTime }) => !owned.has(providerID) && isDue(now, addDuration(launchTime, REGISTRATION_TIMEOUT)),
  );
}
