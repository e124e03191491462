/** What every `DeadLetters` does: the one in this process, and the adapter on SQS. No text beyond U+FFFF: SQS takes those, fauxqs does not. */
import { expect, it } from 'vitest';
import type { DeadLetters } from '../../shared/ports/dead-letters.ts';

type Parked = Parameters<DeadLetters['park']>[0];

export interface DeadLettersSubject {
  readonly deadLetters: DeadLetters;
  /** All that was parked since it was asked last, in its order. */
  parked(): Promise<readonly Parked[]>;
}

const message: Parked = { function: 'repair', body: '{"a":1}', reason: 'InvalidMessage', explanation: 'no source' };

/** Defines the suite. */
export function defineDeadLettersContract(makeSubject: () => Promise<DeadLettersSubject>): void {
  it('I9: keeps each message whole, with its function, its reason and why, also one that comes twice', async () => {
    const { deadLetters, parked } = await makeSubject();
    const other: Parked = { ...message, function: 'drain', body: 'not JSON: ä ✓\n\t"', explanation: 'it is no JSON' };
    for (const each of [message, other, message]) await deadLetters.park(each);
    expect(await parked()).toEqual([message, other, message]);
  });

  it('I9: parks what a queue would refuse, with another text in its place', async () => {
    const { deadLetters, parked } = await makeSubject();
    await deadLetters.park({ ...message, body: 'a\u0000b\ud800c', explanation: 'bell: \u0007' });
    await deadLetters.park({ ...message, body: '', explanation: '' });
    expect(await parked()).toEqual([
      { ...message, body: 'a\ufffdb\ufffdc', explanation: 'bell: \ufffd' },
      { ...message, body: '(empty)', explanation: '(empty)' },
    ]);
  });

  it('cuts a long explanation, and nothing of the message', async () => {
    const { deadLetters, parked } = await makeSubject();
    const body = 'x'.repeat(200_000);
    await deadLetters.park({ ...message, body, explanation: 'y'.repeat(5000) });
    expect(await parked()).toEqual([{ ...message, body, explanation: `${'y'.repeat(999)}…` }]);
  });
}
