/**
 * DrainThenTerminate, its first half: the drain function is asked to empty the node. The request has an id of its own, so asking twice
 * is asking once; `DrainCompleted` with that id says how it ended.
 */
import { DRAIN_REQUESTED, HEALTH_EVENT, SOURCES } from '../../../shared/contract/names.ts';
import type { BusEntry } from '../../../shared/contract/envelope.ts';
import { addDuration, seconds } from '../../../shared/domain/time.ts';
import { RetryableError } from '../../../shared/errors.ts';
import type { StepOutcome } from '../../../shared/lifecycle/steps.ts';
import type { RepairAttempt } from '../pass/pool.ts';
import { TAKEN, type Action, type ActionDeps } from './action.ts';

const RETRY = seconds(5);
/** Longest reason that a request may give. */
const MAX_REASON = 1024;

export const requestDrain: Action = {
  name: 'Drain',
  async run({ deps, attempt, message, now }): Promise<StepOutcome> {
    const { node, requestId } = attempt;
    const reason = `repair: ${message}`.slice(0, MAX_REASON);
    const detail = { schemaVersion: 1, id: requestId, node: { name: node.name, uid: node.uid }, reason };
    const outcome = await publish(deps, { source: SOURCES.repair, detailType: DRAIN_REQUESTED, detail });
    switch (outcome.kind) {
      case 'published':
        return TAKEN;
      case 'retry':
        return {
          kind: 'notYet',
          until: addDuration(now, RETRY),
          on: `the bus did not take the request: ${outcome.code}`,
        };
      case 'rejected':
        return { kind: 'failed', reason: 'DrainRequestRejected', message: outcome.message };
    }
  },
};

/** I7: a drain that is not wanted any more is called off, and with it our cordon. One that has ended stays as it is. */
export async function cancelDrain(deps: Pick<ActionDeps, 'bus'>, { node, requestId }: RepairAttempt): Promise<void> {
  const detail = {
    id: requestId,
    nodeName: node.name,
    agent: 'curfew',
    checkName: DRAIN_REQUESTED,
    isHealthy: true,
    healthEventStatus: { nodeQuarantined: 'Cancelled' },
    processingStrategy: 1,
  };
  const outcome = await publish(deps, { source: SOURCES.repair, detailType: HEALTH_EVENT, detail });
  if (outcome.kind === 'retry') {
    throw new RetryableError(`the bus did not take the end of drain ${requestId}: ${outcome.code}`, { reason: 'Bus' });
  }
}

async function publish({ bus }: Pick<ActionDeps, 'bus'>, entry: BusEntry) {
  const [outcome] = await bus.publish([entry]);
  return outcome ?? { kind: 'retry' as const, code: 'NoAnswer' };
}
