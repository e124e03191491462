/** What a worker answered to a hook, as the record keeps it. Pure. */
import type { EpochMs } from '../../../shared/domain/time.ts';
import type { HookAnswer } from '../../../shared/contract/hook-answer.ts';
import type { HookProgress } from './record.ts';

/** `resource`: how the custom resource of a hook is found again; its version as it was last seen. */
export type ResourceAnswer = HookAnswer & { readonly resource?: HookProgress['resource'] };

/**
 * The progress of all hooks after these answers. One that comes late counts as long as the hook is not over: it ends a hold, and it
 * spares the next try. `pending` is a heartbeat.
 */
export function withAnswers(
  hooks: Readonly<Record<string, HookProgress>>,
  answers: ReadonlyMap<string, ResourceAnswer>,
  now: EpochMs,
): Record<string, HookProgress> {
  return Object.fromEntries(
    Object.entries(hooks).map(([name, progress]) => {
      const answer = answers.get(name);
      return [name, answer === undefined ? progress : after(progress, answer, now)];
    }),
  );
}

function after(progress: HookProgress, answer: ResourceAnswer, now: EpochMs): HookProgress {
  if (progress.phase === 'succeeded' || progress.phase === 'passed') return progress;
  const { message: _, ...rest } = progress;
  switch (answer.kind) {
    case 'succeeded':
      return { ...rest, phase: 'succeeded', lastSeenTime: now };
    case 'failed':
      return progress.phase === 'timedOut'
        ? { ...progress, message: answer.message }
        : { ...rest, phase: 'failed', lastSeenTime: now, message: answer.message };
    case 'pending':
      if (progress.phase === 'timedOut') return progress;
      return {
        ...progress,
        phase: 'pending',
        lastSeenTime: now,
        // Without it the resource that was just made is never looked at.
        ...(answer.resource !== undefined && { resource: answer.resource }),
      };
  }
}
