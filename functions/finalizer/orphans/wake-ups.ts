/**
 * Daily check for orphans: the cloud's instances are compared with the cluster's NodeClaims and Nodes. Instances that nothing in the cluster has
 * are woken one by one, each a while later: what Karpenter collects by itself, or what is just ending, is gone by then. Nothing is ever ended
 * here (I4), and nothing is reported when a list is incomplete (I6): the call throws, and the message is retried.
 */
import { type FinalizerDeps, OWNER } from '../common/context.ts';
import { minutes } from '../../../shared/domain/time.ts';
import { listOwnedInstances } from './observe.ts';
import { orphanCandidates } from './rule/candidates.ts';
import { instanceSubject } from './record.ts';

/** Delay of the second look: Karpenter collects instances without a NodeClaim every two minutes. */
const SECOND_LOOK = minutes(5);

/** Wakes, five minutes later, each instance of the cluster that no NodeClaim and no Node has. */
export async function checkForOrphans(deps: FinalizerDeps): Promise<void> {
  // The cloud first: what is launched meanwhile is not in its list.
  const instances = await deps.instances.list();
  const owned = await listOwnedInstances(deps);
  if (owned === undefined) return;
  const now = deps.clock.now();
  const candidates = orphanCandidates(now, instances, owned.byClaims.union(owned.byNodes));
  await deps.wakeUps.send(
    candidates.map(({ providerID }) => ({
      wakeUp: { owner: OWNER, subject: instanceSubject(providerID), wakeTime: now },
      delay: SECOND_LOOK,
    })),
  );
}
