import { durationBetween, toDurationMs, type DurationMs, type EpochMs } from '../shared/domain/time.ts';
import type { Clock } from '../shared/ports/clock.ts';

/** A signal that aborts with its parent, or when nothing was reported for too long. */
export interface InactivityGuard {
  readonly signal: AbortSignal;
  /** There is life: start counting again. */
  alive(): void;
  /** Whether inactivity aborted. */
  expired(): boolean;
  /** Stops listening to the parent, and the sleep. */
  dispose(): void;
}

/**
 * Guards a call or a stream whose other end may have vanished without a word (a half-open connection never fails by itself).
 * One sleep per period of silence, however much life there is.
 */
export function guardInactivity(clock: Clock, longest: DurationMs, parent: AbortSignal, what: string): InactivityGuard {
  const { controller, unlink } = linkAbort(parent);

  let lastLife: EpochMs = clock.now();
  let expired = false;
  const watchOver = async (): Promise<void> => {
    for (;;) {
      const silence = durationBetween(lastLife, clock.now());
      if (silence >= longest) break;
      await clock.sleep(toDurationMs(longest - silence), controller.signal);
    }
    expired = true;
    controller.abort(new Error(`${what}: nothing heard for ${longest / 1000} s`));
  };
  // The sleep ends by rejection when the guard is disposed of or its parent aborts: that is its normal end.
  watchOver().catch(() => undefined);

  return {
    signal: controller.signal,
    alive: () => {
      lastLife = clock.now();
    },
    expired: () => expired,
    dispose: () => {
      unlink();
      controller.abort(DISPOSED);
    },
  };
}

/** Nobody reads it; creating one with its stack for each guard would cost more than the guard. */
const DISPOSED = new Error('the guard was disposed of');

/** A controller that aborts with its parent. */
export interface LinkedAbort {
  readonly controller: AbortController;
  /** Stops listening to the parent, which may live as long as the process. */
  readonly unlink: () => void;
}

/** Makes a controller that aborts with `parent`, at once if that has. Call `unlink` when its own work is over. */
export function linkAbort(parent: AbortSignal): LinkedAbort {
  const controller = new AbortController();
  const abortWithParent = (): void => controller.abort(parent.reason);
  if (parent.aborted) abortWithParent();
  else parent.addEventListener('abort', abortWithParent, { once: true });
  return { controller, unlink: () => parent.removeEventListener('abort', abortWithParent) };
}

/** Settles as `promise` does, or rejects as soon as `signal` aborts, even if the promise never settles. */
export function orAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const abort = (): void => reject(signal.reason);
    if (signal.aborted) abort();
    signal.addEventListener('abort', abort, { once: true });
    const settle = (done: () => void): void => {
      signal.removeEventListener('abort', abort);
      done();
    };
    promise.then(
      value => settle(() => resolve(value)),
      (error: unknown) => settle(() => reject(error)),
    );
  });
}

/** A stream's messages until it ends or the guard aborts, even if the stream takes no notice of its signal. */
export async function* guardedMessages<T>(stream: AsyncIterable<T>, guard: InactivityGuard): AsyncGenerator<T> {
  const iterator = stream[Symbol.asyncIterator]();
  try {
    for (;;) {
      const next = await orAborted(iterator.next(), guard.signal);
      if (next.done === true) break;
      yield next.value;
    }
  } finally {
    // Not awaited: a stream that hangs would hang here as well. What it fails with has been thrown above, or nobody reads it any more.
    iterator.return?.().catch(() => undefined);
  }
}
