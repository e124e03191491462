import { describe, expect, it } from 'vitest';
import { createMemoryRecordStore } from '../../../runtime/memory/record-store.ts';
import type { ClusterEvent } from '../../../shared/contract/cluster-event.ts';
import { toEpochMs } from '../../../shared/domain/time.ts';
import type { RoundTargets } from '../../../shared/lifecycle/next-round.ts';
import { createSettingsRounds } from '../../../shared/policies/settings-rounds.ts';

async function roundsAfter(
  kind: string,
  event: Pick<ClusterEvent, 'change' | 'resync'> & Partial<Pick<ClusterEvent, 'changed'>>,
): Promise<readonly RoundTargets[]> {
  const rounds: RoundTargets[] = [];
  const deps = {
    records: createMemoryRecordStore(),
    wakeUps: { send: async () => undefined },
    clock: { now: () => toEpochMs(0), sleep: async () => undefined },
  };
  const settings = createSettingsRounds(deps, 'repair', async targets => {
    rounds.push(targets);
    return [];
  });
  await settings.settingsChanged({
    changed: [],
    ...event,
    subject: { apiVersion: 'v1', kind, name: 'default', uid: 'u' },
  });
  return rounds;
}

describe('a change of settings', () => {
  it.each([
    ['a NodePool', 'NodePool', [['default']]],
    ['a policy', 'NodeLifecyclePolicy', ['all']],
    ['the configuration', 'ConfigMap', ['all']],
  ])('in %s concerns what it applies to', async (_, kind, targets) => {
    expect(await roundsAfter(kind, { change: 'Modified' })).toEqual(targets);
    expect(await roundsAfter(kind, { change: 'Deleted', resync: true })).toEqual(targets);
    expect(await roundsAfter(kind, { change: 'Added', resync: true })).toEqual(targets);
  });

  it('is none where the object is only published again', async () => {
    expect(await roundsAfter('NodePool', { change: 'Modified', resync: true })).toEqual([]);
    expect(await roundsAfter('NodePool', { change: 'Modified', changed: ['labels'], resync: true })).toEqual([
      ['default'],
    ]);
  });
});
