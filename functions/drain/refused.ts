/** A change that the API server refuses, as admission policies can: said once on the Node, and tried again later (I8). */
import { EVENT_REASONS } from '../../shared/contract/reasons.ts';
import { addDuration } from '../../shared/domain/time.ts';
import { RetryableError } from '../../shared/errors.ts';
import type { Turn } from '../../shared/lifecycle/settle.ts';
import { orRefused, REFUSED_CHECK, reportOfRefused } from '../../shared/lifecycle/refused.ts';
import type { NodeChange } from './node.ts';
import type { Look } from './observe.ts';
import { save, type Parts } from './turn.ts';

/** @param isTaken the message in hand is in the record: nothing is lost when this run ends */
export async function holdWhenRefused(
  parts: Parts,
  look: Look,
  isTaken: () => boolean,
  turn: Promise<Turn>,
): Promise<Turn> {
  const outcome = await orRefused(turn);
  if (outcome.kind !== 'refused') return outcome;
  const { message, cause } = outcome;
  const held = await look.store.load();
  if (!isTaken() || held.kind !== 'held') throw new RetryableError(message, { cause, reason: cause.reason });
  const reason = EVENT_REASONS.nodeChangeRefused;
  const reported = `${reason} ${message}`;
  // Said first: a run that dies in between says it again (I9).
  const isRepeated = held.value.reported === reported;
  await parts.reporter.report(reportOfRefused(look.object, outcome, reason, { isRepeated }));
  return save(look, { ...held.value, reported }, addDuration(look.now, REFUSED_CHECK));
}

/** What is left on the Node then is taken off later, by a turn of its own. */
export async function orLater(change: Promise<NodeChange>): Promise<NodeChange | { readonly kind: 'ok' }> {
  const outcome = await orRefused(change);
  return outcome.kind === 'refused' ? { kind: 'ok' } : outcome;
}
