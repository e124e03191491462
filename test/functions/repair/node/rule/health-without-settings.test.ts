/** What can be said of the health of a node while the settings of its pool cannot be read, or are gone. */
import { describe, expect, it } from 'vitest';
import { NOW, remembered } from '../../../../builders/pool.ts';
import { aCondition, anAttempt, aNode, T } from '../../../../builders/repair.ts';
import type { NodeRecord } from '../../../../../functions/repair/node/record.ts';
import { judgeHealth } from '../../../../../functions/repair/node/rule/health.ts';
import { mayStillBeUnhealthy } from '../../../../../functions/repair/node/rule/onset.ts';
import type { NodeCondition } from '../../../../../shared/domain/node.ts';

const dueCondition = { conditionType: 'GpuFault', conditionStatus: 'True', lastTransitionTime: T, dueTime: T };
const BY_INCIDENT: Partial<NodeRecord> = { incident: { type: 'Ready', taken: ['Reboot||600000'] } };
const BY_ATTEMPT: Partial<NodeRecord> = { attempt: anAttempt('n1', { action: 'Reboot', dueCondition }) };
const BY_ONSET: Partial<NodeRecord> = {
  onsets: { 'GpuFault=True~Xid': { start: T, stated: T }, 'Disk=True': { start: T, stated: T } },
};

describe('without settings a node may still be unhealthy', () => {
  const others = [aCondition('MemoryPressure', 'False'), aCondition('Other', 'Unknown')];
  it.each<[string, Partial<NodeRecord>, NodeCondition, boolean]>([
    ['by the status of before', BY_ATTEMPT, aCondition('GpuFault', 'True'), true],
    ['by another status that the provider calls unhealthy', BY_INCIDENT, aCondition('Ready', 'False'), true],
    ['by a status that says nothing, of its incident', BY_INCIDENT, aCondition('Ready', 'Unknown'), true],
    ['by a status that says nothing, of its attempt', BY_ATTEMPT, aCondition('GpuFault', 'Unknown'), true],
    ['by a status that says nothing, of an onset', BY_ONSET, aCondition('GpuFault', 'Unknown'), true],
    ['not where the condition of its incident is well', BY_INCIDENT, aCondition('Ready', 'True'), false],
    ['not where that of its attempt is well', BY_ATTEMPT, aCondition('GpuFault', 'False'), false],
    ['not by a condition that its record does not know', BY_ATTEMPT, aCondition('Ready', 'False'), false],
    ['not without a record of anything', {}, aCondition('Ready', 'Unknown'), false],
  ])('%s', (_, record, condition, isUnhealthy) => {
    expect(mayStillBeUnhealthy(aNode([...others, condition]), remembered({ onsets: {}, ...record }))).toBe(isUnhealthy);
  });

  it('and no repair condition calls it so', () => {
    for (const settings of [undefined, { invalid: 'NodePool default: bad' }]) {
      const context = { now: NOW, repair: { settings }, record: undefined, episodes: [] };
      expect(judgeHealth(aNode([aCondition('Ready', 'False')]), context)).toEqual({ kind: 'healthy', unhealthy: [] });
    }
  });
});
