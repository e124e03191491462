/** Ends of requests without a drain of their own: answered at once, taken back, or not this cluster's. */
import { loadConfig } from '../../shared/cluster/configuration.ts';
import { isReportDue } from '../../shared/domain/time.ts';
import { PROGRESSED, type Turn } from '../../shared/lifecycle/settle.ts';
import type { NodeMessage } from './bus-event.ts';
import type { DrainContext } from './context.ts';
import { nodeOf, publishAnswers } from './drain-completed.ts';
import { answerNode, finishNode } from './node.ts';
import type { DrainDeps, ObservedDrain } from './observe.ts';
import { OWNER } from './record.ts';
import {
  reportAnswer,
  reportCancelled,
  reportNotQuarantined,
  reportOtherCluster,
  type ReportContext,
} from './report.ts';
import type { DecisionOf } from './rule/decision.ts';
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
  const isSaid = isOld && saysAgain(observed);
  const record = isSaid ? { ...decision.record, staleSaid: observed.now } : decision.record;
  if (observed.mode === 'Enforce') {
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
  const isKept = isOld ? isSaid : novelty === 'new';
  const saved = isKept ? await saveForSweep(observed, record) : undefined;
  if (saved?.written === false) return saved;
  await reportAnswer(context, observed, given, { novelty, isFailed, isSaid });
  run.isMessageDone = true;
  return PROGRESSED;
}

/** Whether an Event about an old HealthEvent is due: however many come, a Node gets one in this time (I11). */
const saysAgain = ({ record: { staleSaid }, now }: ObservedDrain): boolean => isReportDue(now, staleSaid);

/** Answers requests that are withdrawn, and releases the Node where nothing keeps it any more. */
export async function cancel(
  context: DrainContext,
  decision: DecisionOf<'cancel'>,
  observed: ObservedDrain,
): Promise<Turn> {
  const { deps, run } = context;
  const { record, answers, releasesNode, answersMessage } = decision;
  const uncordon = observed.node.cordonMark !== undefined;
  const changed = okUnlessTransient(
    releasesNode
      ? await tryChange(context, observed, 'finish', () =>
          finishNode(deps, observed.object, { status: 'Cancelled', uncordon, ended: answers }),
        )
      : await tryChange(context, observed, 'answer', () => answerNode(deps, observed.object, answers)),
  );
  if (changed.kind !== 'ok') return endUnchangedTurn(observed, changed, !run.isMessageDone);
  await publishAnswers(deps, nodeOf(observed), answers);
  // Said first: a run that loses the record finds nothing on the Node to release, and would not say it any more.
  if (releasesNode) await reportCancelled(context, observed, decision);
  const saved = await saveForSweep(observed, record);
  if (!saved.written) return saved;
  if (!releasesNode) await reportCancelled(context, observed, decision);
  if (!answersMessage) run.isMessageDone = true;
  if (record.active && isEnding(record.active)) run.endedDrainId = record.active.id;
  return PROGRESSED;
}

/**
 * Reports a message that begins nothing. Nothing is put on the bus: an event that is not quarantined may be by its next delivery, and one of
 * another cluster is the business of the Curfew there.
 *
 * @returns whether the message is over with that
 */
export async function beginsNothing(context: ReportContext, message: NodeMessage): Promise<boolean> {
  const { id, incoming, nodeName, nodeUid } = message;
  const target = { name: nodeName, uid: nodeUid };
  const other = await otherCluster(context.deps, message.clusters);
  if (other !== undefined) await reportOtherCluster(context, target, id, other);
  else if (incoming.kind === 'notQuarantined') await reportNotQuarantined(context, target, id, incoming);
  return other !== undefined || incoming.kind === 'notQuarantined';
}

/** The first name that is not this cluster's; undefined: none. The configuration is read only where there is one to compare. */
async function otherCluster(deps: DrainDeps, clusters: readonly string[]): Promise<string | undefined> {
  const others = clusters.filter(name => name !== deps.cluster);
  if (others.length === 0) return undefined;
  const { clusterNames } = (await loadConfig(OWNER, deps)).healthEvents;
  return others.find(name => !clusterNames.includes(name));
}
