/** What nodes report of themselves, with the time that their clock shows. */
import { toTimestamp, type EpochMs } from '../../../shared/domain/time.ts';
import type { Random } from '../../random.ts';
import { conditionsBody, healthyStatus, withCondition } from './cluster.ts';
import { pickWeighted } from './draw.ts';
import { FAULT, FAULT_REASONS } from './incidents.ts';
import type { Draft, NodePlan } from './model.ts';
import { patchNode } from './node-stories.ts';

export interface Report {
  readonly type: string;
  readonly status: string;
  readonly reason?: string | undefined;
}

/** At `time` the node says so, with the time that its clock shows. */
export function report(node: NodePlan, time: EpochMs, said: Report, shown: EpochMs = time): Draft {
  return {
    time,
    act() {
      node.conditions = withCondition(node.conditions, { ...said, lastTransitionTime: toTimestamp(shown) });
      return patchNode(node, { status: { conditions: conditionsBody(node.conditions) } });
    },
  };
}

export const drawReport = (random: Random): Report =>
  pickWeighted<Report>(random, [
    [3, { type: 'Ready', status: 'False' }],
    [2, { type: 'Ready', status: 'Unknown' }],
    [4, { type: FAULT, status: 'True', reason: random.pick(FAULT_REASONS) }],
    [1, { type: 'NetworkingReady', status: 'False' }],
  ]);

export const wellAgain = ({ type }: Report): Report => ({
  type,
  status: type === FAULT ? 'False' : healthyStatus(type),
});
