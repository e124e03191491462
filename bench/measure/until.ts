import { setTimeout as sleep } from 'node:timers/promises';

export interface Patience {
  /** Between two looks. */
  readonly pollMs: number;
  /** In all. */
  readonly patienceMs: number;
}

/** Polls until `isSo`. Throws when it is not in time. @param what is waited for, in words */
export async function until(
  what: string,
  isSo: () => boolean | Promise<boolean>,
  { pollMs, patienceMs }: Patience,
): Promise<void> {
  const giveUp = performance.now() + patienceMs;
  while (!(await isSo())) {
    if (performance.now() > giveUp) throw new Error(`waited for ${what} for ${patienceMs / 1000} s`);
    await sleep(pollMs);
  }
}
