/** Child processes that never outlive this one: ended by their pid at `end`, and all that are left when the process exits, is interrupted or killed. */
import { spawn, type ChildProcess, type SpawnOptions } from 'node:child_process';
import { once } from 'node:events';
import { startReaper, type Reaper } from './reaper.ts';

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
/** With the signal that ends each when this process ends first. */
const running = new Map<ChildProcess, NodeJS.Signals>();
let reaper: Reaper | undefined;

/**
 * Like `spawn`, in a session of its own: Ctrl-C reaches this process alone, which ends its children in order. The standard streams are
 * those of `options`.
 * @param lastSignal ends it when this process ends first
 */
export function startChild(
  command: string,
  args: readonly string[],
  options: SpawnOptions,
  lastSignal: NodeJS.Signals = 'SIGKILL',
): ChildProcess {
  const child = spawn(command, args, { detached: true, ...options });
  if (running.size === 0) watchForExit();
  running.set(child, lastSignal);
  if (child.pid !== undefined) reaper?.add(child.pid, lastSignal);
  child.once('exit', () => forget(child));
  // Without a pid it never ran, and no exit follows.
  child.once('error', () => forget(child));
  return child;
}

/** Resolves once the process is gone; at once for one that is. */
export async function endChild(child: ChildProcess, signal: NodeJS.Signals = 'SIGKILL'): Promise<void> {
  if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
  const gone = once(child, 'exit');
  endWithItsOwn(child, signal);
  await gone;
}

function forget(child: ChildProcess): void {
  running.delete(child);
  if (child.pid !== undefined) reaper?.remove(child.pid);
  if (running.size > 0) return;
  reaper?.end();
  reaper = undefined;
  process.off('exit', endAll);
  for (const signal of SIGNALS) process.off(signal, onSignal);
}

function watchForExit(): void {
  reaper = startReaper();
  // Before others remove what the children write to.
  process.prependListener('exit', endAll);
  for (const signal of SIGNALS) process.on(signal, onSignal);
}

function endAll(): void {
  for (const [child, lastSignal] of running) endWithItsOwn(child, lastSignal);
}

/** A child that is killed cannot end what it started itself: its whole session goes. */
function endWithItsOwn(child: ChildProcess, signal: NodeJS.Signals): void {
  if (signal !== 'SIGKILL' || child.pid === undefined) return void child.kill(signal);
  try {
    process.kill(-child.pid, signal);
  } catch {
    child.kill(signal);
  }
}

/** Does what the signal would have done without us, unless somebody else listens: then the end is theirs to decide. */
function onSignal(signal: NodeJS.Signals): void {
  if (process.listenerCount(signal) > 1) return;
  endAll();
  process.off(signal, onSignal);
  process.kill(process.pid, signal);
}
