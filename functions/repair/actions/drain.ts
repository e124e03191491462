/**
 * The first half of DrainThenTerminate, and of a reboot whose pods get time to leave: asks the drain function to empty
 * the node. The request has an id, so that asking twice is asking once. `DrainCompleted` with that id says how it
 * ended.
 */
import { type ActionContext, type ActionDeps, type ActionOutcome, ACTED } from './action.ts';
import type { EndedDrain } from '../node/attempt-record.ts';
import {
  DRAIN_MESSAGE_VERSION,
  drainCompletedSchema,
  MAX_REASON,
  type DrainRequested,
} from '../../../shared/contract/drain-messages.ts';
import type { BusEntry } from '../../../shared/contract/envelope.ts';
import { DRAIN_REQUESTED, HEALTH_EVENT, SOURCES } from '../../../shared/contract/names.ts';
import { type ParseResult, parsed } from '../../../shared/contract/policy-schema.ts';
import { cutText } from '../../../shared/domain/cut-text.ts';
import { RetryableError, TerminalError } from '../../../shared/errors.ts';

/** Asks the drain function to empty the node. @param options `allPods`: whatever configuration and limits say */
export async function requestDrain(
  { deps, attempt, node, message }: ActionContext<'Drain'>,
  { allPods = false }: { readonly allPods?: boolean } = {},
): Promise<ActionOutcome> {
  const { requestId } = attempt;
  const detail: DrainRequested = {
    schemaVersion: DRAIN_MESSAGE_VERSION,
    id: requestId,
    node: { name: node.name, uid: node.uid },
    reason: cutText(`repair: ${message}`, MAX_REASON),
    ...(allPods && { allPods }),
  };
  const outcome = await publish(deps, DRAIN_REQUESTED, detail);
  switch (outcome.kind) {
    case 'published':
      return ACTED;
    case 'retry':
      return { kind: 'notYet', on: `the bus did not take the request: ${outcome.code}` };
    case 'rejected':
      return { kind: 'failed', reason: 'DrainRequestRejected', message: outcome.message };
  }
}

/**
 * Calls off a drain that is not wanted any more, and with it our cordon (I7). A drain that has ended stays as it is.
 * The message is a HealthEvent, for functions are rolled out one by one: a drain function of an earlier version knows
 * no other message that calls a request off.
 */
export async function cancelDrain(
  deps: Pick<ActionDeps, 'bus'>,
  { nodeName, requestId }: { readonly nodeName: string; readonly requestId: string },
): Promise<void> {
  const detail = {
    id: requestId,
    nodeName,
    agent: 'curfew',
    checkName: DRAIN_REQUESTED,
    isHealthy: true,
    healthEventStatus: { nodeQuarantined: 'Cancelled' },
    processingStrategy: 1,
  };
  const outcome = await publish(deps, HEALTH_EVENT, detail);
  if (outcome.kind === 'rejected') throw new TerminalError('DrainEndRejected', outcome.message);
  if (outcome.kind === 'published') return;
  const { code } = outcome;
  throw new RetryableError(`the bus did not take the end of drain ${requestId}: ${code}`, { reason: code });
}

async function publish({ bus }: Pick<ActionDeps, 'bus'>, detailType: string, detail: BusEntry['detail']) {
  const [outcome] = await bus.publish([{ source: SOURCES.repair, detailType, detail }]);
  return outcome ?? { kind: 'retry' as const, code: 'NoAnswer' };
}

/**
 * The answer for each end of a drain. A drain that somebody else took back stops the repair: they want the node left
 * alone.
 */
const ANSWERS = {
  Succeeded: 'succeeded',
  AlreadyDrained: 'succeeded',
  Failed: 'failed',
  Cancelled: 'stopped',
} as const;

/**
 * Reads how a drain ended, from the detail of a `DrainCompleted`; undefined: the node is drained by the requests of others, and that one is
 * waited for until the timeout. Never throws.
 */
export function parseDrainCompleted(detail: unknown): ParseResult<EndedDrain | undefined> {
  const read = parsed(drainCompletedSchema.safeParse(detail), 'detail');
  if (!read.ok) return read;
  const { id, status, reason, message } = read.value;
  if (status === 'Cancelled' && reason === 'Covered') return { ok: true, value: undefined };
  return {
    ok: true,
    value: { requestId: id, answer: { kind: ANSWERS[status], message: `drain ${status}: ${message}` } },
  };
}
