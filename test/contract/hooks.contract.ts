/**
 * What every `Hooks` does for a hook or clean-up that is a Lambda function: the simulated workers, and the adapter on Lambda. An event has no
 * answer of its own there; the simulation answers in the worker's place.
 */
import { expect, it } from 'vitest';
import { seconds } from '../../shared/domain/time.ts';
import type { HookCall, Hooks } from '../../shared/ports/hooks.ts';

type Purpose = HookCall['purpose'];

export interface HooksSubject {
  readonly hooks: Hooks;
  /** The function of that hook or rule answers so from now on; `silent`: it has begun, and says no more. */
  answers(purpose: Purpose, result: 'succeed' | 'notFound' | 'fail' | 'silent', message?: string): void;
  /** That function cannot be run from now on. */
  refuses(purpose: Purpose): void;
  /** The keys of all calls that were made. */
  keys(): readonly string[];
}

const callOf = (purpose: Purpose, more: Partial<HookCall> = {}): HookCall => ({
  purpose,
  name: purpose === 'hook' ? 'deregister' : 'databases',
  target: { kind: 'lambda', functionName: 'worker' },
  key: `uid-1/${purpose}`,
  about: { apiVersion: 'karpenter.sh/v1', kind: 'NodeClaim', name: 'nc1', uid: 'uid-1' },
  details: {},
  ...more,
});

/** Defines the suite. */
export function defineHooksContract(makeSubject: () => HooksSubject): void {
  it.each(['hook', 'cleanup'] as const)('answers a %s as its function does', async purpose => {
    const { hooks, answers } = makeSubject();
    const answer = () => hooks.invoke(callOf(purpose));
    answers(purpose, 'succeed');
    expect(await answer()).toEqual({ kind: 'succeeded' });
    answers(purpose, 'fail', 'the queue is not empty');
    expect(await answer()).toEqual({ kind: 'failed', message: 'the queue is not empty' });
    answers(purpose, 'silent');
    expect(await answer()).toEqual({ kind: 'pending' });
  });

  it('takes a clean-up that finds nothing for one that has succeeded', async () => {
    const { hooks, answers } = makeSubject();
    answers('cleanup', 'notFound', 'there is no such database');
    expect(await hooks.invoke(callOf('cleanup'))).toEqual({ kind: 'succeeded' });
  });

  it('says why a function failed in no more words than a record takes', async () => {
    const { hooks, answers } = makeSubject();
    answers('hook', 'fail', 'x'.repeat(5000));
    expect(await hooks.invoke(callOf('hook'))).toEqual({ kind: 'failed', message: `${'x'.repeat(1023)}…` });
  });

  it('hands over what nobody waits for, and hears no more of it', async () => {
    const { hooks, answers, refuses } = makeSubject();
    const handOver = () => hooks.invoke(callOf('hook', { takenOnWithin: seconds(5) }));
    for (const result of ['succeed', 'silent'] as const) {
      answers('hook', result);
      expect(await handOver()).toEqual({ kind: 'pending' });
    }
    refuses('hook');
    expect(await handOver()).toEqual({ kind: 'failed', message: expect.stringMatching(/./) });
  });

  it('calls again with the same key, as often as it is asked', async () => {
    const { hooks, answers, keys } = makeSubject();
    answers('hook', 'succeed');
    await hooks.invoke(callOf('hook'));
    await hooks.invoke(callOf('hook'));
    await hooks.invoke(callOf('cleanup'));
    expect(keys()).toEqual(['uid-1/hook', 'uid-1/hook', 'uid-1/cleanup']);
  });

  it('calls no custom resource: that is made at the API server', async () => {
    const target = { kind: 'customResource', template: 'backup.yaml', conditionType: 'Done' } as const;
    await expect(makeSubject().hooks.invoke(callOf('hook', { target }))).rejects.toThrow('custom resource');
  });
}
