/**
 * A termination that would begin while its settings cannot be read waits: a hook that delays it may stand there (I6). An Event says so at once
 * and every hour, until they can be read or the deadline forces. Pods get their grace before it.
 */
import { EVENT_REASONS } from '../../../shared/contract/reasons.ts';
import { subjectOf } from '../../../shared/domain/kubernetes-object.ts';
import { addDuration, earliest, isReportDue, minutes, REPORT_EVERY, toTimestamp } from '../../../shared/domain/time.ts';
import type { SaveOutcome } from '../../../shared/lifecycle/timed-record.ts';
import type { StepContext } from './context.ts';
import type { TerminationDecision } from './decide.ts';
import { deleteDuePodsAlone } from './due-pods.ts';
import { storedOrEmpty, type ObservedTermination } from './observe.ts';
import { reportOnAll } from './report.ts';
import { waitOf, withWait } from './record.ts';

const CHECK = minutes(5);

/** Reports the wait before it is recorded, so that a run that dies in between reports it again (I9). */
export async function awaitSettings(
  context: Pick<StepContext, 'deps' | 'reporter' | 'run'>,
  { message, deadline }: Extract<TerminationDecision, { kind: 'awaitSettings' }>,
  observed: ObservedTermination,
): Promise<SaveOutcome> {
  const { object, timedRecord, stored, now } = observed;
  const end =
    deadline === undefined
      ? 'no deadline is known, for it may stand there too: a person has to correct it'
      : `the deadline ${toTimestamp(deadline.time)} (${deadline.source}) forces it`;
  const text = `${message}: the termination waits until that can be read; ${end}`;
  const earlierWait = waitOf(stored, 'unreadable');
  const isNew = earlierWait?.message !== text;
  const isReported = isNew || isReportDue(now, earlierWait.reportedTime);
  if (isReported) {
    await reportOnAll(
      { ...context, observed },
      {
        decision: 'wait',
        reason: EVENT_REASONS.terminationAwaitsSettings,
        message: text,
        isRepeated: !isNew,
        event: { type: 'Warning' },
      },
    );
  }
  const unreadable = {
    kind: 'unreadable' as const,
    message: text,
    reportedTime: isReported ? now : earlierWait.reportedTime,
  };
  const reportedAgain = addDuration(unreadable.reportedTime, REPORT_EVERY);
  const subject = subjectOf(object);
  const podsDue = await deleteDuePodsAlone(context, deadline, observed);
  const refusals = context.run.backoff.refusalsAfter(stored?.refusals);
  const value = { ...withWait(storedOrEmpty({ stored }), unreadable), ...(refusals !== undefined && { refusals }) };
  // An edit is an event of its own; what the API server did not answer, it may by now.
  const next = earliest(reportedAgain, addDuration(now, CHECK));
  const wakeTime = earliest(earliest(next, podsDue), deadline?.time);
  return await timedRecord.save({ subject, value, wakeTime });
}
