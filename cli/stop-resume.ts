/** `curfew stop` and `curfew resume`: no function of a deployment runs, and all run again, in one command. */
import { systemClock } from '../shared/adapters/system-clock.ts';
import type { Clock } from '../shared/ports/clock.ts';
import { PROCESS_OUTPUT, type CommandOutput } from './command-output.ts';
import { reportingFailure } from './failure.ts';
import { isOfThisMachine, readDeployment } from './operate/deployment.ts';
import { createSwitches } from './operate/switches.ts';
import { UsageError } from './usage-error.ts';

export interface SwitchOptions {
  /** Name of the functions stack. */
  readonly stack: string;
  readonly region?: string;
}

export interface CommandParts {
  readonly output?: CommandOutput;
  readonly clock?: Clock;
}

/** Exit code 0: no function runs. 2: something could not be switched; what was is said, and the rest was tried. */
export const stopCommand = (options: SwitchOptions, parts: CommandParts = {}): Promise<number> =>
  switchAll(options, false, parts);

/** Exit code 0: all functions run. 2: as for `stop`. */
export const resumeCommand = (options: SwitchOptions, parts: CommandParts = {}): Promise<number> =>
  switchAll(options, true, parts);

function switchAll({ stack, ...client }: SwitchOptions, on: boolean, parts: CommandParts): Promise<number> {
  const { output = PROCESS_OUTPUT, clock = systemClock } = parts;
  const done = on ? 'enabled' : 'disabled';
  let failures = 0;
  const attempt = async (what: string, set: () => Promise<boolean>): Promise<void> => {
    try {
      output.out(`${what}: ${(await set()) ? done : `was ${done} already`}\n`);
    } catch (error) {
      if (!(error instanceof UsageError)) throw error;
      failures += 1;
      output.error(`${error.message}\n`);
    }
  };
  return reportingFailure(output, async () => {
    if (await isOfThisMachine(stack, client)) throw new UsageError(NO_SWITCHES);
    const functions = await readDeployment(stack, client);
    const switches = createSwitches(client, clock);
    const sources = () =>
      Promise.all(functions.map(fn => attempt(`event source of ${fn.name}`, () => switches.setEventSource(fn, on))));
    const schedules = async () => {
      for (const { name, schedule } of functions) {
        await attempt(`ticks of ${name}`, () =>
          schedule === undefined ? Promise.reject(unnamed(name)) : switches.setSchedule(schedule, on),
        );
      }
    };
    // Ticks are on only while somebody takes them out of the inbox.
    for (const step of on ? [sources, schedules] : [schedules, sources]) await step();
    if (failures > 0) {
      output.error(`${failures} could not be ${done}: mend the cause and run the command again\n`);
      return 2;
    }
    output.out(
      on ? `${stack} runs again.\n` : `${stack} is stopped. curfew resume --stack ${stack} starts it again.\n`,
    );
    return 0;
  });
}

/** The local stack runs its functions by itself. */
const NO_SWITCHES = `this is the stack of npm start -- --serve, which has no event sources and schedules to switch: nothing was changed
  Ctrl-C where it runs stops everything
  kubectl patch nlp NAME --type merge -p '{"spec":{"mode":"Observe"}}' stops one policy`;

/** A stack of an early version: its ticks go on, so it is not stopped. */
const unnamed = (name: string): UsageError =>
  new UsageError(
    `ticks of ${name}: no output of the stack names their schedule, so they stay as they are: deploy this version first`,
  );
