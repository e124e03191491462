/** `curfew explore`: two runs at once, in every order within the bounds. */
import { everydayBounds, explore, FULL_BOUNDS, type Exploration } from '../simulator/explorer/explore.ts';
import { describeFailure, totalsOf } from '../simulator/explorer/print.ts';
import { SITUATIONS } from '../simulator/explorer/situations/situations.ts';
import { PROCESS_OUTPUT, type CommandOutput } from './command-output.ts';
import { createLateProgress, type Terminal } from './progress.ts';

const SCHEDULES_PER_LINE = 100;

export interface ExploreOptions {
  /** The size that `npm test` has. */
  readonly small?: boolean;
}

/**
 * Says on the terminal which situation it is at: the full size takes minutes a concern. Answers 0: nothing found, 1: a schedule fails
 * (it is printed), 2: there is no such concern.
 */
export async function exploreCommand(
  concerns: readonly string[],
  { small = false }: ExploreOptions,
  output: CommandOutput = PROCESS_OUTPUT,
  terminal: Terminal = process.stderr,
): Promise<number> {
  const known = new Set<string>(SITUATIONS.map(({ concern }) => concern));
  const unknown = concerns.filter(concern => !known.has(concern));
  if (unknown.length > 0) {
    output.error(`there are no situations for ${unknown.join(', ')}: choose of ${[...known].join(', ')}\n`);
    return 2;
  }
  const progress = createLateProgress(terminal);
  let failures = 0;
  for (const concern of known) {
    if (concerns.length > 0 && !concerns.includes(concern)) continue;
    const begin = performance.now();
    const explorations: Exploration[] = [];
    const situations = SITUATIONS.filter(each => each.concern === concern);
    for (const [index, situation] of situations.entries()) {
      const place = `${concern}, situation ${index + 1} of ${situations.length}`;
      const exploration = await explore(situation, small ? everydayBounds(situation) : FULL_BOUNDS, {
        onSchedule(tried) {
          if (tried % SCHEDULES_PER_LINE !== 0) return;
          progress.say(`${place}: ${situation.name}, ${tried.toLocaleString('en')} schedules`);
        },
      });
      progress.clear();
      explorations.push(exploration);
      if (exploration.failure === undefined) continue;
      failures += 1;
      output.out(`${describeFailure(exploration, exploration.failure)}\n\n`);
    }
    const time = ((performance.now() - begin) / 1000).toFixed(1);
    for (const { pairs, schedules, crashes } of totalsOf(explorations)) {
      output.out(
        `${concern}: ${pairs} pairs of messages, ${schedules} schedules, ${crashes} of them with a crash, ${time} s\n`,
      );
    }
  }
  return failures > 0 ? 1 : 0;
}
