import { describe, expect, it } from 'vitest';
import { runSteps, type StepOutcome } from '../../../../functions/finalizer/termination/steps.ts';
import { toEpochMs } from '../../../../shared/domain/time.ts';

describe('steps', () => {
  const until = toEpochMs(1000);

  async function check(outcomes: readonly StepOutcome[]) {
    const ran: string[] = [];
    const steps = outcomes.map((outcome, index) => ({
      name: `step ${index}`,
      run: async (context: { prefix: string }) => {
        ran.push(`${context.prefix}${index}`);
        return outcome;
      },
    }));
    return { outcome: await runSteps(steps, { prefix: '#' }), ran };
  }

  it('are done when each is', async () => {
    expect(await check([{ kind: 'done' }, { kind: 'done' }])).toEqual({
      outcome: { kind: 'done' },
      ran: ['#0', '#1'],
    });
  });

  it('stop at the first that waits, and name it', async () => {
    const waiting = { kind: 'notYet', until, on: 'pod prod/web-0' } as const;
    expect(await check([{ kind: 'done' }, waiting, { kind: 'done' }])).toEqual({
      outcome: { ...waiting, step: 'step 1' },
      ran: ['#0', '#1'],
    });
  });

  it('stop at the first that failed, and name it', async () => {
    const failed = { kind: 'failed', reason: 'HookFailed', message: 'm' } as const;
    expect(await check([failed, { kind: 'done' }])).toEqual({ outcome: { ...failed, step: 'step 0' }, ran: ['#0'] });
  });
});
