import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { endChild, startChild } from '../src/child-processes.ts';

const MODULE = join(import.meta.dirname, '../src/child-processes.ts');
/** Starts a process of its own, says so, and would never end; nor would that one. */
const HANG = `
  const { spawn } = require('node:child_process');
  spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], { stdio: ['ignore', 'ignore', 'ignore', 3] }).once('spawn', () => console.log('up'));
  setInterval(() => {}, 1000);
`;

/**
 * Runs a parent that starts a child, which starts another, and goes on with `then` once they run. Both hold the parent's standard
 * output, as file 3, so the parent's `close` event comes only once all are gone.
 */
async function startParent(then: string): Promise<ChildProcess> {
  const script = `
    import { startChild } from ${JSON.stringify(MODULE)};
    const child = startChild(process.execPath, ['-e', ${JSON.stringify(HANG)}], { stdio: ['ignore', 'pipe', 'inherit', 1] });
    const { once } = await import('node:events');
    await once(child.stdout, 'data');
    console.log('up');
    ${then}
  `;
  const parent = spawn(process.execPath, ['--input-type=module', '-e', script], {
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  await once(createInterface({ input: parent.stdout }), 'line');
  return parent;
}

describe('child processes', () => {
  it.each([
    ['exits', 'process.exit(3);', 3, null],
    ['throws', "throw new Error('bug');", 1, null],
  ])('end with a parent that %s', async (_, then, code, signal) => {
    const parent = await startParent(then);
    expect(await once(parent, 'close')).toEqual([code, signal]);
  });

  it('end with a parent that is killed', async () => {
    const parent = await startParent('');
    parent.kill('SIGKILL');
    expect(await once(parent, 'close')).toEqual([null, 'SIGKILL']);
  });

  it.each(['SIGINT', 'SIGTERM', 'SIGHUP'] as const)(
    'end with a parent that gets %s, which ends it as ever',
    async signal => {
      const parent = await startParent('');
      parent.kill(signal);
      expect(await once(parent, 'close')).toEqual([null, signal]);
    },
  );

  it('leave the decision to others who listen to the signal', async () => {
    const parent = await startParent("process.on('SIGINT', () => process.exit(child.exitCode === null ? 5 : 6));");
    parent.kill('SIGINT');
    expect(await once(parent, 'close')).toEqual([5, null]);
  });

  it('leave no listener behind once they are gone', async () => {
    const before = process.listenerCount('SIGINT');
    const child = startChild(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], { stdio: 'ignore' });
    expect(process.listenerCount('SIGINT')).toBe(before + 1);
    await endChild(child);
    await endChild(child);
    expect(process.listenerCount('SIGINT')).toBe(before);
  });

  it('leave no listener behind when they cannot be started', async () => {
    const before = process.listenerCount('SIGINT');
    const child = startChild('/nonexistent', [], { stdio: 'ignore' });
    await once(child, 'error');
    await endChild(child);
    expect(process.listenerCount('SIGINT')).toBe(before);
  });
});
