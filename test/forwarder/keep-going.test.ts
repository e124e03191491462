import { describe, expect, it } from 'vitest';
import { inBackground } from '../../forwarder/keep-going.ts';
import { SILENT_LOG, type Log } from '../../forwarder/log.ts';
import { runWhileLeading } from '../../forwarder/standby.ts';

function recordingLog() {
  const errors: unknown[] = [];
  const log: Log = { ...SILENT_LOG, error: (fields, message) => errors.push({ ...fields, message }) };
  return { log, errors };
}

describe('work that nobody waits for', () => {
  it('says in the log why it failed, unless it was told to end', async () => {
    const { log, errors } = recordingLog();
    const end = new AbortController();
    inBackground(Promise.reject(new Error('no such queue')), end.signal, log, 'telling failed');
    await Promise.resolve();
    expect(errors).toEqual([{ error: 'no such queue', message: 'telling failed' }]);

    end.abort(new Error('the forwarder stops'));
    inBackground(Promise.reject(new Error('the forwarder stops')), end.signal, log, 'telling failed');
    await Promise.resolve();
    expect(errors).toHaveLength(1);
  });
});

describe('standing by', () => {
  it('gives the lease back and fails when acquiring it fails for another reason than the end', async () => {
    const calls: string[] = [];
    const lease = {
      acquire: () => Promise.reject(new TypeError('a bug')),
      hold: () => Promise.resolve('lost' as const),
      release: async () => void calls.push('release'),
    };
    const create = () => ({ start: () => undefined, stop: () => Promise.resolve() });
    await expect(runWhileLeading({ lease, create }, new AbortController().signal)).rejects.toThrow('a bug');
    expect(calls).toEqual(['release']);
  });
});
