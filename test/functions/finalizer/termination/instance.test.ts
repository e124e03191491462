/** The step that ends the instance: the call is in the record before it is made, and made once. */
import { describe, expect, it } from 'vitest';
import { terminateInstance } from '../../../../functions/finalizer/termination/instance.ts';
import { minutes, seconds } from '../../../../shared/domain/time.ts';
import { RetryableError } from '../../../../shared/errors.ts';
import { createStepWorld, DELETED, PROVIDER_ID } from './step-world.ts';

describe('the end of an instance', () => {
  it('is noted down, called once, and waited for until the instance is gone (I1, I4)', async () => {
    const world = createStepWorld();
    const turn = world.startRun();
    expect(await terminateInstance.run(turn())).toMatchObject({ kind: 'progressed' });
    expect(world.record().instance).toEqual({ number: 1, phase: 'intended', intendedTime: DELETED });
    expect(world.calls).toEqual([]);
    expect(await terminateInstance.run(turn())).toMatchObject({ kind: 'progressed' });
    expect(world.record().instance).toMatchObject({ number: 1, phase: 'accepted' });
    expect(world.said).toEqual(['InstanceTerminating']);
    expect(await terminateInstance.run(turn())).toMatchObject({
      kind: 'notYet',
      on: `instance ${PROVIDER_ID} is shutting down`,
    });
    await world.pass(minutes(1));
    expect(await terminateInstance.run(turn())).toEqual({ kind: 'done' });
    expect(world.calls).toEqual(['terminate']);
  });

  it('is left to the run that noted it down, for as long as that may still be at it (I4)', async () => {
    const world = createStepWorld();
    await terminateInstance.run(world.startRun()());
    const turn = world.startRun();
    expect(await terminateInstance.run(turn())).toMatchObject({
      kind: 'notYet',
      on: `attempt 1 to end instance ${PROVIDER_ID} may be under way`,
    });
    await world.pass(minutes(10));
    await terminateInstance.run(turn());
    await terminateInstance.run(turn());
    expect(world.record().instance).toMatchObject({ number: 2, phase: 'accepted' });
    expect(world.calls).toEqual(['terminate']);
  });

  it('whose outcome nobody knows stays noted down, and the message comes again', async () => {
    const lost = new RetryableError('the connection broke', { outcomeUnknown: true });
    const world = createStepWorld({ instances: () => ({ terminate: () => Promise.reject(lost) }) });
    const turn = world.startRun();
    await terminateInstance.run(turn());
    await expect(terminateInstance.run(turn())).rejects.toBe(lost);
    expect(world.record().instance).toMatchObject({ number: 1, phase: 'intended' });
    expect(world.said).toEqual([]);
  });

  it('that EC2 refuses is said, and waited for', async () => {
    const refused = { kind: 'refused', reason: 'OperationNotPermitted', message: 'it is protected' } as const;
    const world = createStepWorld({ instances: () => ({ terminate: async () => refused }) });
    const turn = world.startRun();
    await terminateInstance.run(turn());
    expect(await terminateInstance.run(turn())).toMatchObject({
      kind: 'notYet',
      on: expect.stringContaining('it is protected'),
    });
    expect(world.said).toEqual(['InstanceTerminationFailed']);
  });

  it('does not begin while EC2 does not answer, which is said once (I6)', async () => {
    const world = createStepWorld();
    world.cloud.setFailure(PROVIDER_ID, 'error');
    for (let run = 0; run < 3; run += 1) {
      await expect(terminateInstance.run(world.startRun()())).rejects.toMatchObject({ name: 'RetryableError' });
      await world.pass(seconds(30));
    }
    expect(world.said).toEqual(['InstanceTerminationFailed']);
    expect(world.record().instance).toBeUndefined();
  });

  it('is nobody’s here while another NodeClaim has it, too', async () => {
    const world = createStepWorld();
    const context = world.startRun()();
    const observed = { ...context.observed, sharedWith: ['c2'] };
    expect(await terminateInstance.run({ ...context, observed })).toEqual({ kind: 'done' });
    expect(world.record().instance).toBeUndefined();
  });
});
