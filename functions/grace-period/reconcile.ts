/**
 * Grace periods: look at a node and its pods, decide, act. One record per node holds the timer and the announced keys; the annotations on the
 * Node say themselves whose they are.
 */
import type { PauseIfNotServed } from '../../shared/cluster/not-served.ts';
import { EVENT_REASONS } from '../../shared/contract/reasons.ts';
import { aboutSubject, type Subject } from '../../shared/contract/subject.ts';
import { nodeSubject } from '../../shared/domain/node.ts';
import { createBackoff, noteRefusedRead, reportWarning } from '../../shared/lifecycle/refusals.ts';
import type { Reporter } from '../../shared/lifecycle/reporter.ts';
import { settle, type Concern, type Observed, type Turn } from '../../shared/lifecycle/settle.ts';
import type { GoneSubject } from '../../shared/lifecycle/subject.ts';
import { openRecords, type TimedRecord, type UsedWakeUp } from '../../shared/lifecycle/timed-record.ts';
import { orUnavailable } from '../../shared/ports/read-answer.ts';
import { apply } from './apply.ts';
import type { GracePeriodContext, GracePeriodDeps, ReplaceableRules } from './context.ts';
import { decide, type GracePeriodDecision } from './decide.ts';
import { observe, type ObservedNode, type TargetNode } from './observe.ts';
import { GRACE_PERIOD_CODEC, recordIdOf, type GracePeriodRecord } from './record.ts';
import { reportGone } from './report.ts';

/** The rules that a grace period goes by. */
export const REPLACEABLE_RULES: ReplaceableRules = { decide };

/** The ports, helpers and rules of one look at a node. */
export interface ReconcileContext extends ReplaceableRules {
  readonly deps: GracePeriodDeps;
  readonly reporter: Reporter;
  readonly pauseIfNotServed: PauseIfNotServed;
}

/** Looks at a Node and acts until nothing is left to do. */
export async function reconcileNode(context: ReconcileContext, first: TargetNode, wakeUp?: UsedWakeUp): Promise<void> {
  const { deps, reporter, pauseIfNotServed } = context;
  const run: GracePeriodContext = {
    deps,
    reporter,
    backoff: createBackoff(deps.clock),
    isFromTimer: wakeUp !== undefined,
    announcements: [],
  };
  const records = openRecords(deps, GRACE_PERIOD_CODEC, wakeUp);
  let opened: { readonly uid: string; readonly timedRecord: TimedRecord<GracePeriodRecord> } | undefined;
  const timedRecordOf = (uid: string): TimedRecord<GracePeriodRecord> =>
    (opened = { uid, timedRecord: records(recordIdOf(uid)) }).timedRecord;
  if (first.uid !== undefined && (await timedRecordOf(first.uid).isWakeUpSuperseded())) return;
  let target = first;
  const firstState = (): { readonly subject: Subject; readonly value: GracePeriodRecord } | undefined =>
    opened && {
      subject: nodeSubject({ name: target.name, uid: opened.uid }),
      value: { announcedKeys: {} },
    };
  const reportOf = (subject: Subject) => reportWarning(reporter, aboutSubject(subject), EVENT_REASONS.readRefused);
  const concern: Concern<ObservedNode, GracePeriodDecision> = {
    what: `node ${first.name}`,
    async observe(): Promise<Observed<ObservedNode>> {
      const found = await orUnavailable(observe(deps, { timedRecordOf, announcements: run.announcements }, target));
      if (found.kind === 'unavailable') {
        // An annotated pod or a new Node: the record says all that their message did.
        const first = target.pods === 'always' ? firstState() : undefined;
        const { backoff } = run;
        await noteRefusedRead(found.error, {
          backoff,
          timedRecord: opened?.timedRecord,
          first,
          reportOf,
          isRequest: false,
        });
        return { kind: 'over' };
      }
      if (found.kind === 'nothing') return { kind: 'over' };
      if (found.kind === 'gone') return { kind: 'over', turn: await closeGone({ reporter }, found) };
      // I10: from now on this node is meant, not its name.
      target = { ...target, uid: found.observation.object.metadata.uid };
      return found;
    },
    decide: observed => context.decide(observed.observation),
    apply: (decision, observed) => apply(run, decision, observed),
  };
  await pauseIfNotServed(() => settle(concern), {
    openedRecord: () => opened?.timedRecord,
    // The Node is there: it is read before anything that may not be served.
    firstState,
  });
}

/** Closes the record of a node that is gone. */
async function closeGone(
  { reporter }: { readonly reporter: Reporter },
  { timedRecord, subject }: GoneSubject<GracePeriodRecord>,
): Promise<Turn> {
  const closed = await timedRecord.closeNow();
  if (closed.kind === 'done') await reportGone(reporter, subject);
  return closed;
}
