import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { expect, it } from 'vitest';
import { startReaper } from '../src/reaper.ts';

const startSleeper = () => spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], { stdio: 'ignore' });

it('a reaper ends what it knows when its pipe is closed, and not what it was told to forget', async () => {
  const [known, forgotten] = [startSleeper(), startSleeper()];
  try {
    const reaper = startReaper();
    reaper.add(forgotten.pid ?? 0, 'SIGKILL');
    reaper.add(known.pid ?? 0, 'SIGTERM');
    reaper.remove(forgotten.pid ?? 0);
    reaper.end();
    expect(await once(known, 'exit')).toEqual([null, 'SIGTERM']);
    expect(forgotten.signalCode).toBeNull();
  } finally {
    forgotten.kill('SIGKILL');
    await once(forgotten, 'exit');
  }
});
