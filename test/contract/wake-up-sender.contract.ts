/** What every `WakeUpSender` does: the one in this process, and the adapter on each SQS. */
import { expect, it } from 'vitest';
import { parseInboxMessage } from '../../shared/contract/inbox-message.ts';
import { toWakeUpEnvelope, type WakeUp } from '../../shared/contract/wake-up.ts';
import { seconds, toEpochMs } from '../../shared/domain/time.ts';
import type { WakeUpSender } from '../../shared/ports/inbox.ts';

export interface WakeUpSenderSubject {
  readonly sender: WakeUpSender;
  /** Receives and deletes all that is visible in the inbox of a function. */
  received(owner: WakeUp['owner']): Promise<readonly string[]>;
  /** How many wait for their delay there. */
  delayed(owner: WakeUp['owner']): Promise<number>;
}

const wakeUp = (name: string, owner: WakeUp['owner']): WakeUp => ({
  owner,
  subject: { kind: 'Node', apiVersion: 'v1', name, uid: `uid-${name}` },
  wakeTime: toEpochMs(1_730_473_200_123),
});
const names = (count: number, prefix: string): readonly string[] =>
  Array.from({ length: count }, (_, index) => `${prefix}-${index}`);

/** Defines the suite; each test takes what it has sent out of the inboxes of `repair` and `drain` again. */
export function defineWakeUpSenderContract(makeSubject: () => Promise<WakeUpSenderSubject>): void {
  it('brings each wake-up once to the inbox of its owner, however many there are', async () => {
    const { sender, received } = await makeSubject();
    const [own, others] = [names(25, 'own'), names(3, 'other')];
    await sender.send([
      ...own.map(name => ({ wakeUp: wakeUp(name, 'repair'), delay: seconds(0) })),
      ...others.map(name => ({ wakeUp: wakeUp(name, 'drain'), delay: seconds(0) })),
    ]);
    for (const [owner, sent] of [
      ['repair', own],
      ['drain', others],
    ] as const) {
      const bodies = await received(owner);
      expect(new Set(bodies.map(body => parseInboxMessage(body).kind))).toEqual(new Set(['wakeUp']));
      const messages = bodies.map(body => JSON.parse(body));
      expect(messages).toHaveLength(sent.length);
      for (const name of sent) expect(messages).toContainEqual(toWakeUpEnvelope(wakeUp(name, owner)));
    }
  });

  it('holds a wake-up back for its delay, as long as it may be', async () => {
    const { sender, received, delayed } = await makeSubject();
    const before = await delayed('repair');
    await sender.send([
      { wakeUp: wakeUp('later', 'repair'), delay: seconds(900) },
      { wakeUp: wakeUp('soon', 'repair'), delay: seconds(60) },
    ]);
    expect(await received('repair')).toEqual([]);
    expect((await delayed('repair')) - before).toBe(2);
  });

  it('refuses an owner without an inbox, and a delay that SQS cannot carry', async () => {
    const { sender } = await makeSubject();
    await expect(sender.send([{ wakeUp: wakeUp('n', 'finalizer'), delay: seconds(0) }])).rejects.toThrow('inbox');
    await expect(sender.send([{ wakeUp: wakeUp('n', 'repair'), delay: seconds(901) }])).rejects.toThrow('900');
  });
}
