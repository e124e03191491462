/**
 * Gives a process less than a processor, as Lambda does: so much processor time a second, over all its threads, and no more. Needs no
 * cgroup, but Linux: the process is stopped (SIGSTOP) when it has used its quota, and goes on (SIGCONT) when there is some again. Waiting costs nothing.
 */
import { readFileSync } from 'node:fs';

/** Lambda gives one processor for this much memory, and a share of it for less. */
export const MIB_PER_PROCESSOR = 1769;
const CHECK_EVERY_MS = 2;
/** What was not used is kept for so long: a process that waited may not catch up. */
const PERIOD_MS = 20;
/** Of the times in `/proc/PID/stat`. */
const TICK_MS = 10;

/** @param share of a processor, above 0 and at most 1 */
export function throttle(pid: number, share: number): Disposable {
  let quotaMs = 0;
  let time = performance.now();
  let usedMs = processorTimeOf(pid) ?? 0;
  let isStopped = false;
  const check = (): void => {
    const used = processorTimeOf(pid);
    // It has ended.
    if (used === undefined) return clearInterval(timer);
    const now = performance.now();
    quotaMs = Math.min(quotaMs + (now - time) * share, PERIOD_MS * share) - (used - usedMs);
    [time, usedMs] = [now, used];
    const mayRun = quotaMs > 0;
    if (mayRun !== isStopped) return;
    signal(pid, mayRun ? 'SIGCONT' : 'SIGSTOP');
    isStopped = !mayRun;
  };
  const timer = setInterval(check, CHECK_EVERY_MS);
  return {
    [Symbol.dispose]() {
      clearInterval(timer);
      signal(pid, 'SIGCONT');
    },
  };
}

/** User and system time in milliseconds. */
function processorTimeOf(pid: number): number | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The name in parentheses may have spaces and parentheses of its own.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return (Number(fields[11]) + Number(fields[12])) * TICK_MS;
  } catch {
    return undefined;
  }
}

function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch {
    // It has ended.
  }
}
