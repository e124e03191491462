import { expect, it } from 'vitest';
import { startForwarderProcess } from '../../cli/start/forwarder-process.ts';
import { invariant } from '../../shared/domain/invariant.ts';

// As the kernel ends it when memory is short, or a person who tries what happens.
it('says that somebody killed the forwarder', async () => {
  const problem = Promise.withResolvers<string>();
  const forwarder = startForwarderProcess({}, problem.resolve);
  try {
    const pid = forwarder.pid();
    invariant(pid !== undefined, 'it was started');
    process.kill(pid, 'SIGKILL');
    expect(await problem.promise).toBe('the forwarder ended with SIGKILL; it is started again');
  } finally {
    await forwarder.stop();
  }
});
