/**
 * The kill switch: the event sources and schedules of all functions. While they are off no function runs. A message is not received, so
 * it does not come closer to the dead letters; no tick is sent, so none piles up.
 */
import {
  GetEventSourceMappingCommand,
  LambdaClient,
  UpdateEventSourceMappingCommand,
  type EventSourceMappingConfiguration,
} from '@aws-sdk/client-lambda';
import {
  GetScheduleCommand,
  SchedulerClient,
  UpdateScheduleCommand,
  type UpdateScheduleCommandInput,
} from '@aws-sdk/client-scheduler';
import { seconds, addDuration } from '../../shared/domain/time.ts';
import type { Clock } from '../../shared/ports/clock.ts';
import { orUsageError, type ClientOptions, type DeployedFunction } from './deployment.ts';
import { UsageError } from '../usage-error.ts';

export interface Switches {
  /** Enables or disables the ticks of a function. Answers false when they were so already. */
  setSchedule(name: string, on: boolean): Promise<boolean>;
  /** Enables or disables an event source, and resolves when it is so. Answers false when it was so already. */
  setEventSource(fn: DeployedFunction, on: boolean): Promise<boolean>;
}

/** Time that Lambda may take; usually it takes some seconds. */
const SETTLES_WITHIN = seconds(180);
const LOOK_AGAIN_AFTER = seconds(2);

/** Throws `UsageError` with AWS's words, and when an event source has not settled within `SETTLES_WITHIN`. */
export function createSwitches(options: ClientOptions, clock: Clock): Switches {
  const lambda = new LambdaClient(options);
  const scheduler = new SchedulerClient(options);
  return {
    async setSchedule(name, on) {
      const State = on ? 'ENABLED' : 'DISABLED';
      return orUsageError(`switching the schedule ${name}`, async () => {
        const { ActionAfterCompletion, Description, EndDate, FlexibleTimeWindow, ...found } = await scheduler.send(
          new GetScheduleCommand({ Name: name }),
        );
        if (found.State === State) return false;
        const { GroupName, KmsKeyArn, ScheduleExpression, ScheduleExpressionTimezone, StartDate, Target } = found;
        // An update replaces all of it, so it is sent back as it was found.
        const update: UpdateScheduleCommandInput = {
          Name: name,
          ActionAfterCompletion,
          Description,
          EndDate,
          FlexibleTimeWindow,
          GroupName,
          KmsKeyArn,
          ScheduleExpression,
          ScheduleExpressionTimezone,
          StartDate,
          Target,
          State,
        };
        await scheduler.send(new UpdateScheduleCommand(update));
        return true;
      });
    },
    async setEventSource({ name, eventSource: UUID }, on) {
      const wanted = on ? 'Enabled' : 'Disabled';
      return orUsageError(`switching the event source of ${name}`, async () => {
        const look = (): Promise<EventSourceMappingConfiguration> =>
          lambda.send(new GetEventSourceMappingCommand({ UUID }));
        if ((await look()).State === wanted) return false;
        const deadline = addDuration(clock.now(), SETTLES_WITHIN);
        let asked = false;
        for (;;) {
          const { State = 'unknown' } = await look();
          if (State === wanted) return true;
          // While it changes (`Creating`, `Enabling`, `Disabling`, `Updating`) Lambda refuses another change.
          if (!asked && /^(Enabled|Disabled)$/.test(State)) {
            await lambda.send(new UpdateEventSourceMappingCommand({ UUID, Enabled: on }));
            asked = true;
          } else if (clock.now() >= deadline) {
            throw new UsageError(`it is ${State} after ${SETTLES_WITHIN / 1000} s; run the command again`);
          }
          await clock.sleep(LOOK_AGAIN_AFTER);
        }
      });
    },
  };
}
