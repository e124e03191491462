/** Ends child processes whose parent was killed without a chance to do so (`kill -9`, out of memory): a shell that outlives it. */
import { spawn } from 'node:child_process';
import { Socket } from 'node:net';

/** Lines `+ PID` and `- PID` until the parent's end of the pipe is closed, by whatever ended it; then all that are left are killed. */
const SCRIPT = `
pids=
while read -r change pid; do
  others=
  for known in $pids; do [ "$known" = "$pid" ] || others="$others $known"; done
  pids=$others
  [ "$change" = + ] && pids="$pids $pid"
done
for pid in $pids; do kill -9 "$pid"; done
`;

export interface Reaper {
  add(pid: number): void;
  remove(pid: number): void;
  /** Ends it, and whatever it still knows. */
  end(): void;
}

/** Without a shell, or when it dies, there is no reaper and nothing else changes. */
export function startReaper(): Reaper {
  // In a session of its own, so that Ctrl-C, which the parent deals with, does not reach it.
  const shell = spawn('/bin/sh', ['-c', SCRIPT], { stdio: ['pipe', 'ignore', 'ignore'], detached: true });
  const { stdin } = shell;
  shell.on('error', () => undefined);
  stdin.on('error', () => undefined);
  // Neither keeps the parent from ending.
  shell.unref();
  if (stdin instanceof Socket) stdin.unref();
  return {
    add: pid => void stdin.write(`+ ${pid}\n`),
    remove: pid => void stdin.write(`- ${pid}\n`),
    end: () => void stdin.end(),
  };
}
