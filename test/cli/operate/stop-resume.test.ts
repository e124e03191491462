import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { resumeCommand, stopCommand } from '../../../cli/stop-resume.ts';
import { startAwsControlPlane, type AwsControlPlane } from '../../fakes/aws-control-plane.ts';
import { createManualClock } from '../../fakes/manual-clock.ts';

const TICK = {
  State: 'ENABLED',
  GroupName: 'default',
  ScheduleExpression: 'rate(1 minute)',
  FlexibleTimeWindow: { Mode: 'OFF' },
  Description: 'Lets the timer function sweep the due index',
  Target: { Arn: 'arn:aws:sqs:::timer', RoleArn: 'arn:aws:iam:::role/tick', Input: '{}' },
};

let plane: AwsControlPlane;
beforeEach(async () => {
  plane = await startAwsControlPlane();
  for (const [key, value] of Object.entries({ ...plane.environment, AWS_MAX_ATTEMPTS: '1' })) {
    vi.stubEnv(key, value);
  }
  for (const [name, id] of [
    ['Repair', 'mapping-1'],
    ['Timer', 'mapping-2'],
  ] as const) {
    plane.outputs.set(`${name}EventSource`, id);
    plane.outputs.set(`${name}Schedule`, `tick-of-${name}`);
    plane.outputs.set(`${name}Inbox`, 'unused');
    plane.outputs.set(`${name}DeadLetters`, 'unused');
    plane.eventSources.set(id, 'Enabled');
    plane.schedules.set(`tick-of-${name}`, TICK);
  }
});
afterEach(async () => {
  vi.unstubAllEnvs();
  await plane.stop();
});

/** Runs the command; its waits end at once. */
async function run(command: typeof stopCommand, stack = 'Curfew') {
  const clock = createManualClock();
  let [out, error] = ['', ''];
  const output = { out: (text: string) => void (out += text), error: (text: string) => void (error += text) };
  const instant = {
    ...clock,
    sleep: async (duration: number) =>
      void (await Promise.all([clock.sleep(duration as never), clock.advance(duration)])),
  };
  const code = await command({ stack }, { output, clock: instant });
  return { code, out, error };
}
const states = () => [...plane.eventSources.values(), ...[...plane.schedules.values()].map(({ State }) => State)];

describe('curfew stop', () => {
  it('disables every schedule and event source, ticks first', async () => {
    const { code, out, error } = await run(stopCommand);
    expect([code, error]).toEqual([0, '']);
    expect(states()).toEqual(['Disabled', 'Disabled', 'DISABLED', 'DISABLED']);
    expect(plane.changes.slice(0, 2)).toEqual(['tick-of-Repair off', 'tick-of-Timer off']);
    expect(out).toContain('event source of repair: disabled');
    expect(out).toContain('Curfew is stopped. curfew resume --stack Curfew starts it again.');
  });

  it('does not say that it is stopped where no output names a schedule: its ticks go on', async () => {
    plane.outputs.delete('TimerSchedule');
    const { code, out, error } = await run(stopCommand);
    expect([code, error]).toEqual([
      2,
      expect.stringMatching(/^ticks of timer: no output of the stack names their schedule/),
    ]);
    expect(out).not.toContain('Curfew is stopped');
    expect(states()).toEqual(['Disabled', 'Disabled', 'DISABLED', 'ENABLED']);
  });

  it('leaves the rest of a schedule as it is', async () => {
    await run(stopCommand);
    expect(plane.schedules.get('tick-of-Timer')).toMatchObject({ ...TICK, State: 'DISABLED' });
  });

  it('changes nothing of what is stopped already', async () => {
    await run(stopCommand);
    const before = plane.changes.length;
    const { code, out } = await run(stopCommand);
    expect([code, plane.changes.length]).toEqual([0, before]);
    expect(out).toContain('ticks of timer: was disabled already');
  });

  it('waits until a change that is under way is done', async () => {
    plane.eventSources.set('mapping-1', 'Enabling');
    expect((await run(stopCommand)).code).toBe(0);
    expect(states()).toEqual(['Disabled', 'Disabled', 'DISABLED', 'DISABLED']);
  });

  it('stops what it can when a part refuses, and says what it could not', async () => {
    plane.denied.add('mapping-1');
    const { code, error } = await run(stopCommand);
    expect(code).toBe(2);
    expect(plane.eventSources.get('mapping-2')).toBe('Disabled');
    expect(error).toMatch(/switching the event source of repair: AccessDenied.*not authorized/);
    expect(error).toContain('1 could not be disabled');
  });

  it('says what is wrong with the stack', async () => {
    expect(await run(stopCommand, 'Other')).toMatchObject({
      code: 2,
      error: expect.stringContaining('reading the stack Other: ValidationError: Stack with id Other does not exist'),
    });
    plane.outputs.clear();
    expect(await run(stopCommand)).toMatchObject({ code: 2, error: expect.stringContaining('no functions of Curfew') });
  });
});

describe('curfew resume', () => {
  it('enables all that stop has disabled, event sources first', async () => {
    await run(stopCommand);
    plane.changes.length = 0;
    const { code, out } = await run(resumeCommand);
    expect(code).toBe(0);
    expect(states()).toEqual(['Enabled', 'Enabled', 'ENABLED', 'ENABLED']);
    expect(plane.changes.slice(-2)).toEqual(['tick-of-Repair on', 'tick-of-Timer on']);
    expect(out).toContain('Curfew runs again.');
  });
});
