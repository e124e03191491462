/** The changes and timers that ask for a look at the policies. */
import type { PolicyStatusDeps } from './context.ts';
import { COUNT_SPACING, reconcilePolicies, SPACING, STATUS_TEXT } from './reconcile.ts';
import { countTimeOf, STATUS_CODEC, STATUS_ID, STATUS_SUBJECT } from './record.ts';
import { OWNER } from '../common/context.ts';
import { addDuration, isDue, seconds } from '../../../shared/domain/time.ts';
import { type Coalescer, createCoalescer } from '../../../shared/lifecycle/coalesce.ts';
import { ALL } from '../../../shared/lifecycle/next-round.ts';
import { DONE } from '../../../shared/lifecycle/settle.ts';
import {
  doneIfWritten,
  isTimerOf,
  openRecord,
  updateRecord,
  type UsedWakeUp,
} from '../../../shared/lifecycle/timed-record.ts';
import type { WakeUpRoute } from '../../../shared/lifecycle/wake-up-route.ts';

/** Looks because a pool has repairs by now, or none any more, are this far apart. */
const ZERO_SPACING = seconds(10);

/** Asks for a look after a policy was added, edited or removed. */
export async function policyChanged(deps: PolicyStatusDeps): Promise<void> {
  await looksOf(deps).request(ALL);
}

/** Asks for a look after pools, nodes, repairs or the gate changed. @param urgency `count`: only numbers did */
export async function surroundingsChanged(deps: PolicyStatusDeps, urgency: 'count' | 'zero'): Promise<void> {
  let isNow = false;
  const timedRecord = openRecord(deps, STATUS_CODEC, STATUS_ID);
  await updateRecord(STATUS_TEXT, timedRecord, async loaded => {
    if (loaded.kind === 'none') return DONE;
    const { value, stored } = loaded;
    const next =
      urgency === 'count' ? addDuration(countTimeOf(value), COUNT_SPACING) : addDuration(value.lookTime, ZERO_SPACING);
    isNow = isDue(deps.clock.now(), next);
    const isAsked = stored.nextWakeTime !== undefined && stored.nextWakeTime <= next;
    return isNow || isAsked
      ? DONE
      : doneIfWritten(await timedRecord.save({ subject: STATUS_SUBJECT, value, wakeTime: next }));
  });
  if (isNow) await policyChanged(deps);
}

/** Asks for a look when the timer of the record is due. */
export async function statusDue(deps: PolicyStatusDeps, wakeUp: UsedWakeUp): Promise<void> {
  const loaded = await openRecord(deps, STATUS_CODEC, STATUS_ID).load();
  if (isTimerOf(loaded, wakeUp, deps.clock.now())) await policyChanged(deps);
}

/** Timers of the record, and of a look that waits or has died. */
export const statusTimers = (deps: PolicyStatusDeps): readonly WakeUpRoute[] => [
  {
    takes: ({ kind, name }) => kind === STATUS_SUBJECT.kind && name === STATUS_SUBJECT.name,
    timerDue: wakeUp => statusDue(deps, wakeUp),
  },
  looksOf(deps),
];

const looksOf = (deps: PolicyStatusDeps): Coalescer =>
  createCoalescer(deps, { owner: OWNER, name: STATUS_ID, spacing: SPACING, run: () => reconcilePolicies(deps) });
