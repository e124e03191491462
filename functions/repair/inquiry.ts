/** Asks custom resources and EC2 about attempts under way, where neither Node nor NodeClaim shows the outcome. */
import { judgeTime } from './rule/attempt.ts';
import type { PassDeps } from './context.ts';
import { remediationAnswer } from './custom-resource.ts';
import type { StoredNode } from './record.ts';
import type { NodeRecord } from './node-record.ts';
import { askForEnd } from './terminate.ts';
import { fewAtATime } from '../../shared/cluster/in-parallel.ts';
import type { NodeView } from '../../shared/domain/node.ts';
import { isDue } from '../../shared/domain/time.ts';

/** Asks about each open attempt, and puts the answer into its record. @param nodes the nodes of the pool */
export async function inquire(
  deps: PassDeps,
  records: Map<string, StoredNode>,
  nodes: readonly NodeView[],
): Promise<void> {
  const providerIDs = new Map(nodes.map(({ uid, providerID }) => [uid, providerID]));
  await fewAtATime([...records], async ([uid, stored]) => {
    const { attempt, leftovers } = stored.value;
    if (attempt === undefined) return;
    const update = (change: Partial<NodeRecord>): void =>
      void records.set(uid, { ...stored, value: { ...stored.value, ...change } });
    if (attempt.action === 'CustomResource' && attempt.phase === 'accepted' && attempt.answer === undefined) {
      const answer = await remediationAnswer(deps, leftovers ?? {});
      if (answer !== undefined) update({ attempt: { ...attempt, answer } });
      return;
    }
    const isOpen = attempt.phase === 'intended' && isDue(deps.clock.now(), judgeTime(attempt));
    const providerID = providerIDs.get(uid);
    if (attempt.action !== 'Terminate' || attempt.claim !== undefined || !isOpen || providerID === undefined) return;
    const inquired = await askForEnd(deps, attempt, providerID);
    if (inquired !== undefined) update({ attempt: inquired });
  });
}
