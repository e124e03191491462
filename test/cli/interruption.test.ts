/** `timeout`, systemd and CI systems signal the whole group, and the starter passes SIGTERM on: the process hears it twice. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { expect, it } from 'vitest';

const MODULE = new URL('../../cli/start/interruption.ts', import.meta.url).href;
const SCRIPT = `
  import { untilInterrupted } from ${JSON.stringify(MODULE)};
  const keepsAlive = setInterval(() => undefined, 1000);
  const interrupted = untilInterrupted();
  process.send('ready');
  await interrupted;
  process.send('interrupted');
  process.on('message', () => { clearInterval(keepsAlive); console.log('stopped'); process.exit(); });
`;

it.each(['SIGTERM', 'SIGHUP'] as const)('%s that comes twice stops in order once', async name => {
  const child = spawn(process.execPath, ['--input-type=module', '--eval', SCRIPT], {
    stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
  });
  if (child.stdout === null) throw new Error('stdout is a pipe');
  const printed = text(child.stdout);
  await once(child, 'message');
  child.kill(name);
  await once(child, 'message');
  child.kill(name);
  child.send('stop');
  const [code, signal] = (await once(child, 'exit')) as [number | null, string | null];
  expect({ code, signal, printed: await printed }).toEqual({ code: 0, signal: null, printed: 'stopped\n' });
});

// SIGHUP: somebody closes the window of the terminal in the boot.
it.each([
  ['SIGINT', 130],
  ['SIGTERM', 143],
  ['SIGHUP', 129],
] as const)('%s ends a boot by way of `exit`, which removes what is on disk', async (name, expected) => {
  const script = `
    import { endWhenInterrupted } from ${JSON.stringify(MODULE)};
    setInterval(() => undefined, 1000);
    using _ = endWhenInterrupted();
    process.on('exit', () => console.log('removed'));
    process.send('ready');
    await new Promise(() => undefined);
  `;
  const child = spawn(process.execPath, ['--input-type=module', '--eval', script], {
    stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
  });
  if (child.stdout === null) throw new Error('stdout is a pipe');
  const printed = text(child.stdout);
  await once(child, 'message');
  child.kill(name);
  const [code, signal] = (await once(child, 'exit')) as [number | null, string | null];
  expect({ code, signal, printed: await printed }).toEqual({ code: expected, signal: null, printed: 'removed\n' });
});
