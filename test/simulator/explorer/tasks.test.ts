import { describe, expect, it } from 'vitest';
import { SITUATIONS } from '../../../simulator/explorer/situations/situations.ts';
import { runExploreTasks, type ExploreReport } from '../../../simulator/explorer/tasks.ts';

const tasks = SITUATIONS.flatMap(({ concern }, situation) => (concern === 'timer' ? [{ situation, small: true }] : []));

async function reports(jobs: number): Promise<readonly ExploreReport[]> {
  const all: ExploreReport[] = [];
  await runExploreTasks(
    tasks,
    jobs,
    () => undefined,
    report => all.push(report),
  );
  return all.map(report => ({ ...report, seconds: 0 })).toSorted((a, b) => a.situation - b.situation);
}

describe('situations', () => {
  it('are explored in threads as in this one', async () => {
    const here = await reports(1);
    expect(here.map(({ situation, concern, failure }) => ({ situation, concern, failure }))).toEqual(
      tasks.map(({ situation }) => ({ situation, concern: 'timer', failure: undefined })),
    );
    for (const { schedules, crashes } of here) expect(schedules).toBeGreaterThan(crashes);
    expect(await reports(2)).toEqual(here);
  });
});
