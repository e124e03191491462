/** Situations explored side by side, in threads or in this one. */
import { runInThreads } from '../threads.ts';
import { everydayBounds, explore, FULL_BOUNDS } from './explore.ts';
import { describeFailure } from './print.ts';
import { SITUATIONS } from './situations/situations.ts';
import { invariant } from '../../shared/domain/invariant.ts';

export interface ExploreTask {
  /** Its place among `SITUATIONS`. */
  readonly situation: number;
  /** The size that `npm test` has. */
  readonly small: boolean;
}

export interface ExploreReport {
  readonly situation: number;
  readonly concern: string;
  readonly schedules: number;
  readonly crashes: number;
  readonly seconds: number;
  /** The shortest failing schedule, for people. */
  readonly failure: string | undefined;
}

/** How far a situation is. */
export interface ExploreNews {
  readonly situation: number;
  readonly followed: number;
}

/** News comes after each hundred schedules that were followed. */
const FOLLOWED_PER_NEWS = 100;

export async function exploreTask(
  { situation: place, small }: ExploreTask,
  onNews: (news: ExploreNews) => void,
): Promise<ExploreReport> {
  const situation = SITUATIONS[place];
  invariant(situation !== undefined, 'a task names a situation that there is');
  const begin = performance.now();
  const exploration = await explore(situation, small ? everydayBounds(situation) : FULL_BOUNDS, {
    onSchedule(followed) {
      if (followed % FOLLOWED_PER_NEWS === 0) onNews({ situation: place, followed });
    },
  });
  const { schedules, crashes, failure } = exploration;
  return {
    situation: place,
    concern: situation.concern,
    schedules,
    crashes,
    seconds: (performance.now() - begin) / 1000,
    failure: failure && describeFailure(exploration, failure),
  };
}

/** As `runInThreads`, in the order of `tasks`. */
export function runExploreTasks(
  tasks: readonly ExploreTask[],
  jobs: number,
  onNews: (news: ExploreNews) => void,
  onReport: (report: ExploreReport) => void,
): Promise<void> {
  const module = new URL('worker.ts', import.meta.url);
  return runInThreads(tasks, jobs, { module, run: exploreTask, isReport, onNews }, report => {
    onReport(report);
    return 'continue';
  });
}

function isReport(value: unknown): value is ExploreReport {
  return typeof value === 'object' && value !== null && 'schedules' in value;
}
