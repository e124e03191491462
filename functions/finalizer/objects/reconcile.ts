/** One object of a kind that FinalizerRules name: for each of them look, decide, apply; entries without a FinalizerRule are kept. */
import { EVENT_REASONS } from '../../../shared/contract/reasons.ts';
import { aboutSubject, type Subject } from '../../../shared/contract/subject.ts';
import { parseApiVersion, type KubernetesObject, type ResourceType } from '../../../shared/domain/kubernetes-object.ts';
import { createBackoff, noteRefusedRead, reportWarning, type Backoff } from '../../../shared/lifecycle/refusals.ts';
import { settle } from '../../../shared/lifecycle/settle.ts';
import { openRecord, type TimedRecord, type UsedWakeUp } from '../../../shared/lifecycle/timed-record.ts';
import { orUnavailable, valueOrUnavailable } from '../../../shared/ports/read-answer.ts';
import { apply, type LedgerDecision } from './apply.ts';
import type { ObjectContext, ObjectRunContext, ReplaceableRules, WorkerAnswer } from './context.ts';
import { decide } from './decide.ts';
import { reserveCallTime } from './rule/call-queue.ts';
import { entriesWithoutRule, entryRecord, ownerOf } from './ledger.ts';
import { observe, type ObservedObject } from './observe.ts';
import { LEDGER_CODEC, type LedgerEntry } from './record.ts';
import type { FinalizerRuleInForce } from '../finalizer-rules/rule/acceptance.ts';
import { isOwnFinalizerRefused } from '../finalizer-rules/record.ts';
import { loadFinalizerRules, finalizerRulesForKind, acceptanceOf } from '../finalizer-rules/finalizer-rule-set.ts';
import { keepEntryWithoutFinalizerRule } from './entry-without-finalizer-rule.ts';

/** The rules that an object goes by. */
export const REPLACEABLE_RULES: ReplaceableRules = { decideObject: decide, reserveCallTime };

/** Looks at one object under each of its FinalizerRules. @param subject with its UID */
export async function reconcileObject(
  context: ObjectContext,
  subject: Subject,
  wakeUp?: UsedWakeUp,
  answer?: WorkerAnswer,
): Promise<void> {
  const { deps } = context;
  const { uid, kind, name } = subject;
  if (uid === undefined) return;
  const timedLedgerRecord = openRecord(deps, LEDGER_CODEC, `object/${uid}`, wakeUp);
  const waitToRead = <Value extends LedgerEntry>(error: Error, timedRecord: TimedRecord<Value>, backoff: Backoff) =>
    noteRefusedRead(error, {
      backoff,
      timedRecord,
      reportOf: about => reportWarning(context.reporter, aboutSubject(about), EVENT_REASONS.finalizationError, 'retry'),
      // An answer of a worker is in no record yet (I9).
      isRequest: answer !== undefined,
    });
  const found = await valueOrUnavailable(loadFinalizerRules(deps));
  if (found.kind === 'unavailable') return waitToRead(found.error, timedLedgerRecord, createBackoff(deps.clock));
  const { value: all } = found;
  const rules = finalizerRulesForKind(parseApiVersion(subject.apiVersion).group, kind, all);
  const entriesLeft = entriesWithoutRule(await timedLedgerRecord.load(), rules);
  for (const inForce of rules) {
    const rule = inForce.object.metadata.name;
    const timedRecord = entryRecord(deps, timedLedgerRecord, ownerOf(inForce));
    // The plural stands in the status of the FinalizerRule, which others may have emptied.
    const resolved = await valueOrUnavailable(typeOf(deps, inForce));
    if (resolved.kind === 'unavailable') {
      await waitToRead(resolved.error, timedRecord, createBackoff(deps.clock));
      continue;
    }
    const { value: type } = resolved;
    if (type === undefined) {
      await keepEntryWithoutFinalizerRule(context, { subject, timedRecord, rule, because: undefined }, answer);
      continue;
    }
    const isRefused = !inForce.hasOwnFinalizer && (await isOwnFinalizerRefused(deps, inForce.object.metadata.uid));
    const run: ObjectRunContext = { ...context, backoff: createBackoff(deps.clock), ownAttempt: undefined, answer };
    await settle<ObservedObject, LedgerDecision>({
      what: `${kind} ${name}`,
      async observe() {
        const { ownAttempt, backoff } = run;
        const sought = { subject, inForce, type, timedRecord, isOwnFinalizerRefused: isRefused, ownAttempt };
        const looked = await orUnavailable(observe(deps, sought));
        if (looked.kind !== 'unavailable') return looked;
        await waitToRead(looked.error, timedRecord, backoff);
        return { kind: 'over' };
      },
      decide: observed => context.decideObject(observed.observation),
      apply: (decision, observed) => apply(run, decision, observed),
    });
  }
  for (const entry of entriesLeft) {
    const { rule } = entry;
    const because = whyNothingCleansUp(rule, all);
    await keepEntryWithoutFinalizerRule(
      context,
      { subject, timedRecord: entryRecord(deps, timedLedgerRecord, entry), rule, because },
      answer,
    );
  }
}

const typeOf = async (
  { kubernetes }: Pick<ObjectContext['deps'], 'kubernetes'>,
  { type, rule }: FinalizerRuleInForce,
): Promise<ResourceType | undefined> => type ?? (await kubernetes.resolve(rule));

/** The reason why nothing is cleaned up by a FinalizerRule. */
function whyNothingCleansUp(rule: string, all: readonly KubernetesObject[]): string {
  const object = all.find(({ metadata }) => metadata.name === rule);
  if (object === undefined) return `FinalizerRule ${rule} is gone`;
  const acceptance = acceptanceOf(object, all);
  return `FinalizerRule ${rule} is not what it was${acceptance.kind === 'invalid' ? `: ${acceptance.message}` : ''}`;
}
