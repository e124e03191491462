/** What publishing everything again costs on the bus: the forwarder's own resync with its default settings, on virtual time. */
import { SILENT_LOG } from '../../forwarder/log.ts';
import { createResync } from '../../forwarder/resync.ts';
import { DEFAULT_SETTINGS } from '../../forwarder/settings.ts';
import { addDuration, hours, toEpochMs } from '../../shared/domain/time.ts';
import { createVirtualTime } from '../../simulator/virtual-time.ts';

export interface ResyncLoad {
  /** Events in each hour of two periods. */
  readonly perHour: readonly number[];
  /** Objects that were not published in the first of them. */
  readonly missed: number;
}

export async function measureResync(objects: number): Promise<ResyncLoad> {
  const { resync: settings } = DEFAULT_SETTINGS;
  const start = toEpochMs(0);
  const clock = createVirtualTime({ start });
  const keys = Array.from({ length: objects }, (_, index) => `u${index}`);
  const seen = new Set<string>();
  const perHour: number[] = [];
  let count = 0;
  const publish = async (key: string): Promise<void> => {
    count += 1;
    if (clock.now() <= settings.period) seen.add(key);
  };
  const end = new AbortController();
  const ended = createResync({ settings, clock, log: SILENT_LOG, keys: () => keys, publish }).run(end.signal);
  for (let hour = 1; hour <= (2 * settings.period) / hours(1); hour += 1) {
    count = 0;
    await clock.runUntil(addDuration(start, hours(hour)));
    perHour.push(count);
  }
  end.abort(new Error('measured'));
  await ended;
  return { perHour, missed: objects - seen.size };
}
