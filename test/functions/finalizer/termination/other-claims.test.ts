/** NodeClaims of one instance: who waits for whose termination, and who learns of the hooks that were called. */
import { describe, expect, it } from 'vitest';
import { awaitOtherClaim, handHooksOn } from '../../../../functions/finalizer/termination/other-claims.ts';
import {
  EMPTY_TERMINATION,
  openTermination,
  type TerminationRecord,
} from '../../../../functions/finalizer/termination/record.ts';
import type { StepContext } from '../../../../functions/finalizer/termination/context.ts';
import type { JsonObject, KubernetesManifest } from '../../../../shared/domain/kubernetes-object.ts';
import { addDuration, minutes } from '../../../../shared/domain/time.ts';
import { hookProgress } from '../../../builders/hook.ts';
import { createStepWorld, DELETED, PROVIDER_ID } from './step-world.ts';

describe('a NodeClaim whose instance another one ends', () => {
  const C2 = { name: 'c2', nodes: [] };
  const run = (isForced: boolean, endedWith: StepContext['observed']['endedWith']) => {
    const context = createStepWorld({ isForced }).startRun()();
    return awaitOtherClaim.run({ ...context, observed: { ...context.observed, endedWith } });
  };

  it.each([
    [
      'waits for its termination, with a look each minute at first',
      false,
      C2,
      {
        kind: 'notYet',
        on: 'its instance is ended in the termination of NodeClaim c2',
        until: addDuration(DELETED, minutes(1)),
      },
    ],
    ['waits no longer than its own deadline (I5)', true, C2, { kind: 'done' }],
    ['is no such one where it ends the instance itself', false, undefined, { kind: 'done' }],
  ] as const)('%s', async (_, isForced, endedWith, outcome) => {
    expect(await run(isForced, endedWith)).toEqual(outcome);
  });
});

const GOING = { deletionTimestamp: '2024-11-01T15:00:00Z', finalizers: ['example.com/other'] };
const MARKED = { annotations: { 'curfew.dev/termination-finalizer': 'example.com/custom' } };
const otherClaim = (metadata: JsonObject, providerID = PROVIDER_ID): KubernetesManifest => ({
  apiVersion: 'karpenter.sh/v1',
  kind: 'NodeClaim',
  metadata: { name: 'c2', uid: 'uid-c2', ...metadata },
  status: { providerID },
});

const CALLED: TerminationRecord = {
  ...EMPTY_TERMINATION,
  finalizerNames: ['example.com/custom'],
  hooks: { backup: hookProgress('succeeded') },
  reportedHookPoints: ['before-drain'],
};

const recordOf = ({ deps }: StepContext) => openTermination(deps, 'NodeClaim', 'uid-c2');

/** Hands the calls of the record on, as the termination of NodeClaim `c1`. */
async function handedOn(
  other: KubernetesManifest,
  value: TerminationRecord = CALLED,
  before: (context: StepContext) => Promise<unknown> = async () => undefined,
) {
  const world = createStepWorld({ others: [other] });
  const context = world.startRun()();
  await before(context);
  const { uid } = context.observed.object.metadata;
  const isHanded = await handHooksOn(context.deps, value, { providerID: PROVIDER_ID, uid });
  const loaded = await recordOf(context).load();
  return { world, context, uid, isHanded, loaded };
}

const save = (value: TerminationRecord) => async (context: StepContext) => {
  const record = recordOf(context);
  await record.load();
  const subject = { apiVersion: 'karpenter.sh/v1', kind: 'NodeClaim', name: 'c2', uid: 'uid-c2' };
  await record.save({ subject, value, wakeTime: addDuration(DELETED, minutes(5)) });
};

describe('another NodeClaim of the instance', () => {
  it('that lives has the calls for its own deletion, and is looked at a minute later', async () => {
    const { isHanded, loaded, uid } = await handedOn(otherClaim({}));
    expect(isHanded).toBe(true);
    expect(loaded).toMatchObject({
      kind: 'known',
      value: {
        hooks: CALLED.hooks,
        reportedHookPoints: ['before-drain'],
        hookKeyUid: uid,
        reportState: { kind: 'hookOwner', claimUid: 'uid-c2' },
      },
      stored: { nextWakeTime: addDuration(DELETED, minutes(1)) },
    });
  });

  it('that goes, too, has the calls and no owner: its termination goes on with them', async () => {
    const { loaded } = await handedOn(otherClaim({ ...GOING, ...MARKED }));
    expect(loaded).toMatchObject({ kind: 'known', value: { hooks: CALLED.hooks } });
    expect(loaded).not.toMatchObject({ value: { reportState: { kind: 'hookOwner' } } });
  });

  it('has the key of the calls from whoever made them first', async () => {
    const { loaded } = await handedOn(otherClaim({}), { ...CALLED, hookKeyUid: 'uid-first' });
    expect(loaded).toMatchObject({ value: { hookKeyUid: 'uid-first' } });
  });

  it('keeps its own record, and what is later in it', async () => {
    const later = hookProgress('failed', { attempts: 3, message: 'no' });
    const own = { ...EMPTY_TERMINATION, failedLooks: 2, hooks: { backup: later, archive: hookProgress('pending') } };
    const { loaded } = await handedOn(otherClaim({ ...GOING, ...MARKED }), CALLED, save(own));
    expect(loaded).toMatchObject({ value: { failedLooks: 2, hooks: own.hooks, reportedHookPoints: ['before-drain'] } });
  });

  it.each<[string, KubernetesManifest, TerminationRecord]>([
    ['of another instance', otherClaim({}, 'aws:///us-west-2a/i-0other'), CALLED],
    ['that goes and is none of ours', otherClaim(GOING), CALLED],
    ['where no hook was called', otherClaim({}), EMPTY_TERMINATION],
  ])('%s has no record of it', async (_, other, value) => {
    expect(await handedOn(other, value)).toMatchObject({ isHanded: true, loaded: { kind: 'none' } });
  });

  it('that knows of the calls already is not written again', async () => {
    const { world, context, uid, loaded } = await handedOn(otherClaim({}));
    await world.pass(minutes(2));
    expect(await handHooksOn(context.deps, CALLED, { providerID: PROVIDER_ID, uid })).toBe(true);
    expect(await recordOf(context).load()).toEqual(loaded);
  });

  it('whose record another run writes first is asked about again', async () => {
    const context = createStepWorld({ others: [otherClaim({})] }).startRun()();
    const records = { ...context.deps.records, put: async () => ({ kind: 'lostRace' }) as const };
    const of = { providerID: PROVIDER_ID, uid: 'uid-c1' };
    expect(await handHooksOn({ ...context.deps, records }, CALLED, of)).toBe(false);
  });
});
