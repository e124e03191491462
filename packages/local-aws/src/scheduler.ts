/** EventBridge Scheduler on one machine: each schedule's message goes to its queue when its time comes. What was missed while the machine slept is skipped. */
import { durationBetween, toEpochMs } from '../../../shared/domain/time.ts';
import type { Clock } from '../../../shared/ports/clock.ts';
import type { ScheduleModel } from './model.ts';
import { parseScheduleExpression } from './schedule-expression.ts';

export interface SchedulerOptions {
  readonly schedules: readonly ScheduleModel[];
  readonly clock: Clock;
  /** Whether its role lets a schedule send to its queue. */
  readonly mayBeSent: (schedule: ScheduleModel) => boolean;
  readonly send: (queueName: string, body: string) => Promise<void>;
  /** A delivery failed; the schedule goes on. */
  readonly onProblem: (problem: Error) => void;
}

export interface LocalScheduler {
  stop(): Promise<void>;
}

/** Throws an Error for an expression that does not run locally, before anything is sent. */
export function startScheduler(options: SchedulerOptions): LocalScheduler {
  const stopping = new AbortController();
  const running = options.schedules
    .map(schedule => ({ schedule, next: parseScheduleExpression(schedule.expression) }))
    .map(({ schedule, next }) => run(schedule, next, options, stopping.signal));
  return {
    async stop() {
      stopping.abort();
      await Promise.all(running);
    },
  };
}

async function run(
  schedule: ScheduleModel,
  next: ReturnType<typeof parseScheduleExpression>,
  { clock, mayBeSent, send, onProblem }: SchedulerOptions,
  signal: AbortSignal,
): Promise<void> {
  const start = clock.now();
  let due = next(start, start);
  while (due !== undefined && !signal.aborted) {
    try {
      await clock.sleep(durationBetween(clock.now(), due), signal);
    } catch (error) {
      if (signal.aborted) return;
      throw error;
    }
    try {
      if (!mayBeSent(schedule)) throw new Error(`its role has no sqs:SendMessage on ${schedule.queueName}`);
      await send(schedule.queueName, schedule.input);
    } catch (error) {
      onProblem(new Error(`sending the message of schedule ${schedule.name}`, { cause: error }));
    }
    due = next(start, toEpochMs(Math.max(due + 1, clock.now())));
  }
}
