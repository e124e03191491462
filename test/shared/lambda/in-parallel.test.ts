/** Messages of one batch at the same time. */
import { describe, expect, it } from 'vitest';
import { limitTo } from '../../../shared/cluster/in-parallel.ts';
import type { InboxMessage } from '../../../shared/contract/inbox-message.ts';
import { oneAtATime } from '../../../shared/lambda/in-parallel.ts';
import { logFields, withLogFields } from '../../../shared/lambda/log-fields.ts';

const message = (id: string): InboxMessage => ({ kind: 'busEvent', id, source: 's', detailType: 'd', detail: {} });
const idOf = (each: InboxMessage): string => (each.kind === 'busEvent' ? (each.id ?? '') : '');

/** Work that begins when it is called and ends when the test says so. */
function createWork() {
  const begun: string[] = [];
  const ends = new Map<string, PromiseWithResolvers<void>>();
  const work = (id: string): Promise<void> => {
    begun.push(id);
    const end = Promise.withResolvers<void>();
    ends.set(id, end);
    return end.promise;
  };
  return {
    begun,
    work,
    ends: (id: string) => ends.get(id)?.resolve(),
    fails: (id: string) => ends.get(id)?.reject(new Error(id)),
  };
}

/** Until everything that can go on has gone on. */
const settled = (): Promise<void> => new Promise(resolve => setImmediate(resolve));

describe('oneAtATime', () => {
  it('lets runs about one subject follow each other in their order, also after a failure, and others pass', async () => {
    const { begun, work, ends, fails } = createWork();
    const reconcile = oneAtATime(
      each => work(idOf(each)),
      each => idOf(each)[0] ?? '',
    );
    const runs = ['a1', 'a2', 'b1', 'a3'].map(id => reconcile(message(id)));
    const outcomes = Promise.allSettled(runs);
    await settled();
    expect(begun).toEqual(['a1', 'b1']);
    fails('a1');
    await settled();
    expect(begun).toEqual(['a1', 'b1', 'a2']);
    ends('a2');
    await settled();
    expect(begun).toEqual(['a1', 'b1', 'a2', 'a3']);
    ends('a3');
    ends('b1');
    expect((await outcomes).map(({ status }) => status)).toEqual(['rejected', 'fulfilled', 'fulfilled', 'fulfilled']);
    void reconcile(message('a4'));
    expect(begun.at(-1)).toBe('a4');
  });
});

describe('limitTo', () => {
  it('begins the next one that waits when one has ended or failed', async () => {
    const { begun, work, ends, fails } = createWork();
    const limited = limitTo(2);
    const outcomes = Promise.allSettled(['a', 'b', 'c', 'd'].map(id => limited(() => work(id))));
    await settled();
    expect(begun).toEqual(['a', 'b']);
    fails('b');
    await settled();
    expect(begun).toEqual(['a', 'b', 'c']);
    for (const id of ['a', 'c']) ends(id);
    await settled();
    expect(begun).toEqual(['a', 'b', 'c', 'd']);
    ends('d');
    expect((await outcomes).map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled', 'fulfilled']);
  });
});

describe('log fields', () => {
  it('are those of the run that writes, whatever else is at work', async () => {
    const { work, ends } = createWork();
    const seen: unknown[] = [];
    const runs = ['a', 'b'].map(messageId =>
      withLogFields({ messageId }, async () => {
        await work(messageId);
        seen.push(logFields());
      }),
    );
    ends('b');
    await settled();
    ends('a');
    await Promise.all(runs);
    expect(seen).toEqual([{ messageId: 'b' }, { messageId: 'a' }]);
    expect(logFields()).toEqual({});
  });
});
