/**
 * States of the watch of a custom kind, in the words that its owner's status shows. Pure.
 *
 *   looking ─found─▶ watching ─not served any more─▶ looking
 *      └─ not served, or refused: say so, look again with back-off
 */
import type { KindWatch } from '../shared/contract/cluster-event.ts';
import type { GroupVersionKind } from '../shared/domain/kubernetes-object.ts';
import { notServed } from '../shared/domain/not-served.ts';
import { messageOf, RetryableError } from '../shared/errors.ts';
import type { WatchStatus } from './watch-status.ts';

export type KindState = Pick<KindWatch, 'state' | 'message' | 'resource'>;

export function stateOfError(error: unknown): KindState {
  const forbidden = error instanceof RetryableError && error.reason === 'Forbidden';
  return { state: forbidden ? 'Forbidden' : 'Failing', message: messageOf(error) };
}

export interface KindProgress {
  /** Failures in a row, of looking or of watching. */
  readonly failures: number;
  /** Watches in a row that found nothing served, although discovery knows the kind: one of the two is behind. */
  readonly misses: number;
}

export type KindStep =
  /** Discovery knows the kind. */
  | { readonly kind: 'found' }
  /** Discovery does not know it, but in these versions. */
  | { readonly kind: 'unknown'; readonly versions: readonly string[] }
  | { readonly kind: 'lookFailed'; readonly error: unknown }
  /** The list-watch of this resource has a new state. */
  | { readonly kind: 'watched'; readonly status: WatchStatus; readonly resource: string };

export interface KindTransition {
  readonly progress: KindProgress;
  /** The state that the owners are told. */
  readonly shows?: KindState;
  /** The watch ends, and the kind is looked for again. */
  readonly looksAgain?: true;
}

export const FIRST_LOOK: KindProgress = { failures: 0, misses: 0 };

/** Failures in a row before they are reported: one is cured by the next attempt. */
const FAILURES_BEFORE_REPORT = 3;

export function nextKind(wanted: GroupVersionKind, { failures, misses }: KindProgress, step: KindStep): KindTransition {
  switch (step.kind) {
    case 'found':
      return { progress: { failures: 0, misses } };
    case 'unknown':
      return {
        progress: { failures: 0, misses },
        shows: { state: 'NotServed', message: notServed(wanted, step.versions) },
      };
    case 'lookFailed':
      return withFailure({ failures: failures + 1, misses }, stateOfError(step.error));
    case 'watched':
      return nextOfWatch(wanted, { failures, misses }, step.status, step.resource);
  }
}

function nextOfWatch(
  wanted: GroupVersionKind,
  before: KindProgress,
  { state, problem, forbidden }: WatchStatus,
  resource: string,
): KindTransition {
  if (state === 'notServed') {
    const misses = before.misses + 1;
    const next = { progress: { failures: 0, misses }, looksAgain: true } as const;
    if (misses < FAILURES_BEFORE_REPORT) return next;
    return { ...next, shows: { state: 'NotServed', message: notServed(wanted) } };
  }
  const failures = problem === undefined ? 0 : before.failures + 1;
  const progress = { failures, misses: state === 'synced' ? 0 : before.misses };
  if (forbidden) return { progress, shows: { state: 'Forbidden', message: problem ?? '' } };
  if (problem !== undefined) return withFailure(progress, { state: 'Failing', message: problem });
  return state === 'synced' ? { progress, shows: { state: 'Watching', resource } } : { progress };
}

const withFailure = (progress: KindProgress, shows: KindState): KindTransition =>
  progress.failures < FAILURES_BEFORE_REPORT ? { progress } : { progress, shows };
