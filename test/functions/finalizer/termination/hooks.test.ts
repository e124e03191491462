/** The step that runs the hooks of one point: what it notes down, calls, and waits for. The rules have tables of their own (`rule/hook.test.ts`). */
import { describe, expect, it } from 'vitest';
import type { StepContext } from '../../../../functions/finalizer/termination/context.ts';
import { hooksAt } from '../../../../functions/finalizer/termination/hooks.ts';
import type { StepOutcome } from '../../../../functions/finalizer/termination/steps.ts';
import type { HookAnswer } from '../../../../shared/domain/hook-answer.ts';
import type { TerminationHook } from '../../../../shared/domain/termination.ts';
import { addDuration, minutes, seconds } from '../../../../shared/domain/time.ts';
import { RetryableError } from '../../../../shared/errors.ts';
import { hookNamed, hookProgress } from '../../../builders/hook.ts';
import { createStepWorld, DELETED, PROVIDER_ID } from './step-world.ts';

const NOTED = { kind: 'progressed', because: 'the call of hook backup was noted down' };
const DONE = { kind: 'done' };
const later = (count: number) => addDuration(DELETED, seconds(count));
const waits = (on: string, until: number) => ({ kind: 'notYet', on, until: later(until) });

interface HookWorldOptions {
  readonly hooks?: readonly TerminationHook[];
  readonly isForced?: boolean;
  /** The answer of the user's code; an error: nobody knows. */
  readonly answer?: HookAnswer | Error;
}

/** The step of the hooks before the drain, whose user's code gives one answer to each call. */
function createHookWorld({
  hooks = [hookNamed('backup')],
  isForced = false,
  answer = { kind: 'succeeded' },
}: HookWorldOptions = {}) {
  const world = createStepWorld({ isForced });
  const calls: unknown[] = [];
  const invoke = async (call: unknown): Promise<HookAnswer> => {
    calls.push(call);
    if (answer instanceof Error) throw answer;
    return answer;
  };
  const step = hooksAt('before-drain');
  return {
    ...world,
    calls,
    /** The turns of one run. */
    startRun() {
      const turn = world.startRun();
      const context = (more: Partial<StepContext> = {}): StepContext => {
        const own = turn();
        const settings = { finalizerName: 'example.com/custom', scope: 'NodeClaimAndNode', hooks } as const;
        return { ...own, settings, deps: { ...own.deps, hooks: { invoke } }, ...more };
      };
      return { context, turn: (more?: Partial<StepContext>): Promise<StepOutcome> => step.run(context(more)) };
    },
    timeoutTime: () =>
      step.timeoutTime?.({ ...world.startRun()(), settings: { finalizerName: '', scope: 'None', hooks } }),
    /** What an earlier run has written. */
    note: (record: Parameters<StepContext['saveRecord']>[0]) => world.startRun()().saveRecord(record),
  };
}

it('without a hook at its point nothing is called', async () => {
  const world = createHookWorld({ hooks: [hookNamed('backup', { at: 'after-terminate' })] });
  expect(await world.startRun().turn()).toEqual(DONE);
  expect([world.calls, world.record().hooks]).toEqual([[], {}]);
});

describe('a hook that is waited for', () => {
  it('is noted down, and called by the run that did so (I4)', async () => {
    const world = createHookWorld();
    const { turn } = world.startRun();
    expect(await turn()).toEqual(NOTED);
    expect([world.calls, world.record().hooks]).toEqual([[], { backup: hookProgress('intended') }]);
    expect(await turn()).toEqual(DONE);
    expect(world.record().hooks).toEqual({ backup: hookProgress('succeeded') });
    const { uid } = world.claim().metadata;
    expect(world.calls).toEqual([
      {
        purpose: 'hook',
        name: 'backup',
        target: { kind: 'lambda', functionName: 'f' },
        key: `${uid}/backup`,
        about: { apiVersion: 'karpenter.sh/v1', kind: 'NodeClaim', name: 'c1', uid },
        details: {
          at: 'before-drain',
          attempt: 1,
          providerID: PROVIDER_ID,
          nodes: ['n1'],
          deadline: '2024-11-01T15:10:00Z',
          terminationDeadline: null,
          forced: false,
        },
      },
    ]);
  });

  it('is left to another run that has noted it down', async () => {
    const world = createHookWorld();
    await world.startRun().turn();
    expect(await world.startRun().turn()).toEqual(waits('hook backup is being called', 60));
    expect(world.calls).toEqual([]);
  });

  it.each<[string, HookAnswer | Error, object, object]>([
    [
      'is at work once it is taken on',
      { kind: 'pending' },
      hookProgress('pending'),
      waits('hook backup is at work', 600),
    ],
    [
      'is tried again if it fails',
      { kind: 'failed', message: 'no disk' },
      { phase: 'failed', message: 'no disk' },
      waits('hook backup failed: no disk', 5),
    ],
    [
      'counts as failed if nobody knows whether it was called',
      new RetryableError('timed out'),
      { phase: 'failed', message: 'timed out' },
      waits('hook backup failed: timed out', 5),
    ],
  ])('%s', async (_, answer, progress, outcome) => {
    const world = createHookWorld({ answer });
    const { turn } = world.startRun();
    await turn();
    expect(await turn()).toEqual(outcome);
    expect(world.record().hooks['backup']).toMatchObject(progress);
  });

  it('goes before the next one of its point', async () => {
    const world = createHookWorld({ hooks: [hookNamed('backup'), hookNamed('archive')] });
    const { turn } = world.startRun();
    expect(await turn()).toEqual(NOTED);
    expect(await turn()).toEqual({ kind: 'progressed', because: 'the call of hook archive was noted down' });
    expect(await turn()).toEqual(DONE);
    expect(world.calls).toMatchObject([{ name: 'backup' }, { name: 'archive' }]);
  });

  it('whose answer cannot be written has it in the next turn', async () => {
    const world = createHookWorld();
    const { turn, context } = world.startRun();
    await turn();
    expect(await turn({ saveRecord: async () => false })).toEqual({
      kind: 'progressed',
      because: 'hook backup changed',
    });
    expect(context().run.answers).toEqual(new Map([['backup', { kind: 'succeeded' }]]));
  });

  it('is not called by a run that could not note it down, for another one did', async () => {
    const world = createHookWorld();
    const { turn } = world.startRun();
    const saveRecord = async (): Promise<boolean> => {
      await world.note({ hooks: { backup: hookProgress('intended') } });
      return false;
    };
    expect(await turn({ saveRecord })).toEqual(NOTED);
    expect(await turn()).toEqual(waits('hook backup is being called', 60));
    expect(world.calls).toEqual([]);
  });
});

describe('a hook that runs out of time', () => {
  const message = (effect: string): string => `hook backup did not succeed in time: ${effect}`;
  it.each<[TerminationHook['onTimeout'], object, string, object]>([
    ['Proceed', DONE, 'passed', {}],
    [
      'Abort',
      waits(
        message('the termination is held until somebody takes the hook out of its policy, or until its deadline'),
        900,
      ),
      'timedOut',
      {},
    ],
    [
      'Escalate',
      { kind: 'progressed', because: message('the termination is forced from now on') },
      'timedOut',
      { deadline: { time: later(600), source: 'hook backup' } },
    ],
  ])('has its effect %s, and is said', async (onTimeout, outcome, phase, record) => {
    const world = createHookWorld({ hooks: [hookNamed('backup', { onTimeout })] });
    await world.note({ hooks: { backup: hookProgress('pending') } });
    expect(world.timeoutTime()).toBe(later(600));
    await world.pass(minutes(10));
    expect(await world.startRun().turn()).toEqual(outcome);
    expect(world.record()).toMatchObject({ hooks: { backup: { phase } }, ...record });
    expect(world.said).toEqual(['TerminationHookFailed']);
  });
});

describe('past the deadline a hook', () => {
  it('is called, has five seconds to take it on, and is not waited for', async () => {
    const world = createHookWorld({ isForced: true, answer: { kind: 'pending' } });
    const { turn } = world.startRun();
    expect(await turn()).toEqual(NOTED);
    expect(await turn()).toEqual({ kind: 'progressed', because: 'hook backup was called' });
    expect(world.calls).toMatchObject([{ details: { forced: true }, takenOnWithin: 5000 }]);
    expect(world.record().hooks['backup']).toMatchObject({ phase: 'pending', unawaited: 'forced' });
  });

  it('that nothing waited for is said once', async () => {
    const world = createHookWorld({ isForced: true });
    await world.note({ hooks: { backup: hookProgress('pending', { unawaited: 'forced' }) } });
    expect(await world.startRun().turn()).toEqual(DONE);
    expect(await world.startRun().turn()).toEqual(DONE);
    expect(world.record().reportedHookPoints).toEqual(['before-drain']);
    expect(world.said).toHaveLength(1);
  });

  it('has no time of its own any more', async () => {
    const world = createHookWorld({ isForced: true });
    await world.note({ hooks: { backup: hookProgress('pending', { unawaited: 'forced' }) } });
    expect(world.timeoutTime()).toBeUndefined();
  });
});

describe('the hooks of an instance', () => {
  it.each<[string, StepContext['hookOwner'], object]>([
    [
      'wait for the termination that calls them',
      { kind: 'underWay', termination: 'NodeClaim c2' },
      waits('the hooks are called in the termination of NodeClaim c2', 60),
    ],
    ['were called in a termination that is over', { kind: 'over' }, DONE],
  ])('%s (I4)', async (_, hookOwner, outcome) => {
    const world = createHookWorld();
    expect(await world.startRun().turn({ hookOwner })).toEqual(outcome);
    expect(world.record().hooks).toEqual({});
  });

  it.each<[string, boolean, object]>([
    ['is looked at, and runs: nothing ends with the Node, and none is called', false, DONE],
    ['is looked at, and has ended: they are called', true, NOTED],
  ])('that no NodeClaim has %s', async (_, hasEnded, outcome) => {
    const world = createHookWorld();
    const { turn, context } = world.startRun();
    if (hasEnded) {
      await context().deps.instances.terminate(PROVIDER_ID);
      await world.pass(minutes(30));
    }
    const { observed } = context();
    const [node] = observed.nodes;
    expect(await turn({ observed: { ...observed, object: node ?? observed.object, claim: undefined } })).toEqual(
      outcome,
    );
  });
});
