/** Runs something only while a lease is held; stands by otherwise. */
import type { Lease } from './lease.ts';

export interface Startable {
  start(): void;
  stop(): Promise<void>;
}

/**
 * Starts a new instance each time the lease is acquired and stops it when the lease is lost, until `signal` aborts; then the
 * lease is released, after the instance has stopped. Rejects when `create`, `start` or `stop` does.
 */
export async function runWhileLeading(
  { lease, create }: { readonly lease: Lease; readonly create: () => Startable },
  signal: AbortSignal,
): Promise<void> {
  while (!signal.aborted) {
    try {
      await lease.acquire(signal);
    } catch (error) {
      // An attempt that was under way may have succeeded.
      await lease.release();
      if (signal.aborted) return;
      throw error;
    }
    const instance = create();
    try {
      instance.start();
      await lease.hold(signal);
    } finally {
      await instance.stop();
    }
  }
  await lease.release();
}
