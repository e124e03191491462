/** How requests end without a drain of their own: answered at once, taken back, or not this cluster's. */
import { loadConfig } from '../../shared/cluster/configuration.ts';
import { EVENT_REASONS } from '../../shared/contract/reasons.ts';
import { addDuration, isDue } from '../../shared/domain/time.ts';
import type { About, Reporter } from '../../shared/lifecycle/reporter.ts';
import { ONWARD, type Turn } from '../../shared/lifecycle/settle.ts';
import type { FunctionDeps } from '../../shared/ports/function-deps.ts';
import type { NodeMessage } from './bus-event.ts';
import {
  type DrainContext,
  nodeOf,
  endUnchangedTurn,
  okUnlessTransient,
  report,
  saveForSweep,
  tryChange,
} from './context.ts';
import type { DrainDecision } from './rule/decision.ts';
import { publishAnswers } from './drain-completed.ts';
import { STALE_AGAIN } from './rule/late-events.ts';
import { answerNode, finishNode } from './node.ts';
import type { ObservedDrain } from './observe.ts';
import { isEnding } from './rule/phase.ts';
import type { DrainRecord } from './record.ts';
import type { FinishedDrain } from './request-record.ts';
type DecisionOf<Kind extends DrainDecision['kind']> = Extract<DrainDecision, { kind: Kind }>;

/** Answers a request that no drain is begun for. */
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
  await report(context, observed, {
    decision: 'answer',
    reason: given.reason,
    message: `${given.status}: ${given.message}`,
    details: { id: given.id, status: given.status, repeated: novelty === 'repeated' },
    ...(isFailed && { event: { type: 'Warning', reason: EVENT_REASONS.drainFailed } }),
    ...(isOld && { metric: { name: EVENT_REASONS.staleEvent } }),
    ...(isSaid && { event: { type: 'Warning', message: askAgain(given, observed.node.name) } }),
  });
  run.isMessageDone = true;
  return ONWARD;
}

const saysAgain = ({ record: { staleSaid }, now }: ObservedDrain): boolean =>
  staleSaid === undefined || isDue(now, addDuration(staleSaid, STALE_AGAIN));

const askAgain = ({ id, message }: FinishedDrain, node: string): string =>
  `nothing is drained for ${id}: ${message}. If the fault stands, curfew drain ${node} asks for the drain`;

/** Answers requests that are withdrawn, and releases the Node where nothing keeps it any more. */
export async function cancel(
  context: DrainContext,
  { record, because, answers, releasesNode, answersMessage }: DecisionOf<'cancel'>,
  observed: ObservedDrain,
): Promise<Turn> {
  const { deps, run } = context;
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
  const say = (): Promise<void> =>
    report(context, observed, {
      decision: releasesNode ? 'release' : 'cancel',
      reason: EVENT_REASONS.drainCancelled,
      message: releasesNode ? `${because}: nothing keeps the node any more` : `${because}${forOthers(record)}`,
      details: { ids: answers.map(({ id }) => id) },
    });
  // Said first: a run that loses the record finds nothing on the Node to release, and would not say it any more.
  if (releasesNode) await say();
  const saved = await saveForSweep(observed, record);
  if (!saved.written) return saved;
  if (!releasesNode) await say();
  if (!answersMessage) run.isMessageDone = true;
  if (record.active && isEnding(record.active)) run.endedDrainId = record.active.id;
  return ONWARD;
}

function forOthers({ active }: DrainRecord): string {
  if (active === undefined || isEnding(active)) return '';
  return `: drain ${active.id} goes on for ${active.requests.map(({ id }) => id).join(', ')}`;
}

type Deps = Pick<FunctionDeps, 'kubernetes' | 'records' | 'events' | 'audit' | 'clock' | 'cluster'>;

interface BusContext {
  readonly deps: Deps;
  readonly reporter: Reporter;
}

/**
 * Whether the message is over with that. Nothing is put on the bus: an event that is not quarantined may be by its next delivery, and one of
 * another cluster is the business of the Curfew there.
 */
export async function beginsNothing({ deps, reporter }: BusContext, message: NodeMessage): Promise<boolean> {
  const { id, incoming, nodeName, nodeUid } = message;
  const about: About = {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: { name: nodeName, ...(nodeUid !== undefined && { uid: nodeUid }) },
  };
  const other = await otherCluster(deps, message.clusters);
  if (other !== undefined) {
    await reporter.report({
      about,
      decision: 'answer',
      reason: 'OtherCluster',
      message: `the event is from cluster ${JSON.stringify(other)}, and this one is ${deps.cluster}; clusterNames lists further names`,
      details: { id, cluster: other },
      metric: { name: 'OtherCluster' },
    });
    return true;
  }
  if (incoming.kind !== 'notQuarantined') return false;
  await reporter.report({
    about,
    decision: 'answer',
    reason: 'NotQuarantined',
    message: `nothing is drained: ${incoming.message}`,
    details: { id, nodeQuarantined: incoming.status ?? null },
  });
  return true;
}

/** A name that is not this cluster's. The configuration is read only where there is one to compare. */
async function otherCluster(deps: Deps, clusters: readonly string[]): Promise<string | undefined> {
  const others = clusters.filter(name => name !== deps.cluster);
  if (others.length === 0) return undefined;
  const { clusterNames } = (await loadConfig('drain', deps)).healthEvents;
  return others.find(name => !clusterNames.includes(name));
}
