/** What is asked about attempts where Node and NodeClaim do not tell. */
import { settledTime } from './attempt.ts';
import type { PassDeps } from './context.ts';
import { remediationAnswer } from './custom-resource.ts';
import type { NodeRecord, StoredNode } from './record.ts';
import { fewAtATime } from '../../shared/cluster/in-parallel.ts';
import type { NodeView } from '../../shared/domain/node.ts';
import { addDuration, isDue, minutes } from '../../shared/domain/time.ts';
import { orNotKnown } from '../../shared/ports/read-answer.ts';

/** EC2 did not say what became of an instance: it is asked again after this long. */
const UNKNOWN_INSTANCE_CHECK = minutes(5);

/** The live answer before each pass, into the records. */
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
