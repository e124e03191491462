import { describe, expect, it } from 'vitest';
import { startScheduler } from '../src/scheduler.ts';
import { minutes, seconds } from '../../../shared/domain/time.ts';
import { createManualClock } from '../../../test/fakes/manual-clock.ts';

const TICK = {
  name: 'tick',
  groupName: 'default',
  roleArn: 'role/tick',
  expression: 'rate(1 minute)',
  queueName: 'timer',
  input: '{"tick":1}',
};

function start(send?: (queueName: string, body: string) => Promise<void>, mayBeSent = true) {
  const clock = createManualClock();
  const sent: string[] = [];
  const problems: Error[] = [];
  const scheduler = startScheduler({
    schedules: [TICK],
    clock,
    mayBeSent: () => mayBeSent,
    send: send ?? (async (queueName, body) => void sent.push(`${queueName} ${body}`)),
    onProblem: problem => problems.push(problem),
  });
  return { clock, sent, problems, scheduler };
}

describe('local scheduler', () => {
  it('fires a rate at once and then at each period', async () => {
    const { clock, sent, scheduler } = start();
    await clock.advance(0);
    expect(sent).toEqual(['timer {"tick":1}']);
    await clock.advance(minutes(3));
    expect(sent).toHaveLength(4);
    await scheduler.stop();
  });

  it('does not drift when a delivery takes long', async () => {
    const clock = createManualClock();
    const times: number[] = [];
    const scheduler = startScheduler({
      schedules: [TICK],
      clock,
      mayBeSent: () => true,
      send: async () => {
        times.push(clock.now());
        await clock.sleep(seconds(20));
      },
      onProblem: () => {},
    });
    await clock.advance(minutes(2.5));
    await scheduler.stop();
    expect(times.map(time => time - (times[0] ?? 0))).toEqual([0, 60_000, 120_000]);
  });

  it('goes on after a delivery that failed, and says so', async () => {
    let calls = 0;
    const { clock, problems, scheduler } = start(async () => {
      calls += 1;
      throw new Error('no queue');
    });
    await clock.advance(minutes(1));
    await scheduler.stop();
    expect(calls).toBe(2);
    expect(problems).toMatchObject([
      { message: 'sending the message of schedule tick', cause: { message: 'no queue' } },
      {},
    ]);
  });

  it('sends nothing by a role that may not, and says so each time', async () => {
    const { clock, sent, problems, scheduler } = start(undefined, false);
    await clock.advance(minutes(1));
    await scheduler.stop();
    expect(sent).toEqual([]);
    expect(problems.map(({ cause }) => String(cause))).toEqual(
      Array(2).fill('Error: its role has no sqs:SendMessage on timer'),
    );
  });

  it('fires no more once it is stopped, and leaves nobody asleep', async () => {
    const { clock, sent, scheduler } = start();
    await clock.advance(0);
    await scheduler.stop();
    await clock.advance(minutes(5));
    expect(sent).toHaveLength(1);
    expect(clock.sleepers()).toBe(0);
  });
});
