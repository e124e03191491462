import type { SwitchedWatch } from './node-pods.ts';
import { orAborted } from './silence.ts';
import type { WatchStatus } from './watch-status.ts';

/** A list-watch that starts empty each time it is switched on. `whole`: ends it in any case. */
export function createSwitchedWatch(
  create: (onStatus: (status: WatchStatus) => void) => { run(signal: AbortSignal): Promise<void> },
  whole: () => AbortSignal | undefined,
): SwitchedWatch {
  let current: { readonly end: AbortController; readonly known: Promise<void> } | undefined;

  return {
    start() {
      const parent = whole();
      if (current !== undefined || parent === undefined || parent.aborted) return;
      const end = new AbortController();
      const stop = (): void => end.abort(parent.reason);
      parent.addEventListener('abort', stop, { once: true });
      let markKnown = (): void => undefined;
      const known = new Promise<void>(resolve => (markKnown = resolve));
      const watch = create(({ state }) => {
        if (state !== 'starting') markKnown();
      });
      void watch.run(end.signal).finally(() => parent.removeEventListener('abort', stop));
      current = { end, known };
    },
    stop() {
      current?.end.abort(new Error('switched off'));
      current = undefined;
    },
    known: signal => orAborted(current?.known ?? Promise.resolve(), signal),
  };
}
