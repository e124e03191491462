/** `curfew explore`: two runs at once, in every order within the bounds. */
import { availableParallelism } from 'node:os';
import { runExploreTasks, type ExploreReport } from '../simulator/explorer/tasks.ts';
import { SITUATIONS } from '../simulator/explorer/situations/situations.ts';
import type { CommandOutput } from './command-output.ts';
import { createLateProgress } from './progress.ts';

export interface ExploreOptions {
  /** The size that `npm test` has. */
  readonly small?: boolean;
}

/**
 * Says on the terminal what it is at: the full size takes minutes a concern. Prints a line for each concern; its time is that of one
 * core. Answers 0: nothing found, 1: a schedule fails (it is printed), 2: there is no such concern.
 */
export async function exploreCommand(
  concerns: readonly string[],
  { small = false }: ExploreOptions,
  output: CommandOutput,
): Promise<number> {
  const known = new Set<string>(SITUATIONS.map(({ concern }) => concern));
  const unknown = concerns.filter(concern => !known.has(concern));
  if (unknown.length > 0) {
    output.error(`there are no situations for ${unknown.join(', ')}: choose of ${[...known].join(', ')}\n`);
    return 2;
  }
  const chosen = SITUATIONS.filter(({ concern }) => concerns.length === 0 || concerns.includes(concern));
  const tasks = chosen.map(situation => ({ situation: SITUATIONS.indexOf(situation), small }));
  const progress = createLateProgress(process.stderr);
  const reports: ExploreReport[] = [];
  await runExploreTasks(
    tasks,
    availableParallelism(),
    ({ situation, followed }) => {
      const { concern = '', name = '' } = SITUATIONS[situation] ?? {};
      const place = `${reports.length} of ${tasks.length} situations done`;
      progress.say(`${place}; ${concern}, ${name}: ${followed.toLocaleString('en')} schedules`);
    },
    report => {
      reports.push(report);
      progress.clear();
      if (report.failure !== undefined) output.out(`${report.failure}\n\n`);
      const own = reports.filter(({ concern }) => concern === report.concern);
      if (own.length === chosen.filter(({ concern }) => concern === report.concern).length) output.out(totalsOf(own));
    },
  );
  return reports.some(({ failure }) => failure !== undefined) ? 1 : 0;
}

function totalsOf(own: readonly ExploreReport[]): string {
  const sum = (field: 'schedules' | 'crashes' | 'seconds'): number =>
    own.reduce((total, each) => total + each[field], 0);
  const [concern, time] = [own[0]?.concern ?? '', sum('seconds').toFixed(1)];
  return `${concern}: ${own.length} pairs of messages, ${sum('schedules')} schedules, ${sum('crashes')} of them with a crash, ${time} s\n`;
}
