/** A change that the API server refuses, as schemas and admission policies can: said on its object, in one audit line, and tried again later (I8). */
import type { KindWatch } from '../../../shared/contract/cluster-event.ts';
import { EVENT_REASONS } from '../../../shared/contract/reasons.ts';
import { addDuration } from '../../../shared/domain/time.ts';
import type { Reporter } from '../../../shared/lifecycle/reporter.ts';
import { again, type Turn } from '../../../shared/lifecycle/settle.ts';
import type { TimedRecord } from '../../../shared/lifecycle/timed-record.ts';
import {
  orRefused,
  REFUSED_CHECK,
  reportOfRefused,
  triedAgain,
  type Refused,
} from '../../../shared/lifecycle/refused.ts';
import type { TerminationDeps } from '../steps/context.ts';
import { nextEntry, saveEntry } from './ledger.ts';
import type { ObjectLook } from './observe-object.ts';
import type { LedgerEntry } from './record.ts';
import { reportObject } from './report.ts';
import type { SeenRule } from './rule-finalizer.ts';
import { isLater } from './rule-record.ts';

/** Of an object of a rule. */
export async function tryLaterWhenRefused(
  { reporter }: { readonly reporter: Reporter },
  look: ObjectLook,
  record: TimedRecord<LedgerEntry>,
  turn: Promise<Turn>,
): Promise<Turn> {
  const outcome = await orRefused(turn);
  if (outcome.kind !== 'refused') return outcome;
  // This turn may have written it.
  const held = await record.load();
  if (held.kind === 'newer') return again('a newer version wrote its entry');
  const { message } = outcome;
  // Said first: a run that dies in between says it again (I9).
  await reportObject(reporter, look, {
    decision: 'retry',
    reason: EVENT_REASONS.finalizationError,
    message: triedAgain(outcome),
    type: 'Warning',
    isRepeated: look.entry?.message === message,
  });
  const entry = held.kind === 'held' ? held.value : nextEntry(look);
  return saveEntry(look, { ...entry, message }, addDuration(look.observation.now, REFUSED_CHECK));
}

/** Of a rule. @param watch of the message in hand: nobody repeats it */
export async function tryRuleLater(
  { deps, reporter }: { readonly deps: TerminationDeps; readonly reporter: Reporter },
  { object, record }: SeenRule,
  refused: Refused,
  watch: KindWatch | undefined,
): Promise<Turn> {
  const held = await record.load();
  if (held.kind === 'newer') throw refused.cause;
  const before = held.kind === 'held' ? held.value : {};
  const { message } = refused;
  // Said first, as above.
  const isRepeated = before.refused === message;
  await reporter.report(reportOfRefused(object, refused, EVENT_REASONS.changeRefused, { isRepeated }));
  const { kind, apiVersion, metadata } = object;
  const subject = { kind, apiVersion, name: metadata.name, uid: metadata.uid };
  const isNews = watch !== undefined && (before.watch === undefined || isLater(watch, before.watch));
  const value = { ...before, refused: message, ...(isNews && { watch }) };
  return record.save({ subject, value, wakeTime: addDuration(deps.clock.now(), REFUSED_CHECK) });
}
