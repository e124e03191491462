/** What every `EventBus` does: the one in this process, and the adapter on each EventBridge. */
import { expect, it } from 'vitest';
import { DRAIN_COMPLETED, SOURCES } from '../../shared/contract/names.ts';
import type { EventBus } from '../../shared/ports/event-bus.ts';

/** The source that the rule of a subject asks for. */
export const WANTED_SOURCE = SOURCES.drain;

export interface EventBusSubject {
  readonly bus: EventBus;
  /** Events of `WANTED_SOURCE` that a rule has brought to a queue since it was asked last. */
  delivered(): Promise<readonly { readonly 'detail-type'?: string; readonly detail?: unknown }[]>;
}

const entry = (source: string, detail: Readonly<Record<string, unknown>>) => ({
  source,
  detailType: DRAIN_COMPLETED,
  detail,
});

/** Defines the suite. */
export function defineEventBusContract(makeSubject: () => Promise<EventBusSubject>): void {
  it('publishes ten entries, and a rule delivers those that it asks for, whole', async () => {
    const { bus, delivered } = await makeSubject();
    const own = Array.from({ length: 6 }, (_, index) => entry(WANTED_SOURCE, { index, text: 'ä "quoted" 💥\n' }));
    const others = Array.from({ length: 4 }, (_, index) => entry(SOURCES.repair, { index }));
    const outcomes = await bus.publish([...own, ...others]);
    expect(outcomes).toEqual(Array.from({ length: 10 }, () => ({ kind: 'published' })));
    const events = await delivered();
    expect(events).toHaveLength(own.length);
    for (const { detail } of own) {
      expect(events).toContainEqual(expect.objectContaining({ 'detail-type': DRAIN_COMPLETED, detail }));
    }
  });

  it('takes more than fits into one call, and refuses what fits into none', async () => {
    const { bus, delivered } = await makeSubject();
    const large = (index: number, length: number) => entry(WANTED_SOURCE, { index, filler: 'x'.repeat(length) });
    const entries = [large(0, 240_000), large(1, 240_000), large(2, 1_000_000), large(3, 240_000), large(4, 240_000)];
    const outcomes = await bus.publish([...entries, large(5, 240_000)]);
    expect(outcomes.map(({ kind }) => kind)).toEqual([
      'published',
      'published',
      'rejected',
      'published',
      'published',
      'published',
    ]);
    expect(outcomes[2]).toMatchObject({ code: 'EntryTooLarge' });
    expect(await delivered()).toHaveLength(5);
  });

  it('takes no entries for nothing', async () => {
    const { bus, delivered } = await makeSubject();
    expect(await bus.publish([])).toEqual([]);
    expect(await delivered()).toEqual([]);
  });
}
