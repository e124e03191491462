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

it('SIGTERM that comes twice stops in order once', async () => {
  const child = spawn(process.execPath, ['--input-type=module', '--eval', SCRIPT], {
    stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
  });
  if (child.stdout === null) throw new Error('stdout is a pipe');
  const printed = text(child.stdout);
  await once(child, 'message');
  child.kill('SIGTERM');
  await once(child, 'message');
  child.kill('SIGTERM');
  child.send('stop');
  const [code, signal] = (await once(child, 'exit')) as [number | null, string | null];
  expect({ code, signal, printed: await printed }).toEqual({ code: 0, signal: null, printed: 'stopped\n' });
});
