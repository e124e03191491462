/** Ends of requests without a drain of their own: answered at once, or taken back. */
import { isReportDue } from '../../shared/domain/time.ts';
import { PROGRESSED, type Turn } from '../../shared/lifecycle/settle.ts';
import type { DrainContext } from './context.ts';
import { nodeOf, publishAnswers } from './drain-completed.ts';
import { answerNode, finishNode } from './node.ts';
import type { ObservedDrain, ObservedNode } from './observe.ts';
import { reportAnswer, reportCancelled, reportDeferredRecovery } from './report.ts';
import type { DecisionOf } from './rule/decision.ts';
import { isOnlyObserved } from './rule/pauses.ts';
import { isEnding } from './rule/phase.ts';
import { saveForSweep } from './save.ts';
import { endUnchangedTurn, okUnlessTransient, tryChange } from './try-change.ts';

/** Answers a request for which no drain begins. */
export async function answer(
  context: DrainContext,
  decision: DecisionOf<'answer'>,
  observed: ObservedDrain,
): Promise<Turn> {
  const { deps, run } = context;
  const { answer: given, novelty } = decision;
  const isOld = novelty === 'tooOld';
  const isFailed = given.status === 'Failed' && novelty === 'new' && decision.record.active === undefined;
  const isReported = isOld && isStaleReportDue(observed);
  const record = isReported ? { ...decision.record, staleReportedTime: observed.now } : decision.record;
  if (!isOnlyObserved(observed)) {
    const ended = [given];
    const changed = okUnlessTransient(
      isFailed
        ? await tryChange(context, observed, 'finish', () =>
            finishNode(deps, observed.object, { status: 'Failed', uncordon: false, ended }),
          )
        : await tryChange(context, observed, 'answer', () => answerNode(deps, observed.object, ended)),
    );
    if (changed.kind !== 'ok') return endUnchangedTurn(observed, changed, !run.isMessageDone);
  }
  await publishAnswers(deps, nodeOf(observed), [given]);
  const isKept = isOld ? isReported : novelty === 'new';
  const saved = isKept ? await saveForSweep(observed, record) : undefined;
  if (saved?.written === false) return saved;
  await reportAnswer(context, observed, given, { novelty, isFailed, isReported });
  run.isMessageDone = true;
  return PROGRESSED;
}

/** Whether an Event about an old HealthEvent is due: however many come, a Node gets one in this time (I11). */
const isStaleReportDue = ({ record: { staleReportedTime }, now }: ObservedDrain): boolean =>
  isReportDue(now, staleReportedTime);

/** Notes a recovery that has to last before it ends anything. */
export async function deferRecovery(
  context: DrainContext,
  { record, message }: DecisionOf<'deferRecovery'>,
  observed: ObservedNode,
): Promise<Turn> {
  const isReported = isReportDue(observed.now, record.flappingReportedTime);
  // Said first: a run that dies in between says it again, and once the record has it nobody does.
  await reportDeferredRecovery(context, observed, { message, isReported });
  const saved = await saveForSweep(observed, isReported ? { ...record, flappingReportedTime: observed.now } : record);
  return saved.written ? PROGRESSED : saved;
}

/** Answers requests that are withdrawn, and releases the Node where nothing keeps it any more. */
export async function cancel(
  context: DrainContext,
  decision: DecisionOf<'cancel'>,
  observed: ObservedNode,
): Promise<Turn> {
  const { deps, run } = context;
  const { record, answers, releasesNode, answersMessage } = decision;
  const uncordon = observed.node.cordonMark !== undefined;
  const tried = releasesNode
    ? await tryChange(context, observed, 'finish', () =>
        finishNode(deps, observed.object, { status: 'Cancelled', uncordon, ended: answers }),
      )
    : await tryChange(context, observed, 'answer', () => answerNode(deps, observed.object, answers));
  const changed = okUnlessTransient(tried);
  if (changed.kind !== 'ok') return endUnchangedTurn(observed, changed, !run.isMessageDone);
  await publishAnswers(deps, nodeOf(observed), answers);
  const isReleased = releasesNode && tried.kind === 'ok';
  // Said first: a run that loses the record finds nothing on the Node to release, and would not say it any more.
  if (releasesNode) await reportCancelled(context, observed, decision, isReleased);
  const saved = await saveForSweep(observed, record);
  if (!saved.written) return saved;
  if (!releasesNode) await reportCancelled(context, observed, decision, isReleased);
  if (!answersMessage) run.isMessageDone = true;
  if (record.active && isEnding(record.active)) run.endedDrainId = record.active.id;
  return PROGRESSED;
}
