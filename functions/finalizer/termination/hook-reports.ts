/** How hooks went: said once for each answer. */
import { EVENT_REASONS } from '../../../shared/contract/reasons.ts';
import type { HookProgress } from './record.ts';
import { tell, type TerminationContext } from './context.ts';

/** What one hook answered; nothing is said of a worker that is still at it. */
export async function reportHook(context: TerminationContext, name: string, progress: HookProgress): Promise<void> {
  const { phase, attempts, message = '' } = progress;
  if (phase === 'succeeded') {
    const done = `hook ${name} has done its work`;
    await tell(context, { decision: 'hook', reason: 'HookSucceeded', message: done, details: { hook: name } });
  }
  if (phase !== 'failed') return;
  await tell(context, {
    decision: 'hook',
    reason: EVENT_REASONS.terminationHookFailed,
    message: `hook ${name} failed: ${message}`,
    details: { hook: name, attempt: attempts },
    event: { type: 'Warning' },
  });
}

/** The answers that came by events and have just been stored. @param before the hooks as they stood */
export async function reportAnswers(
  context: TerminationContext,
  before: Readonly<Record<string, HookProgress>>,
): Promise<void> {
  const { hooks } = context.progress();
  for (const name of context.run.answers.keys()) {
    const now = Object.hasOwn(hooks, name) ? hooks[name] : undefined;
    const was = Object.hasOwn(before, name) ? before[name] : undefined;
    if (now === undefined) {
      await tell(context, {
        decision: 'ignore',
        reason: 'NothingWaits',
        message: `an answer to hook ${name} came, and no hook of that name was called`,
        details: { hook: name },
      });
    } else if (now.phase !== was?.phase || now.message !== was.message) {
      await reportHook(context, name, now);
    }
  }
}
