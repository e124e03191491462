import { describe, expect, it } from 'vitest';
import { parseInboxMessage } from '../../../shared/contract/inbox-message.ts';
import { toWakeUpEnvelope, WAKE_UP_VERSION } from '../../../shared/contract/wake-up.ts';
import { toEpochMs } from '../../../shared/domain/time.ts';

const WAKE_UP = {
  owner: 'repair',
  subject: { kind: 'Node', apiVersion: 'v1', name: 'node-1', uid: 'uid-1' },
  wakeTime: toEpochMs(1_730_473_200_000),
} as const;

const read = (detail: object) => {
  const envelope = toWakeUpEnvelope(WAKE_UP);
  return parseInboxMessage(JSON.stringify({ ...envelope, detail: { ...envelope.detail, ...detail } }));
};

describe('a wake-up', () => {
  it('is read as it was sent', () => {
    expect(read({})).toEqual({ kind: 'wakeUp', ...WAKE_UP });
  });

  it('of the next version, sent while functions are rolled out one by one, is read too', () => {
    const subject = { ...WAKE_UP.subject, added: 1 };
    expect(read({ schemaVersion: WAKE_UP_VERSION + 1, subject, added: { by: 'newer' } })).toEqual({
      kind: 'wakeUp',
      ...WAKE_UP,
    });
  });

  it.each([0, WAKE_UP_VERSION + 2, '1', undefined])('of version %s is refused, and the reason says so', version => {
    expect(() => read({ schemaVersion: version })).toThrow(/schemaVersion/);
  });
});
