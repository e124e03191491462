/** Puts our finalizer on objects that are alive, or takes it off where no termination of ours applies any more. */
import type { FinalizerContext } from '../common/context.ts';
import { oneByOne } from '../../../shared/cluster/in-parallel.ts';
import { EVENT_REASONS } from '../../../shared/contract/reasons.ts';
import { subjectOf } from '../../../shared/domain/kubernetes-object.ts';
import { anotherTurn, type Turn } from '../../../shared/lifecycle/settle.ts';
import {
  isRefused,
  joinRefusals,
  reportWarning,
  type RefusedChange,
  type Backoff,
} from '../../../shared/lifecycle/refusals.ts';
import type { TerminationDecision } from './decide.ts';
import { setFinalizers } from './finalizers.ts';
import { closeUnneeded } from './end.ts';
import { storedOrEmpty, type ObservedTermination } from './observe.ts';
import { withWait } from './record.ts';
import { rememberPool } from './known-pools.ts';

interface PrepareContext extends FinalizerContext {
  readonly backoff: Backoff;
}

/**
 * Writes with the UID and version that were looked at; an object that has changed since ends the turn, which begins again. A refusal by an
 * admission policy is reported and tried again.
 */
export async function prepare(
  { deps, reporter, backoff }: PrepareContext,
  { changes }: Extract<TerminationDecision, { kind: 'prepare' }>,
  observed: ObservedTermination,
): Promise<Turn> {
  const isPutOn = changes.some(({ finalizerMark }) => finalizerMark !== undefined);
  if (isPutOn && observed.nodePool !== undefined) await rememberPool(deps, observed.nodePool);
  const refused: RefusedChange[] = [];
  let changed: string | undefined;
  await oneByOne(changes, async ({ object, finalizers, finalizerMark }) => {
    const source = [observed.object, ...observed.nodes].find(({ metadata }) => metadata.uid === object.uid);
    if (source === undefined || changed !== undefined) return;
    const outcome = await backoff.try(
      {
        key: object.uid,
        stored: observed.stored?.refusals,
        restsOn: [source, finalizers, finalizerMark],
        report: reportWarning(reporter, source, EVENT_REASONS.nodeChangeRefused),
      },
      () => setFinalizers(deps, source, finalizers, finalizerMark),
    );
    if (isRefused(outcome)) {
      refused.push(outcome);
      return;
    }
    if (outcome.kind !== 'ok') {
      changed = `${object.kind} ${object.name} ${outcome.kind === 'notFound' ? 'is gone' : 'changed'}`;
      return;
    }
    await reporter.report({
      about: source,
      decision: 'prepare',
      reason: finalizerMark === undefined ? 'FinalizerRemoved' : 'FinalizerAdded',
      message:
        finalizerMark === undefined
          ? 'no termination of ours applies any more'
          : `the finalizer ${finalizerMark} is on`,
      details: { finalizers: [...finalizers] },
    });
  });
  if (changed !== undefined) return anotherTurn(changed);
  return refused.length === 0 ? closeUnneeded(observed) : tryAgain(backoff, refused, observed);
}

/** Keeps the refusals in the record. Throws the error if the message goes back to the queue. */
function tryAgain(backoff: Backoff, refused: readonly RefusedChange[], observed: ObservedTermination): Promise<Turn> {
  const { object, stored, timedRecord } = observed;
  const subject = subjectOf(object);
  const refusals = backoff.refusalsAfter(stored?.refusals);
  const why = refused.map(({ message }) => message).join('; ');
  const waiting = withWait(storedOrEmpty({ stored }), { kind: 'refused', message: why });
  const value = { ...waiting, ...(refusals !== undefined && { refusals }) };
  const { until = observed.now, redeliveryError } = joinRefusals(refused);
  return timedRecord.save({ subject, value, wakeTime: until, redeliveryError });
}
