/** Ends child processes whose parent was killed without a chance to do so (`kill -9`, out of memory): a shell that outlives it. */
import { spawn } from 'node:child_process';
import { Socket } from 'node:net';

/**
 * Lines `+ PID SIGNAL` and `- PID` until the parent's end of the pipe is closed, by whatever ended it; then all that are left get their
 * signal, and KILL goes to all of a child's session.
 */
const SCRIPT = `
children=
while read -r change pid signal; do
  others=
  for known in $children; do [ "\${known%:*}" = "$pid" ] || others="$others $known"; done
  children=$others
  [ "$change" = + ] && children="$children $pid:$signal"
done
for child in $children; do
  pid=\${child%:*} signal=\${child#*:}
  [ "$signal" = KILL ] && kill -KILL "-$pid" || kill -"$signal" "$pid"
done
`;

export interface Reaper {
  /** @param signal that it gets in the end */
  add(pid: number, signal: NodeJS.Signals): void;
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
    add: (pid, signal) => void stdin.write(`+ ${pid} ${signal.replace(/^SIG/, '')}\n`),
    remove: pid => void stdin.write(`- ${pid}\n`),
    end: () => void stdin.end(),
  };
}
