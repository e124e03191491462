/** A change that the API server refuses, as admission policies can: said once on the Node, and tried again later (I8). */
import { EVENT_REASONS } from '../../shared/contract/reasons.ts';
import { addDuration } from '../../shared/domain/time.ts';
import { RetryableError, TerminalError } from '../../shared/errors.ts';
import type { Turn } from '../../shared/lifecycle/settle.ts';
import { REFUSED_CHECK } from '../../shared/lifecycle/refused.ts';
import type { NodeChange } from './node.ts';
import type { Look } from './observe.ts';
import { report, type Parts } from './turn.ts';

/** @param isTaken the message in hand is in the record: nothing is lost when this run ends */
export async function holdWhenRefused(
  parts: Parts,
  look: Look,
  isTaken: () => boolean,
  turn: Promise<Turn>,
): Promise<Turn> {
  try {
    return await turn;
  } catch (error) {
    if (!(error instanceof TerminalError)) throw error;
    const { message } = error;
    const { kind, apiVersion, metadata } = look.object;
    const held = await look.store.load();
    if (!isTaken() || held.kind !== 'held') throw new RetryableError(message, { cause: error, reason: error.reason });
    const subject = { kind, apiVersion, name: metadata.name, uid: metadata.uid };
    const reported = `${EVENT_REASONS.nodeChangeRefused} ${message}`;
    const wakeTime = addDuration(look.now, REFUSED_CHECK);
    const saved = await look.store.save({ subject, value: { ...held.value, reported }, wakeTime });
    if (!saved.written || held.value.reported === reported) return saved;
    await report(parts, look, {
      decision: 'wait',
      reason: EVENT_REASONS.nodeChangeRefused,
      message: `${message}; it is tried again every five minutes`,
      event: { type: 'Warning' },
    });
    return saved;
  }
}

/** What is left on the Node then is taken off later, by a turn of its own. */
export async function orLater(change: Promise<NodeChange>): Promise<NodeChange | { readonly kind: 'ok' }> {
  try {
    return await change;
  } catch (error) {
    if (!(error instanceof TerminalError)) throw error;
    return { kind: 'ok' };
  }
}
