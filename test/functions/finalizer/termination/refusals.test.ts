/** Steps that are refused or fail: which end the turn, and which are passed over at the deadline (I5, I8). */
import { describe, expect, it } from 'vitest';
import type { StepContext } from '../../../../functions/finalizer/termination/context.ts';
import { runRefusableSteps } from '../../../../functions/finalizer/termination/refusals.ts';
import type { StepRole } from '../../../../functions/finalizer/termination/rule/turn.ts';
import type { Step, StepOutcome } from '../../../../functions/finalizer/termination/steps.ts';
import { addDuration, minutes } from '../../../../shared/domain/time.ts';
import { RetryableError, TerminalError } from '../../../../shared/errors.ts';
import { createStepWorld, DELETED } from './step-world.ts';

const REFUSAL = new TerminalError('Invalid', 'the webhook says no');
const FAILURE = new RetryableError('the API server is busy');
const CONTINUES = 'Last';

type TestedStep = Step<StepContext>;
const step = (name: string, run: () => StepOutcome, more: Partial<TestedStep> = {}): TestedStep => ({
  name,
  run: async () => run(),
  ...more,
});
const failing = (error: Error, more: Partial<TestedStep> = {}): TestedStep =>
  step(
    'First',
    () => {
      throw error;
    },
    more,
  );

/** Runs a step that fails and one that is done, in a run of its own. */
async function runBoth(first: TestedStep, { isForced = false, role }: { isForced?: boolean; role?: StepRole } = {}) {
  const world = createStepWorld({ isForced });
  const ran: string[] = [];
  const last = step(CONTINUES, () => (ran.push(CONTINUES), { kind: 'done' }), role === undefined ? {} : { role });
  const context = world.startRun()();
  const saved: object[] = [];
  const saveRecord: StepContext['saveRecord'] = change => {
    saved.push(change);
    return context.saveRecord(change);
  };
  const outcome = runRefusableSteps([first, last], { ...context, saveRecord });
  return { outcome: await outcome.catch((error: unknown) => error), ran, saved, world, context };
}

describe('a step that is refused before the deadline', () => {
  it.each<[string, Partial<TestedStep>, string]>([
    ['ends the turn, is tried again a minute later, and is said', {}, 'NodeChangeRefused'],
    ['is said under a reason of its own', { refusedReason: 'TerminationHookFailed' }, 'TerminationHookFailed'],
    ['ends the turn also if it deletes', { role: 'deletion' }, 'NodeChangeRefused'],
  ])('%s', async (_, more, reason) => {
    const { outcome, ran, world } = await runBoth(failing(REFUSAL, more));
    expect(outcome).toEqual({
      kind: 'failed',
      step: 'First',
      reason,
      message: 'the webhook says no',
      until: addDuration(DELETED, minutes(1)),
    });
    expect(ran).toEqual([]);
    expect(world.said).toEqual([reason]);
  });

  it('waits without a call while the refusal stands, and is no news', async () => {
    const world = createStepWorld();
    const turn = world.startRun();
    let calls = 0;
    const refused = step('First', () => {
      calls += 1;
      throw REFUSAL;
    });
    await runRefusableSteps([refused], turn());
    const again = await runRefusableSteps([refused], turn());
    expect(again).toMatchObject({ kind: 'failed', until: addDuration(DELETED, minutes(1)) });
    expect([calls, world.said]).toEqual([1, ['NodeChangeRefused']]);
  });
});

it('a failure that may pass goes back to the queue, once it is written down', async () => {
  const { outcome, ran, saved } = await runBoth(failing(FAILURE));
  expect(outcome).toBe(FAILURE);
  expect([ran, saved]).toEqual([[], [{}]]);
});

it('a bug is thrown as it is, and nothing is written down', async () => {
  const bug = new TypeError('undefined is no function');
  expect(await runBoth(failing(bug))).toMatchObject({ outcome: bug, ran: [], saved: [] });
});

describe('past the deadline a step that is refused', () => {
  it('is passed over', async () => {
    const { outcome, ran, saved } = await runBoth(failing(REFUSAL), { isForced: true });
    expect([outcome, ran, saved]).toEqual([{ kind: 'done' }, [CONTINUES], []]);
  });

  it.each<[string, StepRole]>([
    ['ends the instance', 'instance'],
    ['ends all', 'end'],
  ])('ends the turn if it %s (I1)', async (_, role) => {
    const { outcome, ran } = await runBoth(failing(REFUSAL, { role }), { isForced: true });
    expect(outcome).toMatchObject({ kind: 'failed', step: 'First' });
    expect(ran).toEqual([]);
  });

  it('is passed over if it deletes, up to the step that ends all: that answers for it', async () => {
    const { outcome, ran } = await runBoth(failing(REFUSAL, { role: 'deletion' }), { isForced: true, role: 'end' });
    expect(outcome).toMatchObject({ kind: 'failed', step: CONTINUES, message: 'the webhook says no' });
    expect(ran).toEqual([]);
  });
});

describe('past the deadline a step that fails', () => {
  it('is passed over, which is said once', async () => {
    const world = createStepWorld({ isForced: true });
    const steps = [failing(FAILURE)];
    expect(await runRefusableSteps(steps, world.startRun()())).toEqual({ kind: 'done' });
    expect(await runRefusableSteps(steps, world.startRun()())).toEqual({ kind: 'done' });
    expect(world.said).toEqual(['NodeChangeRefused']);
    expect(world.record().skippedSteps).toEqual(['First']);
  });

  it('goes back to the queue from the step that ends all, if it deletes', async () => {
    const { outcome } = await runBoth(failing(FAILURE, { role: 'deletion' }), { isForced: true, role: 'end' });
    expect(outcome).toBe(FAILURE);
  });
});

it('a step that was refused is tried at the end of a time of its own', async () => {
  const world = createStepWorld();
  const turn = world.startRun();
  await runRefusableSteps([failing(REFUSAL)], turn());
  await world.pass(minutes(0.5));
  const isDone = () => ({ kind: 'done' }) as const;
  expect(await runRefusableSteps([step('First', isDone)], turn())).toMatchObject({ kind: 'failed' });
  const timeoutTime = () => addDuration(DELETED, minutes(0.5));
  expect(await runRefusableSteps([step('First', isDone, { timeoutTime })], turn())).toEqual({ kind: 'done' });
});
