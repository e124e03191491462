/**
 * Asks custom resources and EC2 about attempts under way, where neither Node nor NodeClaim shows the outcome. What cannot be learned of one
 * attempt stops nothing else: its time goes on, and an Event says so.
 */
import { judgeTime } from './node/rule/attempt.ts';
import type { PassDeps } from './context.ts';
import { findMade, remediationAnswer } from './actions/custom-resource.ts';
import type { StoredNode } from './record.ts';
import type { ActionAnswer } from './node/attempt-record.ts';
import type { NodeRecord } from './node/record.ts';
import { askForEnd } from './actions/terminate.ts';
import { fewAtATime } from '../../shared/cluster/in-parallel.ts';
import { aboutNode, type NodeView } from '../../shared/domain/node.ts';
import { EVENT_REASONS } from '../../shared/contract/reasons.ts';
import { isDue } from '../../shared/domain/time.ts';
import { createBackoff, isRefused } from '../../shared/lifecycle/refusals.ts';

/** Key of the refusal to read the answer of a custom resource. */
const ANSWER = 'answer';

/** Asks about each open attempt. Answers the records with what it learned. @param nodes the nodes of the pool */
export async function withAnswers(
  deps: PassDeps,
  stored: ReadonlyMap<string, StoredNode>,
  nodes: readonly NodeView[],
): Promise<ReadonlyMap<string, StoredNode>> {
  const records = new Map(stored);
  const providerIDs = new Map(nodes.map(({ uid, providerID }) => [uid, providerID]));
  await fewAtATime([...stored], async ([uid, record]) => {
    const { value } = record;
    const { attempt } = value;
    const update = (change: Partial<NodeRecord>, more: Pick<StoredNode, 'isMade'> = {}): void =>
      void records.set(uid, { ...record, ...more, value: { ...value, ...change } });
    if (attempt?.action === 'CustomResource' && attempt.phase === 'accepted' && attempt.answer === undefined) {
      const { answer, refusals } = await readAnswer(deps, uid, value);
      if (answer !== undefined) update({ attempt: { ...attempt, answer } });
      else if (refusals !== value.refusals) records.set(uid, { value: { ...value, refusals }, needsRewrite: true });
      return;
    }
    const isOpen = attempt?.phase === 'intended' && isDue(deps.clock.now(), judgeTime(attempt));
    if (isOpen && attempt.action === 'CustomResource') {
      const made = await findMade(deps, attempt, value.leftovers);
      if (made !== undefined) update({ leftovers: { ...value.leftovers, ...made } }, { isMade: true });
      return;
    }
    const providerID = providerIDs.get(uid);
    if (attempt?.action !== 'Terminate' || attempt.claim !== undefined || !isOpen || providerID === undefined) return;
    const inquired = await askForEnd(deps, attempt, providerID);
    if (inquired !== undefined) update({ attempt: inquired });
  });
  return records;
}

/** Reads the answer of an attempt's custom resource, or remembers why it cannot be read. */
async function readAnswer(
  deps: PassDeps,
  uid: string,
  { name, leftovers, refusals: stored }: NodeRecord,
): Promise<Pick<NodeRecord, 'refusals'> & { readonly answer: ActionAnswer | undefined }> {
  const backoff = createBackoff(deps.clock);
  const report = (text: string, isRepeated: boolean): Promise<void> =>
    deps.reporter.report({
      about: aboutNode({ name, uid }),
      decision: 'refused',
      reason: 'ActionRefused',
      message: `the answer of the custom resource is not known, and its time goes on: ${text}`,
      isRepeated,
      event: { type: 'Warning', reason: EVENT_REASONS.nodeRepairActionFailed },
    });
  const read = await backoff.try({ key: ANSWER, stored, restsOn: [leftovers?.resources], report }, async () => ({
    answer: await remediationAnswer(deps, leftovers ?? {}),
  }));
  return { answer: isRefused(read) ? undefined : read.answer, refusals: backoff.refusalsAfter(stored) };
}
