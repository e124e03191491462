/** Calls the clean-up of an object, and keeps its answer: in the ledger first, then as a condition on the object (I1). */
import type { FinalizerContext } from '../common/context.ts';
import { reportOfFailure } from '../../../shared/domain/refusal.ts';
import { EVENT_REASONS } from '../../../shared/contract/reasons.ts';
import type { HookAnswer } from '../../../shared/domain/hook-answer.ts';
import { apiVersionOf } from '../../../shared/domain/kubernetes-object.ts';
import { readConditions } from '../../../shared/domain/node.ts';
import { addDuration, retryWait } from '../../../shared/domain/time.ts';
import { messageOf, RetryableError } from '../../../shared/errors.ts';
import { anotherTurn, type Turn } from '../../../shared/lifecycle/settle.ts';
import { setConditions } from '../common/set-condition.ts';
import { LEDGER_CHECK } from './decide.ts';
import { nextEntry, saveEntry, TAKE_OVER_AFTER } from './ledger.ts';
import type { ObservedObject } from './observe.ts';
import type { LedgerEntry } from './record.ts';
import { reportObject } from './report.ts';

const CALLED_PHASES: ReadonlySet<LedgerEntry['phase']> = new Set(['intended', 'pending', 'failed']);

/** Whether the entry waits for this answer. Success counts also when it comes too late to be waited for. */
export const awaitsAnswer = ({ phase, attempts }: LedgerEntry, { kind }: HookAnswer): boolean =>
  CALLED_PHASES.has(phase) || (kind === 'succeeded' && phase === 'orphaned' && attempts > 0);

/** Makes one call, with the same key each time; a call whose outcome is not known is a failure. */
export async function callCleanUp(
  { deps }: FinalizerContext,
  { inForce, object, subject }: ObservedObject,
  attempts: number,
): Promise<HookAnswer> {
  const { cleanup } = inForce.rule;
  if (cleanup.kind === 'none') return { kind: 'succeeded' };
  const { name, namespace, uid = '', kind } = subject;
  // The FinalizerRule names the version: the one in the ledger may no longer be served.
  const apiVersion = apiVersionOf(inForce.rule);
  const rule = inForce.object.metadata.name;
  try {
    return await deps.hooks.invoke({
      purpose: 'cleanup',
      name: rule,
      target: cleanup,
      key: `${uid}/${rule}`,
      about: { apiVersion, kind, name, uid, ...(namespace !== undefined && { namespace }) },
      details: { attempt: attempts, spec: object?.spec ?? {}, status: object?.status ?? {} },
    });
  } catch (error) {
    if (!(error instanceof RetryableError)) throw error;
    return { kind: 'failed', message: messageOf(error) };
  }
}

/** Stores an answer, whether it came from the call or by a worker's event. */
export async function saveAnswer(
  context: FinalizerContext,
  observed: ObservedObject,
  entry: LedgerEntry,
  answer: HookAnswer,
): Promise<Turn> {
  const { now } = observed.observation;
  const { message: _, ...fields } = nextEntry(observed);
  if (answer.kind === 'succeeded') {
    const saved = await saveEntry(
      observed,
      { ...fields, phase: 'cleaned', time: now },
      addDuration(now, TAKE_OVER_AFTER),
    );
    return saved.written ? anotherTurn('the clean-up is done') : saved;
  }
  if (answer.kind === 'pending') {
    const saved = await saveEntry(observed, { ...fields, phase: 'pending', time: now }, addDuration(now, LEDGER_CHECK));
    return saved.written ? anotherTurn('a worker is at it') : saved;
  }
  const { message } = answer;
  const failureReport = reportOfFailure(entry.failureReport, message, now);
  const next = { ...fields, phase: 'failed', time: now, message, failureReport } as const;
  const { longestBackoff } = observed.inForce.rule.rateLimit;
  const saved = await saveEntry(observed, next, addDuration(now, retryWait(entry.attempts, longestBackoff)));
  if (!saved.written) return saved;
  await degrade(context, observed, { attempts: entry.attempts, message, hasEvent: failureReport.time === now });
  return anotherTurn('the clean-up failed');
}

const CONDITION = 'Degraded';
const REASON = 'FinalizationError';
const OF_ANY_KIND = { mayLackSubresource: true };

async function degrade(
  { deps, reporter }: FinalizerContext,
  observed: ObservedObject,
  { attempts, message, hasEvent }: { readonly attempts: number; readonly message: string; readonly hasEvent: boolean },
): Promise<void> {
  const { object, ref, observation } = observed;
  // In the design's words.
  const text = `Failed to delete external resource: ${message}`;
  const reason = EVENT_REASONS.finalizationError;
  const type = hasEvent ? ({ type: 'Warning' } as const) : {};
  await reportObject(reporter, observed, { decision: 'retry', reason, message: text, attempts, ...type });
  if (object === undefined) return;
  const change = { type: CONDITION, status: 'True', reason: REASON, message: text } as const;
  await setConditions(deps, ref, object, { conditions: [change], now: observation.now, ...OF_ANY_KIND });
}

/** Takes our condition off once the clean-up has succeeded; one of somebody else stays. */
export async function clearDegraded(
  { deps }: FinalizerContext,
  { object, ref, observation }: ObservedObject,
): Promise<void> {
  const conditions = readConditions(object?.status?.['conditions']);
  const isOurs = conditions.some(({ type, reason }) => type === CONDITION && reason === REASON);
  if (object === undefined || !isOurs) return;
  const change = { type: CONDITION, status: 'absent' } as const;
  await setConditions(deps, ref, object, { conditions: [change], now: observation.now, ...OF_ANY_KIND });
}
